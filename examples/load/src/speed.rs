//! Throughput, time to the first byte and delay per chunk, as ratios.
//!
//! Every round takes every way, one after the other. A ratio is the median of the ratios within the rounds: what else
//! the machine does meanwhile changes from round to round more than from way to way.

use std::error::Error;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use crate::check::Expected;
use crate::child::Child;
use crate::cli::Speed;
use crate::client::Load;
use crate::hop::{Hop, Spent};
use crate::policies::Policies;
use crate::table::{Table, number};
use crate::tally::{Tally, median, milliseconds};
use crate::traffic::Traffic;
use crate::way::Way;

/// Measures and prints; true if every stream arrived as it should.
pub(crate) async fn run(options: &Speed) -> Result<bool, Box<dyn Error>> {
    let traffic = Traffic::new(options.chunks);
    let frames = traffic.frames().len();
    let upstream = Child::upstream(options.chunks)?;
    let mut ways = Vec::new();
    for &way in &options.ways {
        let hop = Hop::start(way, upstream.address())?;
        let expected = Arc::new(traffic.behind(&Policies::of(way)?).await?);
        ways.push(Measured { way, hop, expected, fast: Vec::new(), paced: Vec::new() });
    }
    // Once unmeasured: connections are made, and memory is there.
    for round in 0..=options.rounds {
        for measured in &mut ways {
            let fast = measured.take(options.streams, options.each, Duration::ZERO).await;
            let paced = measured.take(options.streams, 1, options.pace()).await;
            if round > 0 || fast.tally.failed() + paced.tally.failed() > 0 {
                measured.fast.push(fast);
                measured.paced.push(paced);
            }
        }
    }
    print(options, frames, &ways)?;
    Ok(ways.iter().all(|way| way.failed() == 0))
}

/// A way, and what was measured on it, a run for each round.
struct Measured {
    way: Way,
    hop: Hop,
    expected: Arc<Expected>,
    fast: Vec<Run>,
    paced: Vec<Run>,
}

struct Run {
    tally: Tally,
    /// What the processes of the way have used.
    spent: Spent,
}

impl Run {
    /// Microseconds per chunk of what was spent.
    fn cost(&self, frames: usize, spent: impl Fn(Spent) -> Option<Duration>) -> f64 {
        let chunks = self.tally.streams * frames;
        spent(self.spent).map_or(f64::NAN, |time| time.as_secs_f64() * 1e6 / chunks as f64)
    }
}

impl Measured {
    async fn take(&self, streams: usize, each: usize, pace: Duration) -> Run {
        let target = self.hop.address();
        let before = self.hop.processor_time();
        let expected = Arc::clone(&self.expected);
        let tally = Load { target, streams, each, pace, expected }.run().await;
        Run { tally, spent: self.hop.processor_time().since(before) }
    }

    fn failed(&self) -> usize {
        self.fast.iter().chain(&self.paced).map(|run| run.tally.failed()).sum()
    }
}

fn print(options: &Speed, frames: usize, ways: &[Measured]) -> io::Result<()> {
    let Speed { streams, each, rounds, pace_ms, .. } = options;
    let bytes = ways[0].expected.bytes().len() / frames;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{streams} streams at once, {each} in turn, {frames} chunks of {bytes} bytes, unpaced; {rounds} rounds\n"
    )?;
    let (first, second) = (&ways[0], ways.get(1).unwrap_or(&ways[0]));
    let (of_first, of_second) = (format!("of {}", first.way), format!("of {}", second.way));
    let head = ["way", "MB/s", &of_first, &of_second, "µs per chunk", &of_second, "errors"];
    let mut table = Table::new(head);
    let rate = |run: &Run| run.tally.megabytes_per_second();
    let cost = |run: &Run| run.cost(frames, Spent::all);
    for way in ways {
        let rates = all(&way.fast, rate);
        let costs = all(&way.fast, cost);
        table.row(vec![
            way.way.to_string(),
            number(median(rates.clone())),
            ratio(&rates, &all(&first.fast, rate)),
            ratio(&rates, &all(&second.fast, rate)),
            number(median(costs.clone())),
            ratio(&costs, &all(&second.fast, cost)),
            way.fast.iter().map(|run| run.tally.failed()).sum::<usize>().to_string(),
        ]);
    }
    writeln!(out, "{table}")?;
    writeln!(out, "{streams} streams at once, a chunk every {pace_ms} ms; {rounds} rounds\n")?;
    let times: [(&str, Times, f64); 4] = [
        ("first byte p50", first_bytes, 0.5),
        ("p99", first_bytes, 0.99),
        ("delay p50", delays, 0.5),
        ("p99", delays, 0.99),
    ];
    let mut head = vec!["way"];
    for (name, _, _) in times {
        head.extend([name, &of_second]);
    }
    head.extend(["µs per chunk", &of_second, "errors"]);
    let mut table = Table::of(head);
    for way in ways {
        let mut row = vec![way.way.to_string()];
        for (_, times, share) in times {
            let value = |run: &Run| milliseconds(times(&run.tally), share);
            let values = all(&way.paced, value);
            row.push(format!("{} ms", number(median(values.clone()))));
            row.push(ratio(&values, &all(&second.paced, value)));
        }
        let costs = all(&way.paced, cost);
        row.push(number(median(costs.clone())));
        row.push(ratio(&costs, &all(&second.paced, cost)));
        row.push(way.paced.iter().map(|run| run.tally.failed()).sum::<usize>().to_string());
        table.row(row);
    }
    writeln!(out, "{table}")?;
    if ways.iter().any(|way| way.way.has_envoy()) {
        writeln!(out, "of the µs per chunk, in Envoy and in its processor; unpaced, then paced\n")?;
        let mut table =
            Table::new(["way", "Envoy", "processor", &of_second, "Envoy", "processor", &of_second]);
        for way in ways.iter().filter(|way| way.way.has_envoy()) {
            let mut row = vec![way.way.to_string()];
            for runs in
                [|way: &Measured| &way.fast, |way: &Measured| &way.paced] as [fn(&Measured) -> &Vec<Run>; 2]
            {
                let own = |way: &Measured| all(runs(way), |run| run.cost(frames, |spent| spent.own));
                row.push(number(median(all(runs(way), |run| run.cost(frames, |spent| spent.envoy)))));
                row.push(number(median(own(way))));
                row.push(ratio(&own(way), &own(second)));
            }
            table.row(row);
        }
        writeln!(out, "{table}")?;
    }
    for way in ways {
        for (error, count) in way.fast.iter().chain(&way.paced).flat_map(|run| &run.tally.errors) {
            writeln!(out, "{}: {count} × {error}", way.way)?;
        }
    }
    Ok(())
}

type Times = fn(&Tally) -> &[u32];

fn first_bytes(tally: &Tally) -> &[u32] {
    &tally.first_bytes
}

fn delays(tally: &Tally) -> &[u32] {
    &tally.delays
}

/// A value of every round.
fn all(runs: &[Run], value: impl Fn(&Run) -> f64) -> Vec<f64> {
    runs.iter().map(value).collect()
}

/// The median of the ratios within the rounds.
fn ratio(values: &[f64], others: &[f64]) -> String {
    number(median(values.iter().zip(others).map(|(value, other)| value / other).collect()))
}
