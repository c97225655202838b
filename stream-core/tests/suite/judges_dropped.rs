//! A judge costs money: its future is dropped the moment its verdict can no longer count.

#![allow(clippy::unwrap_used, reason = "a test")]

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use stream_core::engine::{Input, Output};
use stream_core::{
    Attention, Chunk, Config, Context, Decide, Ending, Engine, Needs, PolicyError, Request, StreamState,
    SyncPolicy, Verdict,
};
use stream_testkit::{Script, WireKind};

/// Says when it was dropped.
struct Judge(Arc<AtomicBool>);

impl Drop for Judge {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Asks a judge that never answers about the first call, and may settle it itself at the second.
struct Asks {
    dropped: Arc<AtomicBool>,
    asked: Option<stream_core::BlockKey>,
    settles: bool,
}

impl SyncPolicy for Asks {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().calls(Attention::Completed)
    }

    fn on_chunk(&mut self, _: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let Some(call) = state.just_completed() else { return Ok(()) };
        match self.asked {
            None => {
                let judge = Judge(Arc::clone(&self.dropped));
                let asked = async move {
                    let _judge = judge;
                    pending().await
                };
                self.asked = Some(call.key());
                ctx.decide(call.key(), Decide::by(asked).within(Duration::from_secs(2)))?;
            }
            Some(asked) if self.settles => ctx.settle(asked, Verdict::Release)?,
            Some(_) => {}
        }
        Ok(())
    }
}

fn engine(settles: bool) -> (Engine, Arc<AtomicBool>) {
    let dropped = Arc::new(AtomicBool::new(false));
    let asks = Asks { dropped: Arc::clone(&dropped), asked: None, settles };
    (Engine::new(Config::default(), asks).unwrap(), dropped)
}

/// Runs the engine until it waits, and gives the judges that it asked for: the host keeps them.
fn run(engine: &mut Engine, now: Duration) -> (Vec<stream_core::engine::Judging>, Vec<u8>) {
    let (mut judges, mut out) = (Vec::new(), Vec::new());
    loop {
        match engine.poll() {
            Output::Bytes(bytes) => out.extend_from_slice(&bytes),
            Output::Hook(hook) => hook.run(now),
            Output::Judge(judging) => judges.push(judging),
            Output::Wait { .. } | Output::Done => return (judges, out),
            other => unreachable!("{other:?}"),
        }
    }
}

fn events(kind: WireKind) -> (Bytes, Bytes) {
    let script = Script::new().call("call_1", "ls", "{}").text("And.").call("call_2", "pwd", "{}");
    let body = script.bytes(kind);
    let at = body.windows(6).position(|bytes| bytes == b"call_2").unwrap_or(body.len());
    (body.slice(..at), body.slice(at..))
}

#[test]
fn when_its_deadline_passes() {
    let (mut engine, dropped) = engine(false);
    let (first, _) = events(WireKind::AnthropicMessages);
    engine.handle(Input::Bytes(first), Duration::ZERO);
    let (judges, _) = run(&mut engine, Duration::ZERO);
    assert_eq!((judges.len(), dropped.load(Ordering::SeqCst)), (1, false));
    engine.handle(Input::Time, Duration::from_secs(2));
    // The host still has what it polls; the judge itself is gone.
    assert_eq!((judges.len(), dropped.load(Ordering::SeqCst)), (1, true));
}

#[test]
fn when_its_block_is_settled_otherwise() {
    let (mut engine, dropped) = engine(true);
    let (first, rest) = events(WireKind::AnthropicMessages);
    let body = [&first[..], &rest[..]].concat();
    let body: Vec<&str> = std::str::from_utf8(&body).unwrap().split_inclusive("\n\n").collect();
    let second = body.iter().position(|event| event.contains("call_2")).unwrap();
    engine.handle(Input::Bytes(first), Duration::ZERO);
    let (judges, before) = run(&mut engine, Duration::ZERO);
    assert_eq!(String::from_utf8(before).unwrap(), body[0], "the first call is held");
    assert!(!dropped.load(Ordering::SeqCst));
    engine.handle(Input::Bytes(rest), Duration::ZERO);
    let (_, after) = run(&mut engine, Duration::ZERO);
    assert_eq!((judges.len(), dropped.load(Ordering::SeqCst)), (1, true));
    assert_eq!(String::from_utf8(after).unwrap(), body[1..second].concat(), "the second call is held");
}

#[test]
fn when_the_host_drops_its_call() {
    let (mut engine, dropped) = engine(false);
    let (first, _) = events(WireKind::AnthropicMessages);
    engine.handle(Input::Bytes(first), Duration::ZERO);
    let (_judges, _) = run(&mut engine, Duration::ZERO);
    engine.handle(Input::DropCall("call_1".into()), Duration::ZERO);
    assert!(dropped.load(Ordering::SeqCst));
}

#[test]
fn when_the_stream_ends() {
    let (mut engine, dropped) = engine(false);
    let (first, _) = events(WireKind::AnthropicMessages);
    engine.handle(Input::Bytes(first), Duration::ZERO);
    let (_judges, _) = run(&mut engine, Duration::ZERO);
    engine.handle(Input::Stop(Ending::error("over")), Duration::ZERO);
    run(&mut engine, Duration::ZERO);
    assert!(dropped.load(Ordering::SeqCst));
}
