//! Framing alone: the `Framer` of stream-core beside other crates that read server-sent events, over the same reads.
//!
//! A stream is a text of 500 events of chat, one event for each read or in reads of 16 kB. Every way gives out each event with its
//! data; only the `Framer` also keeps the raw bytes.

mod common;

use std::convert::Infallible;
use std::hint::black_box;

use bytes::Bytes;
use common::cpu;
use common::streams::{self, Content};
use common::table;
use criterion::{BatchSize, Throughput};
use eventsource_stream::Eventsource as _;
use futures::executor::block_on;
use futures::{StreamExt as _, stream};
use stream_core::sse::Framer;
use stream_testkit::WireKind;

const SIZES: [usize; 3] = [200, 300, 2000];
const EVENTS: usize = 500;
const READ: usize = 16 << 10;

type Way = fn(Vec<Bytes>) -> usize;

const WAYS: [(&str, Way); 4] = [
    ("Framer", framer),
    ("sse-core", sse_core),
    ("sse-stream", sse_stream),
    ("eventsource-stream", eventsource),
];

fn main() {
    let mut criterion = cpu::criterion();
    let mut head = vec!["".to_owned()];
    let mut groups = Vec::new();
    for size in SIZES {
        let fragment = size.saturating_sub(streams::envelope(WireKind::OpenAiChat, Content::Text)).max(6);
        let events = streams::reads(&Content::Text.script(EVENTS * fragment, fragment), WireKind::OpenAiChat);
        let body = Bytes::from(events.concat());
        let pieces =
            (0..body.len()).step_by(READ).map(|at| body.slice(at..body.len().min(at + READ))).collect();
        for (cut, reads) in [("one event for each read", events.clone()), ("reads of 16 kB", pieces)] {
            let name = format!("{size} B, {cut}");
            let mut group = criterion.benchmark_group(&name);
            group.throughput(Throughput::Elements(events.len() as u64));
            for (way, take) in WAYS {
                assert_eq!(take(reads.clone()), events.len(), "{way} gives out every event");
                group.bench_function(way, |bencher| {
                    bencher.iter_batched(|| reads.clone(), take, BatchSize::LargeInput);
                });
            }
            head.push(name.clone());
            groups.push((name, events.len()));
        }
    }
    criterion.final_summary();
    if cpu::is_test() {
        return;
    }
    let cost =
        |(group, events): &(String, usize), way| cpu::median(group, way).unwrap_or(f64::NAN) / *events as f64;
    let rows = WAYS.map(|(way, _)| {
        let cell = |group| {
            let own = cost(group, WAYS[0].0);
            if way == WAYS[0].0 { format!("{own:.0} ns") } else { format!("{:.2}", cost(group, way) / own) }
        };
        std::iter::once(way.to_owned()).chain(groups.iter().map(cell)).collect()
    });
    table::print(&head, &rows);
}

fn framer(reads: Vec<Bytes>) -> usize {
    let mut framer = Framer::new(1 << 20);
    let mut events = 0;
    for read in reads {
        framer.push(&read);
        while let Some(frame) = framer.next_frame().expect("small frames") {
            black_box((frame.event(), frame.data()));
            events += 1;
        }
    }
    events
}

fn sse_core(reads: Vec<Bytes>) -> usize {
    let mut decoder = sse_core::SseDecoder::new();
    let mut events = 0;
    for mut read in reads {
        while let Some(event) = decoder.next(&mut read) {
            black_box(event.expect("small events"));
            events += 1;
        }
    }
    events
}

fn sse_stream(reads: Vec<Bytes>) -> usize {
    let bytes = stream::iter(reads.into_iter().map(Ok::<_, Infallible>));
    block_on(sse_stream::SseStream::from_bytes_stream(bytes).map(black_box).count())
}

fn eventsource(reads: Vec<Bytes>) -> usize {
    let bytes = stream::iter(reads.into_iter().map(Ok::<_, Infallible>));
    block_on(bytes.eventsource().map(black_box).count())
}
