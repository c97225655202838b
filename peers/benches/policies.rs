//! What each policy costs per event: every bundled policy, in four formats, with events of three sizes.
//!
//! A stream has 200 events with content, of one text or of one call, and comes one event for each read. The tables at the end are
//! nanoseconds per event of passthrough, and the ratios of the others to it.

mod common;

use bytes::Bytes;
use common::bundled::{self, Bundled};
use common::cpu;
use common::drive::drive;
use common::streams::{self, Content};
use common::table;
use criterion::{BatchSize, Throughput};
use stream_testkit::WireKind;

/// How many bytes an event has. No format has an event below its envelope: the first has six bytes of content.
const SIZES: [(&str, usize); 3] = [("least", 0), ("300 B", 300), ("2 kB", 2000)];
const EVENTS: usize = 200;

fn main() {
    let mut criterion = cpu::criterion();
    let policies = bundled::policies();
    for content in [Content::Text, Content::Call] {
        for kind in WireKind::ALL {
            for (size, bytes) in SIZES {
                let reads = stream(content, kind, bytes);
                let mut group = criterion.benchmark_group(group_name(content, kind, size));
                group.throughput(Throughput::Elements(reads.len() as u64));
                for policy in &policies {
                    group.bench_function(policy.name, |bencher| {
                        let stream = || ((policy.make)(), policy.config(), reads.clone());
                        let take = |(stage, config, reads)| drive(config, stage, reads);
                        bencher.iter_batched(stream, take, BatchSize::LargeInput);
                    });
                }
            }
        }
    }
    criterion.final_summary();
    if !cpu::is_test() {
        [Content::Text, Content::Call].into_iter().for_each(|content| print(content, &policies));
    }
}

/// One event for each read. Gemini gives a call in one event, whatever its length.
fn stream(content: Content, kind: WireKind, bytes: usize) -> Vec<Bytes> {
    let fragment = bytes.saturating_sub(streams::envelope(kind, content)).max(6);
    streams::reads(&content.script(EVENTS * fragment, fragment), kind)
}

fn group_name(content: Content, kind: WireKind, size: &str) -> String {
    format!("{} {kind} {size}", content.name())
}

fn print(content: Content, policies: &[Bundled]) {
    let column = |kind: WireKind, (size, bytes): (&'static str, usize)| {
        (kind, size, stream(content, kind, bytes).len())
    };
    let columns: Vec<(WireKind, &str, usize)> =
        WireKind::ALL.into_iter().flat_map(|kind| SIZES.map(|size| column(kind, size))).collect();
    let mut head = vec![content.name().to_owned()];
    head.extend(columns.iter().map(|(kind, size, _)| format!("{kind}, {size}")));
    let cost = |policy: &Bundled, (kind, size, events): &(WireKind, &str, usize)| {
        cpu::median(&group_name(content, *kind, size), policy.name).unwrap_or(f64::NAN) / *events as f64
    };
    let base: Vec<f64> = columns.iter().map(|column| cost(&policies[0], column)).collect();
    let mut rows = vec![vec![format!("{}, ns", policies[0].name)]];
    rows[0].extend(base.iter().map(|cost| format!("{cost:.0}")));
    for policy in &policies[1..] {
        let mut row = vec![policy.name.to_owned()];
        row.extend(
            columns.iter().zip(&base).map(|(column, base)| format!("{:.2}", cost(policy, column) / base)),
        );
        rows.push(row);
    }
    table::print(&head, &rows);
}
