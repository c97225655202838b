//! What a stream costs in memory while it waits, and in allocations while it runs. One test: the counts are of the process.

#![allow(clippy::unwrap_used)]

use std::alloc::System;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context as TaskContext, Poll, Waker};

use bytes::Bytes;
use futures::{Stream, StreamExt as _};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use stream_core::{
    Attention, Chain, Chunk, Config, Context, Needs, Passthrough, PolicyError, Request, StreamProcessor,
    StreamState, SyncPolicy, Verdict, each_call,
};
use stream_testkit::{Cut, Fragments, Script, WireKind};

#[global_allocator]
static GLOBAL: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Sees and sends every text.
struct Sees;

impl SyncPolicy for Sees {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().content(Attention::Chunks)
    }

    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        ctx.send(chunk);
        Ok(())
    }
}

/// Gives its reads, and then nothing more.
struct Reads(std::vec::IntoIter<Bytes>);

impl Stream for Reads {
    type Item = Result<Bytes, Infallible>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut TaskContext<'_>) -> Poll<Option<Self::Item>> {
        self.0.next().map_or(Poll::Pending, |read| Poll::Ready(Some(Ok(read))))
    }
}

/// The events of a text, each a static slice: they are no allocations of the stream.
fn events(kind: WireKind, count: usize) -> Vec<Bytes> {
    let script = Script::new().text("word ".repeat(100)).text_fragments(Fragments::Bytes(5));
    let events = Cut::Event.apply(&script.to_log(kind)).into_iter();
    events.take(count).map(|(_, bytes)| Bytes::from_static(Vec::leak(bytes.to_vec()))).collect()
}

/// How many bytes a stream keeps that has read ten events, and how many allocations thirty events more take.
fn cost(kind: WireKind, chain: fn() -> Chain, lane: bool) -> (usize, usize) {
    let events = events(kind, 40);
    let build = |reads| {
        let builder = StreamProcessor::builder().chain(chain()).config(Config::default().lane(lane));
        builder.build(reads).unwrap()
    };
    let mut cx = TaskContext::from_waker(Waker::noop());
    let mut kept = 0;
    // What a thread has for the stream that is at work on it, whichever that is, is there when the second one comes.
    for _ in 0..2 {
        let reads = Reads(events.iter().take(10).cloned().collect::<Vec<_>>().into_iter());
        let region = Region::new(GLOBAL);
        let mut processor = build(reads);
        while processor.poll_next_unpin(&mut cx).is_ready() {}
        let change = region.change();
        kept = change.bytes_allocated - change.bytes_deallocated;
    }

    let mut processor = build(Reads(events.into_iter()));
    for _ in 0..10 {
        assert!(processor.poll_next_unpin(&mut cx).is_ready());
    }
    let region = Region::new(GLOBAL);
    for _ in 10..40 {
        assert!(processor.poll_next_unpin(&mut cx).is_ready());
    }
    (kept, region.change().allocations)
}

#[test]
fn a_stream_that_waits_is_small_and_every_allocation_of_an_event_is_known() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _guard = runtime.enter();
    let chains: [fn() -> Chain; 3] =
        [|| Passthrough.into(), || each_call(|_, _| Verdict::Release).into(), || Sees.into()];
    // What is made once per process is not a cost of the stream.
    for kind in WireKind::ALL {
        cost(kind, chains[0], false);
    }
    let [by_the_lane, general] =
        [true, false].map(|lane| chains.map(|chain| WireKind::ALL.map(|kind| cost(kind, chain, lane))));
    // Chat, Responses, Anthropic, Gemini; of Gemini's frames no two say the same but for a text, and all are read in full.
    let costs = [by_the_lane, general];
    let allocations = costs.map(|costs| costs.map(|costs| costs.map(|(_, count)| count)));
    let expected = [BY_THE_LANE, GENERAL].map(|each| each.map(|each| each.map(|each| each * 30)));
    let kept = costs.map(|costs| costs.map(|costs| costs.map(|(kept, _)| kept)));
    assert_eq!(allocations, expected, "passthrough, gate, sees and sends; kept: {kept:?}");
    assert!(
        kept.iter().flatten().all(|kept| kept.iter().zip(&MOST).all(|(kept, most)| kept <= most)),
        "{kept:?}"
    );
}

/// The allocations of a text event, by policy and format.
const BY_THE_LANE: [[usize; 4]; 3] = [[0, 0, 0, 4]; 3];
const GENERAL: [[usize; 4]; 3] = [[2, 2, 2, 4]; 3];

/// The most bytes that a stream with one policy keeps while it waits, by format.
const MOST: [usize; 4] = [3_900, 4_440, 3_712, 3_212];
