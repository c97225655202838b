//! What an event costs here, and what it costs elsewhere: one way over the same streams, for callgrind to count.
//!
//! `peers WAY STREAMS [READ]` takes every stream once to warm up and once in [`measured`], and prints the number of events; on the other
//! channel, the nanoseconds per event of the second time. `peers/run` counts its instructions for all ways, and prints ratios.

mod streams;
mod ways;

use std::process::ExitCode;

use cpu_time::ThreadTime;
use streams::Streams;
use ways::Way;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let [way, streams, read @ ..] = &words[..] else { return usage() };
    let per_read = read.first().map_or(Ok(1), |read| read.parse());
    let (Some(way), Ok(per_read)) = (Way::named(way), per_read) else { return usage() };
    let Some(streams) = Streams::named(streams) else { return usage() };
    way.take(streams.reads(per_read));
    let reads = streams.reads(per_read);
    let start = ThreadTime::now();
    measured(way, reads);
    let time = start.elapsed().as_nanos() as f64;
    eprintln!("{:.1} ns per event", time / streams.events() as f64);
    println!("{}", streams.events());
    ExitCode::SUCCESS
}

/// What callgrind counts.
#[inline(never)]
fn measured(way: Way, reads: Vec<Vec<bytes::Bytes>>) {
    way.take(reads);
}

fn usage() -> ExitCode {
    eprintln!("usage: peers WAY STREAMS [EVENTS PER READ]");
    eprintln!("ways: {}", ways::names().collect::<Vec<_>>().join(" "));
    eprintln!("streams: {}", streams::NAMES.join(" "));
    ExitCode::FAILURE
}
