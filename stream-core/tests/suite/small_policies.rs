//! Policies from closures, how they are run, and what is refused before a stream starts.

use std::time::Duration;

use stream_core::{
    Action, BuildError, Chain, Config, Decide, Engine, Passthrough, Replacement, Stage, Verdict, each_call,
    each_call_async, policy_fn,
};
use stream_testkit::{Replay, Replayed, Script, WireKind};

fn script() -> Script {
    Script::new().text("On it.").call("call_1", "rm", r#"{"path":"/"}"#).call("call_2", "ls", "{}")
}

fn said(replayed: &Replayed) -> (String, Vec<String>) {
    let choice = &replayed.view().choices[0];
    (choice.content.clone(), choice.calls.iter().map(|call| call.name.clone()).collect())
}

#[test]
fn each_call_decides_over_complete_calls_in_every_format() {
    for kind in WireKind::ALL {
        let log = script().to_log(kind);
        let no_rm = || {
            each_call(|call, _| match call.name() {
                "rm" => Verdict::drop("rm is not allowed"),
                _ => Verdict::Release,
            })
        };
        let replayed = Replay::new(&log).policy(no_rm).run();
        assert_eq!(said(&replayed), ("On it.".to_owned(), vec!["ls".to_owned()]), "{kind}");
        let pass = Replay::new(&log).policy(|| each_call(|_, _| Verdict::Release)).run();
        assert_eq!(pass.bytes(), log.bytes(), "{kind}");
    }
}

#[test]
fn a_judge_of_each_call_may_wait_while_calls_are_judged_beside_it() {
    for kind in WireKind::ALL {
        let log = script().to_log(kind);
        let slow = || {
            each_call_async(|call, _| {
                let name = call.name().to_owned();
                async move {
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    Ok(if name == "rm" { Verdict::drop("not allowed") } else { Verdict::Release })
                }
            })
        };
        let replayed = Replay::new(&log).policy(slow).run();
        assert_eq!(said(&replayed), ("On it.".to_owned(), vec!["ls".to_owned()]), "{kind}");
        // Both at once: not two seconds.
        assert_eq!(replayed.output.last().unwrap().0, Duration::from_secs(1), "{kind}");
    }
}

/// A call that comes complete in one chunk needs no `buffer` before its verdict.
#[test]
fn settle_speaks_also_of_the_chunk_of_its_step() {
    for kind in WireKind::ALL {
        let log = script().to_log(kind);
        let policy = || {
            policy_fn(|chunk, state, ctx| {
                match state.just_completed().and_then(|block| block.as_tool_call()) {
                    Some(call) if call.name() == "rm" => ctx.settle(call.key(), Verdict::drop("no"))?,
                    Some(call) => ctx.settle(call.key(), Verdict::Release)?,
                    None if chunk.is_tool_call() => ctx.buffer(chunk),
                    None => ctx.send(chunk),
                }
                Ok(())
            })
        };
        let replayed = Replay::new(&log).policy(policy).run();
        assert_eq!(said(&replayed), ("On it.".to_owned(), vec!["ls".to_owned()]), "{kind}");
    }
}

/// What a hook says of its chunk counts, not what it says of the block: flushing a text does not let go the chunk that is held.
#[test]
fn settle_leaves_a_chunk_alone_that_is_buffered_in_the_same_step() {
    let log = Script::new().text("ab").text_fragments(stream_testkit::Fragments::Chars(1));
    let log = log.to_log(WireKind::OpenAiChat);
    let policy = || {
        policy_fn(|chunk, _, ctx| {
            if let Some(key) = chunk.block().filter(|_| chunk.is_payload()) {
                ctx.settle(key, Verdict::Release)?;
            }
            ctx.buffer(chunk);
            Ok(())
        })
    };
    let replayed = Replay::new(&log).policy(policy).run();
    assert_eq!(said(&replayed).0, "a");
}

#[test]
fn the_fallback_of_a_decision_is_its_verdict_when_the_judge_fails_or_is_late() {
    let log = script().to_log(WireKind::OpenAiChat);
    let fails = async || Err(stream_core::PolicyError::new("out of order"));
    for late in [false, true] {
        let policy = move || {
            stream_core::policy_fn(move |chunk, state, ctx| {
                if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
                    let decide = if late { Decide::by(std::future::pending()) } else { Decide::by(fails()) };
                    let other = Verdict::Replace(Replacement::arguments("{}").because("nobody answered"));
                    ctx.decide(call.key(), decide.within(Duration::from_secs(1)).otherwise(other))?;
                }
                if chunk.is_tool_call() {
                    ctx.buffer(chunk);
                } else {
                    ctx.send(chunk);
                }
                Ok(())
            })
        };
        let replayed = Replay::new(&log).policy(policy).run();
        let arguments: Vec<_> =
            replayed.view().choices[0].calls.iter().map(|call| call.arguments.clone()).collect();
        assert_eq!(arguments, ["{}", "{}"], "late: {late}");
        assert_eq!(replayed.decisions[0].action, Action::Edited, "late: {late}");
    }
}

#[test]
fn a_stage_has_a_name_of_its_own() {
    let log = script().to_log(WireKind::Gemini);
    let named = || Stage::new(each_call(|_, _| Verdict::drop("no"))).named("no_calls");
    let replayed = Replay::new(&log).policy(named).run();
    assert_eq!(replayed.decisions[0].policy, "no_calls");
}

/// No constructor drops anything silently.
#[test]
fn more_stages_than_there_may_be_are_refused() {
    let chain = |stages: usize| (0..stages).fold(Chain::new(), |chain, _| chain.then(Passthrough));
    let build = |chain: Chain| Engine::new(Config::default(), chain).map(drop);
    assert_eq!(build(chain(64)), Ok(()));
    assert_eq!(build(chain(65)), Err(BuildError::TooMany { limit: 64, found: 65 }));
    let watched = |stages| chain(stages).each(Stage::monitor);
    assert_eq!(build(watched(63)), Ok(()));
    assert_eq!(build(watched(64)), Err(BuildError::TooMany { limit: 63, found: 64 }));
}
