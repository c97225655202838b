//! Many streams for a long time, with every fault there is: bytes, memory, and what is left over.
//!
//! Upstream and proxy are processes of their own, as everywhere in this program. Every stream has a [`Fate`] and an API, and
//! its answer is compared byte by byte with the answer of the same layer over the same upstream without a network.

mod case;
mod counts;
mod fate;
mod left;
mod memory;
mod places;
mod policies;
mod proxy;
mod right;
mod upstream;

use std::error::Error;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};

use self::counts::Counts;
use self::left::Left;
use self::memory::Memory;
use self::places::Places;
use crate::child::Child;
use crate::cli::Soak;
use crate::open_files;
use crate::table::{Table, number};

pub(crate) use self::{proxy::router as proxy, upstream::router as upstream};

#[cfg(doc)]
use self::fate::Fate;

/// Runs and prints; true if every answer was right, memory was flat and nothing was left over.
pub(crate) async fn run(options: &Soak) -> Result<bool, Box<dyn Error>> {
    open_files::check(options.streams)?;
    let upstream = Child::soak_upstream(options.pace())?;
    let proxy = Child::soak_proxy(upstream.address(), options.idle())?;
    let before = [Left::of(&proxy).await?, Left::of(&upstream).await?];
    let right = Arc::new(right::answers(options.idle()).await?);
    let places = Places {
        target: proxy.address(),
        streams: options.streams,
        end: Instant::now() + options.time(),
        pace: options.pace(),
        longest: options.idle() + LONGEST,
        right,
    };
    let process = proxy.process();
    let resident = Memory::watch(options.time(), async || process.resident());
    let live = Memory::watch(options.time(), async || Some(Left::of(&proxy).await.ok()?.live()? as u64));
    let (counts, memory, live) = tokio::join!(places.run(), resident, live);
    let after = [left_over(&proxy, &before[0]).await?, left_over(&upstream, &before[1]).await?];
    print(options, &counts, &memory, &live, &before, &after)?;
    let nothing_left = after.iter().zip(&before).all(|(after, before)| after.is_no_more_than(before));
    let is_flat = memory.is_flat() && live.is_flat() && after[0].is_given_back(&before[0]);
    Ok(counts.wrong() == 0 && is_flat && nothing_left)
}

/// What a process still has when it had time to let go of everything.
async fn left_over(child: &Child, before: &Left) -> Result<Left, Box<dyn Error>> {
    let deadline = Instant::now() + LETTING_GO;
    loop {
        let left = Left::of(child).await?;
        if left.is_no_more_than(before) || Instant::now() > deadline {
            return Ok(left);
        }
        sleep(Duration::from_millis(250)).await;
    }
}

fn print(
    options: &Soak,
    counts: &Counts,
    memory: &Memory,
    live: &Memory,
    before: &[Left; 2],
    after: &[Left; 2],
) -> io::Result<()> {
    let Soak { streams, seconds, pace_ms, idle_ms } = options;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{streams} streams at once for {seconds} s, a chunk every {pace_ms} ms, silent for at most {idle_ms} ms; {} open at most\n",
        counts.open
    )?;
    writeln!(out, "{}", counts.table())?;
    let mut table = Table::new(["the proxy's memory", "MB"]);
    for (name, value) in memory.rows() {
        table.row(vec![name.to_owned(), value]);
    }
    table.row(vec![
        "at the end, with no stream open".to_owned(),
        after[0].memory().map_or_else(|| number(f64::NAN), |bytes| number(bytes as f64 / 1e6)),
    ]);
    writeln!(out, "{table}")?;
    if !live.is_empty() {
        let mut table = Table::new(["in use of the proxy's heap", "MB"]);
        let bytes = |left: &Left| number(left.live().map_or(f64::NAN, |bytes| bytes as f64 / 1e6));
        for (name, value) in live.rows().into_iter().skip(1) {
            table.row(vec![name.to_owned(), value]);
        }
        table.row(vec!["before, with no stream open".to_owned(), bytes(&before[0])]);
        table.row(vec!["at the end, with no stream open".to_owned(), bytes(&after[0])]);
        writeln!(out, "{table}")?;
    }
    let mut table = Table::new(["left over", "before", "after"]);
    for (name, before, after) in [("proxy", &before[0], &after[0]), ("upstream", &before[1], &after[1])] {
        for (what, before, after) in before.rows(after) {
            table.row(vec![format!("{name}: {what}"), before.to_string(), after.to_string()]);
        }
    }
    writeln!(out, "{table}")?;
    for (error, count) in &counts.errors {
        writeln!(out, "{count} × {error}")?;
    }
    Ok(())
}

/// How much longer than the longest silence a stream may take.
const LONGEST: Duration = Duration::from_secs(180);
/// How long a process may take to close what nobody uses any more: longer than a connection waits for its next use.
const LETTING_GO: Duration = Duration::from_secs(30);
