//! Policies that fail: nothing staged leaves, and the client gets the error ending (rule 16), or, failing open, the
//! stream as it came.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use stream_core::{
    Chunk, Context, End, ErrorKind, Policy, PolicyError, Stage, StreamState, Verdict, async_trait,
};
use stream_testkit::WireKind;
use stream_testkit::conformance::Ended;

use crate::kit::{Mode, assert_ended, body, builder, everywhere, quiet, run};
use crate::policies::{Did, counted};
use crate::scripts::{Shape, with_calls};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum How {
    Err,
    Panic,
    Hang,
}

impl How {
    const ALL: [Self; 3] = [Self::Err, Self::Panic, Self::Hang];

    fn error(self) -> ErrorKind {
        match self {
            Self::Err => ErrorKind::PolicyFailed,
            Self::Panic => ErrorKind::PolicyPanicked,
            Self::Hang => ErrorKind::PolicyTimedOut,
        }
    }

    async fn fail(self) -> Did {
        match self {
            Self::Err => Err(PolicyError::new("no")),
            Self::Panic => std::panic::resume_unwind(Box::new("no")),
            Self::Hang => std::future::pending().await,
        }
    }
}

/// Holds calls until they are complete, sends all else, and fails at a step, after it has staged everything.
struct FailAt {
    at: usize,
    how: How,
    steps: Arc<AtomicUsize>,
}

impl FailAt {
    async fn step(&self) -> Did {
        let step = self.steps.fetch_add(1, Ordering::SeqCst);
        if step == self.at { self.how.fail().await } else { Ok(()) }
    }
}

#[async_trait]
impl Policy for FailAt {
    async fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        let complete = state.just_completed().and_then(|block| block.as_tool_call());
        if chunk.is_tool_call() {
            ctx.buffer(chunk);
        } else {
            ctx.send(chunk);
        }
        if let Some(call) = complete {
            ctx.settle(call.key(), Verdict::Release)?;
        }
        self.step().await
    }

    async fn on_end(&mut self, _: End, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.flush();
        self.step().await
    }
}

fn small(shape: Shape) -> stream_testkit::Script {
    with_calls(shape.script().reasoning("Hm").text("Hi."), &[0, 2])
}

async fn steps(kind: WireKind, mode: Mode, shape: Shape) -> usize {
    let steps = Arc::new(AtomicUsize::new(0));
    let policy = FailAt { at: usize::MAX, how: How::Err, steps: Arc::clone(&steps) };
    let out = run(builder(kind).policy(policy), mode, body(kind, mode, &small(shape))).await;
    assert_eq!(out.bytes, body(kind, mode, &small(shape)), "{kind}, {mode:?}");
    steps.load(Ordering::SeqCst)
}

#[tokio::test(start_paused = true)]
async fn at_every_step_a_policy_that_fails_ends_the_stream_with_an_error() {
    for shape in Shape::ALL {
        for (kind, mode) in everywhere() {
            let input = body(kind, mode, &small(shape));
            let steps = steps(kind, mode, shape).await;
            for how in How::ALL {
                for at in 0..steps {
                    let called = Arc::new(AtomicUsize::new(0));
                    let (policy, calls) = counted(FailAt { at, how, steps: Arc::clone(&called) });
                    let out = run(builder(kind).policy(policy), mode, input.clone()).await;
                    let what = format!("{shape:?}, {how:?} at {at} of {steps}");
                    assert_eq!(out.error(), Some(how.error()), "{what}, {kind}, {mode:?}");
                    assert_eq!(called.load(Ordering::SeqCst), at + 1, "{what}: no hook after a failure");
                    assert_eq!(calls.counts().2, 0, "{what}: it failed, and is not told again");
                    // At the end everything has left but where the format has no terminal marker.
                    let too_late = at + 1 == steps && mode == Mode::Streamed && kind != WireKind::Gemini;
                    let ended = if too_late { Ended::Clean } else { Ended::Error };
                    assert_ended(&what, kind, mode, &input, &out.bytes, ended);
                }
            }
        }
    }
}

/// Rule 16: held parts are released in order, and the policy is not called again.
#[tokio::test(start_paused = true)]
async fn at_every_step_a_policy_that_fails_open_lets_everything_pass() {
    for shape in Shape::ALL {
        for (kind, mode) in everywhere() {
            let input = body(kind, mode, &small(shape));
            let steps = steps(kind, mode, shape).await;
            for how in How::ALL {
                for at in 0..steps {
                    let called = Arc::new(AtomicUsize::new(0));
                    let (policy, calls) = counted(FailAt { at, how, steps: Arc::clone(&called) });
                    let out =
                        run(quiet(kind).policy(Stage::new(policy).fail_open()), mode, input.clone()).await;
                    let what = format!("{shape:?}, {how:?} at {at} of {steps}, {kind}, {mode:?}");
                    assert_eq!(out.text(), String::from_utf8_lossy(&input), "{what}");
                    assert_eq!(out.error(), None, "{what}");
                    assert_eq!(called.load(Ordering::SeqCst), at + 1, "{what}");
                    assert_eq!(calls.counts().2, 0, "{what}");
                }
            }
        }
    }
}

/// A chunk of an earlier step cannot be sent: it is the policy's fault, and closes the stream.
#[tokio::test]
async fn a_chunk_that_is_kept_for_later_is_a_failure() {
    let input = small(Shape::Plain);
    for (kind, mode) in everywhere() {
        let mut kept: Option<Chunk> = None;
        let policy =
            crate::policies::hook(move |chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
                if let Some(old) = kept.take() {
                    ctx.send(old);
                }
                kept = Some(chunk);
                Ok(())
            });
        let bytes = body(kind, mode, &input);
        let out = run(builder(kind).policy(policy), mode, bytes.clone()).await;
        assert_eq!(out.error(), Some(ErrorKind::PolicyFailed), "{kind}, {mode:?}");
        assert_ended("kept", kind, mode, &bytes, &out.bytes, Ended::Error);
    }
}

/// The time of a hook is its own: the sum of many may be longer.
#[tokio::test(start_paused = true)]
async fn hooks_may_take_their_time_each() {
    struct Slow;
    #[async_trait]
    impl Policy for Slow {
        async fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
            tokio::time::sleep(Duration::from_secs(29)).await;
            ctx.send(chunk);
            Ok(())
        }
    }
    let input = small(Shape::Plain);
    for (kind, mode) in everywhere() {
        let bytes = body(kind, mode, &input);
        let out = run(quiet(kind).policy(Slow), mode, bytes.clone()).await;
        assert_eq!(out.bytes, bytes, "{kind}, {mode:?}");
    }
}
