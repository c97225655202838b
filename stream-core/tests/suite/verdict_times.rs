//! What a verdict's time may change, and what it may not.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::time::Duration;

use stream_core::{
    Attention, BlockKey, Chunk, Config, Context, Decide, Ending, Limits, Needs, Policy, StreamState, Verdict,
    policy_fn,
};
use stream_testkit::{Replay, Replayed, Script, WireKind};

/// Calls the function with each complete call.
fn at_call(mut function: impl FnMut(BlockKey, &mut Context<'_>) + Send + 'static) -> impl Policy + 'static {
    let hook = move |_: Chunk, state: &StreamState, ctx: &mut Context<'_>| {
        if let Some(block) = state.just_completed() {
            function(block.key(), ctx);
        }
        Ok(())
    };
    policy_fn(hook).needing(Needs::nothing().calls(Attention::Completed))
}

fn script() -> Script {
    Script::new()
        .text("So.")
        .call("call_1", "shell", r#"{"cmd":"ls"}"#)
        .pause(Duration::from_secs(60))
        .usage(1, 2)
}

fn calls(replayed: &Replayed) -> usize {
    replayed.view().choices[0].calls.len()
}

fn end(replayed: &Replayed) -> Duration {
    replayed.output.last().unwrap().0
}

#[test]
fn a_block_is_settled_when_its_time_is_over() {
    // An end of its own: the call is complete long before the finish.
    let log = script().to_log(WireKind::AnthropicMessages);
    let after = |seconds, verdict: Verdict| {
        move || {
            let verdict = verdict.clone();
            at_call(move |key, ctx: &mut Context<'_>| {
                ctx.decide(key, Decide::after(Duration::from_secs(seconds), verdict.clone())).unwrap();
            })
        }
    };
    let released = Replay::new(&log).policy(after(5, Verdict::Release)).run();
    assert_eq!(released.bytes(), log.bytes());
    let call = released.output.iter().find(|(_, piece)| String::from_utf8_lossy(piece).contains("call_1"));
    assert_eq!(call.unwrap().0, Duration::from_secs(5));

    let dropped = Replay::new(&log).policy(after(5, Verdict::drop("late"))).run();
    assert_eq!((calls(&dropped), end(&dropped)), (0, Duration::from_secs(60)));
    assert_eq!(dropped.decisions[0].reason.as_deref(), Some("late"));

    let ended = Replay::new(&log).policy(after(5, Verdict::Terminate(Ending::error("late")))).run();
    assert_eq!((calls(&ended), end(&ended)), (0, Duration::from_secs(5)));
}

#[test]
fn what_was_settled_before_its_time_stays_so_and_the_end_does_not_wait() {
    let log = script().to_log(WireKind::AnthropicMessages);
    let flushed = || {
        at_call(|key, ctx: &mut Context<'_>| {
            ctx.decide(key, Decide::after(Duration::from_secs(5), Verdict::drop("late"))).unwrap();
            ctx.settle(key, Verdict::Release).unwrap();
        })
    };
    let replayed = Replay::new(&log).policy(flushed).run();
    assert_eq!(replayed.bytes(), log.bytes());
    let held = || {
        at_call(|key, ctx: &mut Context<'_>| {
            ctx.decide(key, Decide::after(Duration::from_secs(600), Verdict::Release)).unwrap();
        })
    };
    let replayed = Replay::new(&log).policy(held).run();
    assert_eq!((calls(&replayed), end(&replayed)), (0, Duration::from_secs(60)));
    assert_eq!(replayed.decisions[0].reason.as_deref(), Some("still held at the end"));
}

/// Rule 12: bytes do not depend on a judge's timing.
#[test]
fn a_verdict_that_ends_the_stream_gives_the_same_bytes_whenever_it_comes() {
    for kind in WireKind::ALL {
        let log = script().call("call_2", "shell", r#"{"cmd":"pwd"}"#).to_log(kind);
        let ends_after = |seconds| {
            let judge = move || {
                at_call(move |key, ctx: &mut Context<'_>| {
                    let verdict = async move {
                        tokio::time::sleep(Duration::from_secs(seconds)).await;
                        Ok(Verdict::Terminate(Ending::refuse("enough")))
                    };
                    ctx.decide(key, Decide::by(verdict).within(Duration::from_secs(1_000))).unwrap();
                })
            };
            // Keep-alives are all that may show how long it took.
            let config = Config::default().limits(Limits::default().keep_alive(None));
            Replay::new(&log).config(config).policy(judge).run().bytes()
        };
        assert_eq!(ends_after(0), ends_after(100), "{kind}");
    }
}
