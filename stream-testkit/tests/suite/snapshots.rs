//! Transcripts, as they were accepted.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::time::Duration;

use crate::policies::{Fails, NoCalls, NoRm, Shout, SlowHook, SlowJudge};
use stream_core::{Config, Needs, Passthrough, Policy, Request};
use stream_testkit::{ChunkLog, Cut, Redact, Replay, assert_replay};

fn log(name: &str) -> ChunkLog {
    ChunkLog::load(format!("{}/tests/logs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

#[test]
fn a_dropped_call() {
    assert_replay!(|| NoRm, log("clean_up.sse"));
}

#[test]
fn a_dropped_call_of_a_whole_response() {
    assert_replay!(|| NoRm, log("answer.json"));
}

#[test]
fn an_edited_text() {
    assert_replay!(|| Shout, log("poem.sse"));
}

#[test]
fn verdicts_beside_the_stream() {
    assert_replay!(|| SlowJudge(Duration::from_secs(10)), log("clean_up.sse"));
}

#[test]
fn a_slow_hook() {
    assert_replay!(|| SlowHook(Duration::from_secs(20)), log("mail.sse"));
}

#[test]
fn a_terminated_stream() {
    assert_replay!(|| NoCalls, log("mail.sse"));
}

#[test]
fn a_failing_policy() {
    assert_replay!(|| Fails, log("mail.sse"));
}

#[test]
fn a_broken_connection() {
    assert_replay!(|| NoRm, log("mail.sse"), transport_error_after = 960);
}

#[test]
fn a_cut_stream_with_redacted_ids_and_times() {
    assert_replay!(|| NoRm, log("mail.sse"), end_after = 960, redact = Redact::all());
}

#[test]
fn what_nobody_needs_passes_by() {
    assert_replay!(|| Blind, log("poem.sse"), cut = Cut::Whole);
}

#[test]
fn a_chain() {
    let replay = Replay::new(log("clean_up.sse")).policy(|| NoRm).policy(|| Shout).config(Config::default());
    assert_replay!(replay.redact(Redact::nothing().times()));
}

/// Looks at nothing.
struct Blind;

#[stream_core::async_trait]
impl Policy for Blind {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing()
    }

    async fn on_chunk(
        &mut self,
        chunk: stream_core::Chunk,
        state: &stream_core::StreamState,
        ctx: &mut stream_core::Context<'_>,
    ) -> Result<(), stream_core::PolicyError> {
        Passthrough.on_chunk(chunk, state, ctx).await
    }
}
