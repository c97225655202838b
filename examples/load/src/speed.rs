//! Throughput, time to the first byte and delay per chunk, as ratios.
//!
//! Every round takes every way, one after the other. A ratio is the median of the ratios within the rounds: what else
//! the machine does meanwhile changes from round to round more than from way to way.

use std::error::Error;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use crate::check::Expected;
use crate::child::Child;
use crate::cli::Speed;
use crate::client::Load;
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
    for way in Way::ALL {
        let proxy = if way == Way::Direct { None } else { Some(Child::proxy(way, upstream.address())?) };
        let expected = Arc::new(traffic.behind(&Policies::of(way)?).await?);
        ways.push(Measured { way, proxy, expected, fast: Vec::new(), paced: Vec::new() });
    }
    // Once unmeasured: connections are made, and memory is there.
    for round in 0..=options.rounds {
        for measured in &mut ways {
            let fast = measured.take(upstream.address(), options.streams, options.each, Duration::ZERO).await;
            let paced = measured.take(upstream.address(), options.streams, 1, options.pace()).await;
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
    proxy: Option<Child>,
    expected: Arc<Expected>,
    fast: Vec<Run>,
    paced: Vec<Run>,
}

struct Run {
    tally: Tally,
    /// What the proxy has used.
    processor: Option<Duration>,
}

impl Measured {
    async fn take(&self, upstream: SocketAddr, streams: usize, each: usize, pace: Duration) -> Run {
        let target = self.proxy.as_ref().map_or(upstream, Child::address);
        let used = || self.proxy.as_ref().and_then(Child::processor_time);
        let before = used();
        let expected = Arc::clone(&self.expected);
        let tally = Load { target, streams, each, pace, expected }.run().await;
        let processor = used().zip(before).map(|(after, before)| after.saturating_sub(before));
        Run { tally, processor }
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
    let head = ["way", "MB/s", "of direct", "of bare", "µs per chunk in the proxy", "of bare", "errors"];
    let mut table = Table::new(head);
    let rate = |run: &Run| run.tally.megabytes_per_second();
    let cost = |run: &Run| {
        let chunks = run.tally.streams * frames;
        run.processor.map_or(f64::NAN, |time| time.as_secs_f64() * 1e6 / chunks as f64)
    };
    for way in ways {
        let fast =
            |way: &'_ Measured, value: &dyn Fn(&Run) -> f64| way.fast.iter().map(value).collect::<Vec<_>>();
        let of = |other: Way, value: &dyn Fn(&Run) -> f64| {
            ratio(&fast(way, value), &fast(&ways[other as usize], value))
        };
        table.row(vec![
            way.way.to_string(),
            number(median(fast(way, &rate))),
            of(Way::Direct, &rate),
            of(Way::Bare, &rate),
            number(median(fast(way, &cost))),
            of(Way::Bare, &cost),
            way.fast.iter().map(|run| run.tally.failed()).sum::<usize>().to_string(),
        ]);
    }
    writeln!(out, "{table}")?;
    writeln!(out, "{streams} streams at once, a chunk every {pace_ms} ms; {rounds} rounds\n")?;
    let head = [
        "way",
        "first byte p50",
        "of bare",
        "p99",
        "of bare",
        "delay p50",
        "of bare",
        "p99",
        "of bare",
        "errors",
    ];
    let mut table = Table::new(head);
    for way in ways {
        let mut row = vec![way.way.to_string()];
        for (times, share) in
            [(first_bytes as Times, 0.5), (first_bytes, 0.99), (delays, 0.5), (delays, 0.99)]
        {
            let values = |way: &Measured| -> Vec<f64> {
                way.paced.iter().map(|run| milliseconds(times(&run.tally), share)).collect()
            };
            row.push(format!("{} ms", number(median(values(way)))));
            row.push(ratio(&values(way), &values(&ways[Way::Bare as usize])));
        }
        row.push(way.paced.iter().map(|run| run.tally.failed()).sum::<usize>().to_string());
        table.row(row);
    }
    writeln!(out, "{table}")?;
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

/// The median of the ratios within the rounds.
fn ratio(values: &[f64], others: &[f64]) -> String {
    number(median(values.iter().zip(others).map(|(value, other)| value / other).collect()))
}
