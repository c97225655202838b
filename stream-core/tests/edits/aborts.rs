//! The client goes away, or the upstream does.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use futures::{FutureExt as _, StreamExt as _, stream};
use stream_core::{Chunk, Context, Ending, ErrorKind, Policy, StreamState, async_trait};
use stream_testkit::conformance::Ended;
use stream_testkit::{Script, WireKind};

use crate::kit::{Mode, Run, assert_ended, builder, run_chunks};
use crate::policies::{Did, at_calls, counted, send_all};
use crate::scripts::Shape;

/// Waits for good at a step.
struct HangAt {
    at: usize,
    step: usize,
    guard: Arc<()>,
}

#[async_trait]
impl Policy for HangAt {
    async fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        let _held = Arc::clone(&self.guard);
        ctx.send(chunk);
        self.step += 1;
        if self.step > self.at {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

/// Counts when it is dropped.
struct Upstream(Arc<AtomicUsize>);

impl Drop for Upstream {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// Law *drop*: wherever the future is dropped, `on_abort` is called once, and nothing is left behind.
#[tokio::test]
async fn a_client_that_goes_away_in_a_hook_aborts_the_policy_once() {
    let input = Shape::Plain.turn(&[0, 1]);
    for kind in WireKind::ALL {
        let (all, counts) = counted(send_all());
        run_chunks(builder(kind).policy(all), [input.bytes(kind)]).await;
        let steps = counts.counts().0;
        for at in 0..steps {
            let guard = Arc::new(());
            let dropped = Arc::new(AtomicUsize::new(0));
            let (policy, calls) = counted(HangAt { at, step: 0, guard: Arc::clone(&guard) });
            let upstream = Upstream(Arc::clone(&dropped));
            let bytes = stream::iter([Ok::<_, std::io::Error>(input.bytes(kind))]).chain(stream::pending());
            let bytes = bytes.map(move |chunk| {
                let _ = &upstream;
                chunk
            });
            let mut processor = builder(kind).policy(policy).build(bytes).unwrap();
            let handle = processor.handle();
            let mut out = Vec::new();
            while let Some(Some(bytes)) = processor.next().now_or_never() {
                out.extend_from_slice(&bytes);
            }
            assert_eq!(calls.counts(), (at + 1, 0, 0), "{kind}, {at}");
            assert!(input.bytes(kind).starts_with(&out), "{kind}, {at}: nothing that was staged has left");
            drop(processor);
            assert_eq!(calls.counts(), (at + 1, 0, 1), "{kind}, {at}");
            assert_eq!(Arc::strong_count(&guard), 1, "{kind}, {at}: the policy is gone");
            assert_eq!(dropped.load(Ordering::SeqCst), 1, "{kind}, {at}: the upstream is gone");
            assert_eq!(handle.outcome(), None, "{kind}, {at}");
        }
    }
}

#[tokio::test]
async fn a_client_that_goes_away_aborts_every_policy_and_every_judge_once() {
    let input = Shape::Plain.turn(&[0, 1]);
    for kind in WireKind::ALL {
        let guard = Arc::new(());
        let judged = Arc::clone(&guard);
        let (first, one) = counted(send_all());
        let (second, two) = counted(at_calls(move |call, ctx| {
            let held = Arc::clone(&judged);
            ctx.decide(call.key(), async move {
                let _held = held;
                std::future::pending().await
            })?;
            Ok(())
        }));
        let upstream = stream::iter([Ok::<_, std::io::Error>(input.bytes(kind))]).chain(stream::pending());
        let mut processor = builder(kind).policy(first).policy(second).build(upstream).unwrap();
        while let Some(Some(_)) = processor.next().now_or_never() {}
        assert_eq!(Arc::strong_count(&guard), 4, "{kind}: the policy and two judges");
        drop(processor);
        assert_eq!(Arc::strong_count(&guard), 1, "{kind}");
        for calls in [one, two] {
            let (_, ends, aborts) = calls.counts();
            assert_eq!((ends, aborts), (0, 1), "{kind}");
        }
    }
}

/// A stream that was read to its end, or ended, aborts nobody.
#[tokio::test]
async fn a_stream_that_came_to_its_end_aborts_nobody() {
    let input = Shape::Plain.turn(&[0, 1]);
    for kind in WireKind::ALL {
        let (policy, calls) = counted(send_all());
        run_chunks(builder(kind).policy(policy), [input.bytes(kind)]).await;
        let (_, ends, aborts) = calls.counts();
        assert_eq!((ends, aborts), (1, 0), "{kind}");
    }
}

/// What the upstream sends before it breaks.
async fn broken(kind: WireKind, input: &Script, policy: impl Policy + 'static) -> Run {
    let broken = Err(std::io::Error::other("connection reset"));
    let upstream = stream::iter([Ok(input.bytes(kind)), broken]);
    let processor = builder(kind).policy(policy).build(upstream).unwrap();
    let handle = processor.handle();
    let bytes = processor.collect::<Vec<Bytes>>().await.concat();
    Run { bytes, outcome: handle.outcome() }
}

#[tokio::test]
async fn an_upstream_that_breaks_ends_with_an_error() {
    for shape in [Shape::Plain, Shape::Chars] {
        let inputs = [
            shape.script().text("Hi.").cut(),
            shape.turn(&[0]).cut(),
            shape.turn(&[0, 1]).cut(),
            shape.script().cut(),
        ];
        for kind in WireKind::ALL {
            for input in &inputs {
                let bytes = input.bytes(kind);
                let out = broken(kind, input, send_all()).await;
                assert_eq!(out.error(), Some(ErrorKind::Transport), "{kind}");
                assert_ended("sent", kind, Mode::Streamed, &bytes, &out.bytes, Ended::Error);
                let out = broken(kind, input, at_calls(|_, _| Ok(()))).await;
                let view = assert_ended("held", kind, Mode::Streamed, &bytes, &out.bytes, Ended::Error);
                assert!(view.choices.iter().all(|choice| choice.calls.is_empty()), "{kind}");
            }
        }
    }
}

/// An error in the stream itself passes as it came, and what is held does not leave.
#[tokio::test]
async fn an_error_in_the_stream_passes_and_drops_what_is_held() {
    let input = Shape::Plain.turn(&[0, 1]).error("overloaded").cut();
    for kind in WireKind::ALL {
        let bytes = input.bytes(kind);
        let out = run_chunks(builder(kind).policy(send_all()), [bytes.clone()]).await;
        assert_eq!(out.bytes, bytes, "{kind}");
        let (policy, calls) = counted(at_calls(|_, _| Ok(())));
        let out = run_chunks(builder(kind).policy(policy), [bytes.clone()]).await;
        let view = assert_ended("held", kind, Mode::Streamed, &bytes, &out.bytes, Ended::Error);
        assert_eq!(view.choices[0].calls, [], "{kind}:\n{}", out.text());
        assert_eq!(calls.counts().1, 1, "{kind}");
    }
}

/// A body that just ends passes as it came; where something was lost by that, it ends with an error.
#[tokio::test]
async fn a_body_that_just_ends_is_an_error_only_where_something_is_lost() {
    let input = Shape::Plain.turn(&[0, 1]).cut();
    for kind in WireKind::ALL {
        let bytes = input.bytes(kind);
        let out = run_chunks(builder(kind).policy(send_all()), [bytes.clone()]).await;
        assert_eq!(out.bytes, bytes, "{kind}");
        let out = run_chunks(builder(kind).policy(at_calls(|_, _| Ok(()))), [bytes.clone()]).await;
        let view = assert_ended("lost", kind, Mode::Streamed, &bytes, &out.bytes, Ended::Error);
        assert_eq!(view.choices[0].calls, [], "{kind}");
    }
}

/// A policy that ends the stream when the body is cut has the last word.
#[tokio::test]
async fn a_policy_can_end_a_cut_stream_in_its_own_way() {
    struct AtEnd;
    #[async_trait]
    impl Policy for AtEnd {
        async fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
            ctx.send(chunk);
            Ok(())
        }

        async fn on_end(&mut self, _: stream_core::End, _: &StreamState, ctx: &mut Context<'_>) -> Did {
            ctx.terminate(Ending::refuse("cut"));
            Ok(())
        }
    }
    let input = Shape::Plain.script().text("Hi.").cut();
    for kind in WireKind::ALL {
        let bytes = input.bytes(kind);
        let out = run_chunks(builder(kind).policy(AtEnd), [bytes.clone()]).await;
        assert_ended("cut", kind, Mode::Streamed, &bytes, &out.bytes, Ended::Refused);
    }
}
