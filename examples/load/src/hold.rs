//! Many slow streams open at once: errors, and memory per stream.

use std::error::Error;
use std::io::{self, Write as _};
use std::sync::Arc;

use crate::child::Child;
use crate::cli::Hold;
use crate::client::Load;
use crate::hop::Hop;
use crate::open_files;
use crate::policies::Policies;
use crate::process::Process;
use crate::table::{Table, number};
use crate::traffic::Traffic;

/// Measures and prints; true if all streams were open at once and arrived as they should.
pub(crate) async fn run(options: &Hold) -> Result<bool, Box<dyn Error>> {
    let Hold { streams, chunks, pace_ms, .. } = *options;
    open_files::check(streams)?;
    let traffic = Traffic::new(chunks);
    let mut out = io::stdout();
    writeln!(out, "{streams} streams, {} chunks each, one every {pace_ms} ms\n", traffic.frames().len())?;
    let mut ways = options.ways.iter().copied().peekable();
    let more = format!("more than {}", ways.peek().map_or("", |way| way.name()));
    let head = ["way", "open at once", "memory before", "most", "per stream", &more, "errors"];
    let mut table = Table::new(head);
    let mut errors = Vec::new();
    let (mut first, mut all_went_well) = (None, true);
    for way in ways {
        // All are new each time: what one way leaves behind in memory is not the next one's.
        let upstream = Child::upstream(chunks)?;
        let hop = Hop::start(way, upstream.address())?;
        let bytes = |process: fn(Process) -> Option<u64>| {
            hop.own().and_then(process).map_or(f64::NAN, |bytes| bytes as f64)
        };
        let before = bytes(Process::resident);
        let expected = Arc::new(traffic.behind(&Policies::of(way)?).await?);
        let load = Load { target: hop.address(), streams, each: 1, pace: options.pace(), expected };
        let tally = load.run().await;
        let most = bytes(Process::most_resident);
        let per_stream = (most - before) / streams as f64;
        let first = *first.get_or_insert(per_stream);
        table.row(vec![
            way.to_string(),
            tally.open.to_string(),
            format!("{} MB", number(before / 1e6)),
            format!("{} MB", number(most / 1e6)),
            format!("{} kB", number(per_stream / 1e3)),
            format!("{} kB", number((per_stream - first) / 1e3)),
            tally.failed().to_string(),
        ]);
        all_went_well &= tally.failed() == 0 && tally.open == streams;
        errors.extend(tally.errors.into_iter().map(|(error, count)| format!("{way}: {count} × {error}")));
    }
    writeln!(out, "{table}")?;
    for error in errors {
        writeln!(out, "{error}")?;
    }
    Ok(all_went_well)
}
