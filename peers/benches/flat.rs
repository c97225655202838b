//! Cost per byte of one long text and one long argument, from 10 kB to 10 MB, through every bundled policy.
//!
//! Deltas have 64 bytes, reads 4 kB. Each cell is the least time on the processor of several runs, in nanoseconds per byte of content,
//! and behind the first its ratio to 10 kB. `cargo bench --bench flat -- gemini` takes the formats whose names are given.

mod common;

use std::time::Duration;

use bytes::Bytes;
use common::bundled::{self, Bundled};
use common::cpu;
use common::drive::drive;
use common::streams::Content;
use common::table;
use cpu_time::ThreadTime;
use stream_testkit::WireKind;

const SIZES: [(&str, usize); 4] =
    [("10 kB", 10_000), ("100 kB", 100_000), ("1 MB", 1_000_000), ("10 MB", 10_000_000)];
const FRAGMENT: usize = 64;
const READ: usize = 4096;

fn main() {
    let sizes = if cpu::is_test() { &SIZES[..1] } else { &SIZES[..] };
    let names: Vec<String> = std::env::args().skip(1).filter(|name| !name.starts_with('-')).collect();
    let chosen = |kind: &WireKind| names.is_empty() || names.iter().any(|name| name == kind.name());
    let policies = bundled::policies();
    for kind in WireKind::ALL.into_iter().filter(chosen) {
        for content in [Content::Text, Content::Call] {
            let mut head = vec![format!("{kind}, {}", content.name())];
            head.extend(sizes.iter().map(|(name, _)| (*name).to_owned()));
            let body = |(_, bytes): &(&str, usize), content: Content| {
                (*bytes, content.script(*bytes, FRAGMENT).bytes(kind))
            };
            let bodies: Vec<_> = sizes.iter().map(|size| body(size, content)).collect();
            let written: Vec<_> = sizes.iter().map(|size| body(size, Content::TextCall)).collect();
            let rows: Vec<_> = policies
                .iter()
                .map(|policy| {
                    let as_text = policy.reads_text_calls && content == Content::Call;
                    row(policy, if as_text { &written } else { &bodies })
                })
                .collect();
            table::print(&head, &rows);
        }
    }
}

fn row(policy: &Bundled, bodies: &[(usize, Bytes)]) -> Vec<String> {
    let costs: Vec<f64> =
        bodies.iter().map(|(bytes, body)| least(policy, *bytes, body) / *bytes as f64).collect();
    let mut row = vec![policy.name.to_owned(), format!("{:.1} ns", costs[0])];
    row.extend(costs[1..].iter().map(|cost| format!("{:.2}", cost / costs[0])));
    row
}

/// The least of several runs, in nanoseconds.
fn least(policy: &Bundled, bytes: usize, body: &Bytes) -> f64 {
    let runs = if cpu::is_test() { 1 } else { (30_000_000 / body.len()).clamp(3, 100) };
    let times = (0..runs).map(|_| {
        let (stage, config) = ((policy.make)(), policy.config());
        let reads = (0..body.len()).step_by(READ).map(|at| body.slice(at..body.len().min(at + READ)));
        let start = ThreadTime::now();
        let passed = drive(config, stage, reads);
        let time = start.elapsed();
        assert!(passed >= bytes, "{}: the stream did not pass", policy.name);
        time
    });
    times.min().unwrap_or(Duration::ZERO).as_nanos() as f64
}
