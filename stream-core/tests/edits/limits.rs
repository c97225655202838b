//! Limits: each with its error, and a valid ending (rule 26).

use std::time::Duration;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use stream_core::{
    Attention, Chunk, Context, Decide, Ending, ErrorKind, Limits, Needs, Policy, Request, StreamState,
    Verdict, async_trait,
};
use stream_testkit::conformance::Ended;
use stream_testkit::{Script, WireKind};

use crate::kit::{Mode, Run, assert_ended, body, builder, config, everywhere, limits, run};
use crate::policies::{Did, at_calls, hook, send_all};
use crate::scripts::{Shape, with_calls};

/// Holds calls for good.
fn hold_calls() -> impl Policy + 'static {
    at_calls(|_, _| Ok(()))
}

async fn limited(
    kind: WireKind,
    mode: Mode,
    limits: Limits,
    policy: impl Policy + 'static,
    input: &Script,
) -> Run {
    let builder = builder(kind).config(config(kind).limits(limits)).policy(policy);
    run(builder, mode, body(kind, mode, input)).await
}

#[track_caller]
fn assert_closed(kind: WireKind, mode: Mode, input: &Script, out: &Run, error: ErrorKind) {
    assert_eq!(out.error(), Some(error), "{kind}, {mode:?}");
    assert_ended("limit", kind, mode, &body(kind, mode, input), &out.bytes, Ended::Error);
}

#[tokio::test]
async fn holding_too_much_closes_the_stream() {
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(3000));
    let input = Shape::Chars.script().text("Hi.").call("call_1", "write", long);
    for kind in WireKind::ALL {
        let limits = limits(|limits| limits.held = 2000);
        let out = limited(kind, Mode::Streamed, limits, hold_calls(), &input).await;
        assert_closed(kind, Mode::Streamed, &input, &out, ErrorKind::HeldLimit);
        let view =
            crate::kit::view("held", kind, Mode::Streamed, &body(kind, Mode::Streamed, &input), &out.bytes);
        assert_eq!(view.choices[0].calls, []);
        assert_eq!(view.choices[0].content, "Hi.");
    }
}

/// Rule 13: while a verdict is pending, the upstream is not polled, and nothing is closed.
#[tokio::test(start_paused = true)]
async fn holding_too_much_while_a_verdict_is_pending_waits_for_it() {
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(3000));
    let input = Shape::Chars.script().text("Hi.").call("call_1", "write", long).call("call_2", "list", "{}");
    for kind in WireKind::ALL {
        let policy = hook(|chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
            let call = state.current_block().and_then(|block| block.as_tool_call());
            let opens = call.is_some_and(|call| {
                chunk.is_tool_call() && call.arguments().len() <= chunk.arguments().unwrap_or_default().len()
            });
            if let Some(call) = call.filter(|_| opens) {
                // One that is judged already is so for good.
                let _ = ctx.decide(call.key(), async {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Ok(Verdict::Release)
                });
            }
            ctx.send(chunk);
            Ok(())
        });
        let limits = limits(|limits| {
            limits.held = 2000;
            limits.keep_alive = None;
        });
        let out = limited(kind, Mode::Streamed, limits, policy, &input).await;
        assert_eq!(out.error(), None, "{kind}");
        assert_eq!(out.bytes, body(kind, Mode::Streamed, &input), "{kind}");
    }
}

#[tokio::test]
async fn a_block_that_is_too_long_closes_the_stream() {
    let long = format!("{{\"text\":\"{}\"}}", "x".repeat(500));
    let inputs = [
        Shape::Chars.script().text("x".repeat(500)),
        Shape::Plain.script().text("x".repeat(500)),
        Shape::Chars.script().text("Hi.").call("call_1", "write", long.clone()),
        Shape::Plain.script().text("Hi.").call("call_1", "write", long),
    ];
    for (kind, mode) in everywhere() {
        for input in &inputs {
            let limits = limits(|limits| limits.block = 400);
            let out = limited(kind, mode, limits, send_all(), input).await;
            assert_closed(kind, mode, input, &out, ErrorKind::BlockLimit);
        }
    }
}

/// Looks at nothing.
struct Blind;

#[async_trait]
impl Policy for Blind {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().calls(Attention::Completed)
    }

    async fn on_chunk(&mut self, _: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.flush();
        Ok(())
    }
}

#[tokio::test]
async fn text_that_no_policy_needs_has_no_limit() {
    let input = with_calls(Shape::Chars.script().text("x".repeat(500)), &[0]);
    for (kind, mode) in everywhere() {
        let limits = limits(|limits| limits.block = 400);
        let out = limited(kind, mode, limits, Blind, &input).await;
        assert_eq!(out.error(), None, "{kind}, {mode:?}");
        assert_eq!(out.bytes, body(kind, mode, &input), "{kind}, {mode:?}");
    }
}

#[tokio::test]
async fn too_many_blocks_close_the_stream() {
    let input = Shape::Plain.turn(&[0, 1, 2]);
    for (kind, mode) in everywhere() {
        let limits = limits(|limits| limits.blocks = 4);
        let out = limited(kind, mode, limits, send_all(), &input).await;
        assert_closed(kind, mode, &input, &out, ErrorKind::BlocksLimit);
    }
}

#[tokio::test]
async fn too_many_choices_close_the_stream() {
    let input = Script::new().text("a").choice(1).text("b").choice(2).text("c");
    for (kind, mode) in
        everywhere().filter(|(kind, _)| matches!(kind, WireKind::OpenAiChat | WireKind::Gemini))
    {
        let limits = limits(|limits| limits.choices = 2);
        let out = limited(kind, mode, limits, send_all(), &input).await;
        assert_closed(kind, mode, &input, &out, ErrorKind::ChoicesLimit);
    }
}

#[tokio::test]
async fn a_frame_that_is_too_long_closes_the_stream() {
    let input = Shape::Plain.script().text("Hi.").call(
        "call_1",
        "write",
        format!("{{\"a\":\"{}\"}}", "x".repeat(5000)),
    );
    for kind in WireKind::ALL {
        let limits = limits(|limits| limits.frame = 2000);
        let out = limited(kind, Mode::Streamed, limits, send_all(), &input).await;
        assert_closed(kind, Mode::Streamed, &input, &out, ErrorKind::FrameTooLarge);
    }
}

/// The bytes of a stream that breaks off, then silence.
fn silent(
    kind: WireKind,
    input: &Script,
) -> impl futures::Stream<Item = Result<Bytes, std::io::Error>> + use<> {
    stream::iter([Ok(input.bytes(kind))]).chain(stream::pending())
}

#[tokio::test(start_paused = true)]
async fn a_silent_upstream_is_given_up() {
    let input = Shape::Plain.turn(&[0]).cut();
    for kind in WireKind::ALL {
        let limits = limits(|limits| limits.keep_alive = None);
        let start = tokio::time::Instant::now();
        let processor = builder(kind).config(config(kind).limits(limits)).policy(hold_calls());
        let processor = processor.build(silent(kind, &input)).unwrap();
        let handle = processor.handle();
        let bytes = processor.collect::<Vec<Bytes>>().await.concat();
        let out = Run { bytes, outcome: handle.outcome() };
        assert_closed(kind, Mode::Streamed, &input, &out, ErrorKind::Idle);
        assert_eq!(start.elapsed(), Duration::from_secs(300), "{kind}");
    }
}

/// Rule 23: keep-alives while something is held, and none before.
#[tokio::test(start_paused = true)]
async fn keep_alives_are_sent_while_something_is_held() {
    let input = Shape::Plain.turn(&[0]);
    let cases = [
        (WireKind::OpenAiChat, ": keep-alive\n\n"),
        (WireKind::OpenAiResponses, ": keep-alive\n\n"),
        (WireKind::AnthropicMessages, "event: ping\ndata: {\"type\": \"ping\"}\n\n"),
        (WireKind::Gemini, "\r\n"),
    ];
    for (kind, ping) in cases {
        let policy = at_calls(|call, ctx| {
            ctx.decide(
                call.key(),
                Decide::by(async {
                    tokio::time::sleep(Duration::from_secs(50)).await;
                    Ok(Verdict::Release)
                })
                .within(Duration::from_secs(60)),
            )?;
            Ok(())
        });
        let processor = builder(kind).policy(policy);
        let upstream = stream::iter([Ok::<_, std::io::Error>(input.bytes(kind))]);
        let parts: Vec<Bytes> = processor.build(upstream).unwrap().collect().await;
        let pings = parts.iter().filter(|part| part[..] == *ping.as_bytes()).count();
        assert_eq!(pings, 3, "{kind}: one every 15 seconds");
        let rest: Vec<&[u8]> =
            parts.iter().map(|part| &part[..]).filter(|part| *part != ping.as_bytes()).collect();
        assert_eq!(rest.concat(), input.bytes(kind), "{kind}");
        let all = parts.concat();
        crate::kit::view("pings", kind, Mode::Streamed, &input.bytes(kind), &all);
    }
}

#[tokio::test(start_paused = true)]
async fn keep_alives_are_sent_while_a_hook_waits() {
    struct Slow;
    #[async_trait]
    impl Policy for Slow {
        async fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
            if state.just_completed().is_some_and(|block| block.as_tool_call().is_some()) {
                tokio::time::sleep(Duration::from_secs(29)).await;
            }
            ctx.send(chunk);
            Ok(())
        }
    }
    let input = Shape::Plain.turn(&[0]);
    for kind in WireKind::ALL {
        let upstream = stream::iter([Ok::<_, std::io::Error>(input.bytes(kind))]);
        let parts: Vec<Bytes> = builder(kind).policy(Slow).build(upstream).unwrap().collect().await;
        let all = parts.concat();
        assert!(all.len() > input.bytes(kind).len(), "{kind}: a keep-alive after 15 seconds");
        let view = crate::kit::view("pings", kind, Mode::Streamed, &input.bytes(kind), &all);
        let expected = crate::kit::view("in", kind, Mode::Streamed, &input.bytes(kind), &input.bytes(kind));
        assert_eq!(view, expected, "{kind}");
    }
}

/// The host ends the stream while everything waits for a judge.
#[tokio::test(start_paused = true)]
async fn the_host_can_end_the_stream_at_any_time() {
    let input = Shape::Plain.turn(&[0, 1]);
    for (kind, mode) in everywhere().filter(|(_, mode)| *mode == Mode::Streamed) {
        for ending in [Ending::refuse("stop"), Ending::error("stop")] {
            for in_hook in [false, true] {
                let policy = Waits { in_hook };
                let upstream = stream::iter([Ok::<_, std::io::Error>(input.bytes(kind))]);
                let processor = builder(kind).policy(policy).build(upstream).unwrap();
                let handle = processor.handle();
                let command = {
                    let (handle, ending) = (handle.clone(), ending.clone());
                    async move {
                        tokio::time::sleep(Duration::from_secs(5)).await;
                        handle.stop(ending);
                    }
                };
                let (parts, ()) = futures::future::join(processor.collect::<Vec<Bytes>>(), command).await;
                let out = Run { bytes: parts.concat(), outcome: handle.outcome() };
                assert_eq!(out.error(), Some(ErrorKind::Host), "{kind}");
                let ended = match ending.kind() {
                    stream_core::EndingKind::Refuse => Ended::Refused,
                    _ => Ended::Error,
                };
                let what = format!("{ending:?}, in a hook: {in_hook}");
                let view = assert_ended(&what, kind, mode, &input.bytes(kind), &out.bytes, ended);
                assert_eq!(view.choices[0].calls, [], "{kind}");
            }
        }
    }
}

/// Waits for good at the first call: in the hook, or beside it.
struct Waits {
    in_hook: bool,
}

#[async_trait]
impl Policy for Waits {
    async fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        if chunk.is_tool_call() && self.in_hook {
            std::future::pending::<()>().await;
        }
        if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
            ctx.decide(call.key(), std::future::pending())?;
        }
        if chunk.is_tool_call() {
            ctx.buffer(chunk);
        } else {
            ctx.send(chunk);
        }
        Ok(())
    }
}

/// The host drops a call that is under a judge; the other one leaves.
#[tokio::test(start_paused = true)]
async fn the_host_can_drop_a_call_that_is_held() {
    let input = Shape::Plain.turn(&[0, 1]);
    for kind in WireKind::ALL {
        let policy = at_calls(|call, ctx| {
            let released = call.id() == Some("call_2");
            ctx.decide(call.key(), async move {
                if released { Ok(Verdict::Release) } else { std::future::pending().await }
            })?;
            Ok(())
        });
        let upstream = stream::iter([Ok::<_, std::io::Error>(input.bytes(kind))]);
        let processor = crate::kit::quiet(kind).policy(policy).build(upstream).unwrap();
        let handle = processor.handle();
        let command = async move {
            tokio::time::sleep(Duration::from_secs(5)).await;
            handle.drop_call("call_1");
        };
        let (parts, ()) = futures::future::join(processor.collect::<Vec<Bytes>>(), command).await;
        crate::kit::assert_says(
            "discard",
            kind,
            Mode::Streamed,
            &input,
            &parts.concat(),
            &Shape::Plain.turn(&[1]),
        );
    }
}
