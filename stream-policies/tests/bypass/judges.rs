//! Judges that fail, and verdicts that come late or twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use stream_core::{Action, CallFlavor, Ending, PolicyError, Replacement, Verdict};
use stream_policies::judge::{All, Cached, CheapestFirst, Judge};
use stream_policies::{BufferedJudge, CompletedCall, ToolGate, ToolGateSettings};
use stream_testkit::conformance::Ended;
use stream_testkit::{Replay, Script, WireKind};

use crate::kit::{no_bash, ran};

fn script() -> Script {
    Script::new().text("ok").call("call_1", "run", r#"{"a":1}"#).call("call_2", "run", r#"{"a":2}"#)
}

#[test]
fn a_judge_that_fails_panics_or_never_answers_denies_in_every_format() {
    let late = ToolGateSettings::default().deadline(Duration::from_secs(1));
    let fails = || ToolGate::new(async |_: CompletedCall| Err(PolicyError::new("rm -rf")));
    let panics = || ToolGate::new(async |_: CompletedCall| panic!("rm -rf"));
    let hangs =
        move || ToolGate::new(async |_: CompletedCall| std::future::pending().await).settings(late.clone());
    for kind in WireKind::ALL {
        let log = script().to_log(kind);
        for (gate, reason) in [
            (Replay::new(&log).policy(fails), "the judge failed: rm -rf"),
            (Replay::new(&log).policy(panics), "the judge panicked"),
            (Replay::new(&log).policy(hangs.clone()), "the judge took too long"),
        ] {
            let ran = ran(&gate.run());
            assert_eq!(ran.edits(), [(Action::Dropped, reason); 2], "{kind}");
            assert_eq!(ran.view.choices[0].calls, [], "{kind}");
            assert_eq!(ran.view.choices[0].content, "ok", "{kind}");
            // What went wrong inside is the host's.
            assert_eq!(ran.out.matches("rm -rf").count(), 0, "{kind}");
        }
    }
}

#[test]
fn a_buffered_judge_that_fails_panics_or_never_answers_lets_nothing_leave() {
    let fails = || BufferedJudge::new(async |_: CompletedCall| Err(PolicyError::new("rm -rf")));
    let panics = || BufferedJudge::new(async |_: CompletedCall| panic!("rm -rf"));
    let hangs = || BufferedJudge::new(async |_: CompletedCall| std::future::pending().await);
    for kind in WireKind::ALL {
        let log = script().to_log(kind);
        for replay in [
            Replay::new(&log).policy(fails),
            Replay::new(&log).policy(panics),
            Replay::new(&log).policy(hangs),
        ] {
            let ran = ran(&replay.run());
            assert_eq!(ran.view.ended, Ended::Error, "{kind}");
            let choices = &ran.view.choices;
            assert!(
                choices.iter().all(|choice| choice.calls.is_empty() && choice.content.is_empty()),
                "{kind}"
            );
            assert_eq!(ran.out.matches("rm -rf").count(), 0, "{kind}");
        }
    }
}

#[test]
fn an_approval_that_comes_after_the_stream_was_ended_releases_nothing() {
    // The first call is approved late, the second ends the stream at once.
    let gate = || {
        ToolGate::new(async |call: CompletedCall| {
            if call.arguments().contains('1') {
                tokio::time::sleep(Duration::from_secs(5)).await;
                return Ok(Verdict::Release);
            }
            Ok(Verdict::Terminate(Ending::refuse("enough")))
        })
    };
    for kind in WireKind::ALL {
        let replayed = Replay::new(script().to_log(kind)).policy(gate).run();
        let ran = ran(&replayed);
        assert_eq!(ran.view.choices[0].calls, [], "{kind}");
        assert_eq!(ran.view.choices[0].content, "ok", "{kind}");
        assert_eq!(ran.view.ended, Ended::Refused, "{kind}");
    }
}

#[test]
fn one_denial_among_several_judges_denies_even_if_the_others_are_late_or_fail() {
    let allow = || async |_: CompletedCall| Ok(Verdict::Release);
    let deny = || async |_: CompletedCall| Ok(Verdict::drop("no"));
    let fail = || async |_: CompletedCall| Err::<Verdict, _>(PolicyError::new("broken"));
    for kind in WireKind::ALL {
        let log = script().to_log(kind);
        let all = move || ToolGate::new(All::new().and(allow()).and(deny()).and(fail()));
        let cheapest = move || ToolGate::new(CheapestFirst::new().and(allow()).and(deny()).and(fail()));
        for replay in [Replay::new(&log).policy(all), Replay::new(&log).policy(cheapest)] {
            let ran = ran(&replay.run());
            assert_eq!(ran.view.choices[0].calls, [], "{kind}");
            assert_eq!(ran.edits().len(), 2, "{kind}");
        }
    }
}

#[tokio::test]
async fn a_remembered_approval_is_for_the_same_kind_of_call_alone() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let judge = Cached::new(
        move |call: CompletedCall| {
            count.fetch_add(1, Ordering::Relaxed);
            let allowed = call.flavor() == CallFlavor::Function && call.name() == "run";
            async move { Ok(if allowed { Verdict::Release } else { Verdict::drop("no") }) }
        },
        10,
    );
    let call = CompletedCall::new("run", "{}");
    assert_eq!(judge.judge(call.clone()).await.unwrap(), Verdict::Release);
    assert_eq!(judge.judge(call.clone()).await.unwrap(), Verdict::Release);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    for other in [
        call.clone().with_flavor(CallFlavor::Custom),
        CompletedCall::new("RUN", "{}"),
        CompletedCall::new("run{", "}"),
    ] {
        assert_eq!(judge.judge(other).await.unwrap(), Verdict::drop("no"));
    }
    assert_eq!(asked.load(Ordering::Relaxed), 4);
}

#[test]
fn a_replacement_that_is_no_object_or_stands_for_something_opaque_drops_the_call() {
    let gate =
        || ToolGate::new(async |_: CompletedCall| Ok(Verdict::Replace(Replacement::arguments("rm -rf"))));
    for kind in WireKind::ALL {
        let ran = ran(&Replay::new(script().to_log(kind)).policy(gate).run());
        let reason = "what was to stand in its place is no JSON object";
        assert_eq!(ran.edits(), [(Action::Dropped, reason); 2], "{kind}");
        assert_eq!(ran.out.matches("rm -rf").count(), 0, "{kind}");
    }
}

#[test]
fn a_gate_on_one_tool_does_not_let_another_ride_in_its_frame() {
    // Both in one chunk: the frame leaves when both are decided, without the one that is denied.
    let script = Script::new()
        .text("ok")
        .call("call_1", "ls", "{}")
        .call("call_2", "bash", r#"{"command":"rm"}"#)
        .in_one_chunk();
    for kind in [WireKind::OpenAiChat, WireKind::Gemini] {
        let replayed = Replay::new(script.to_log(kind)).policy(|| ToolGate::new(no_bash())).run();
        let ran = ran(&replayed);
        assert_eq!(ran.edits(), [(Action::Dropped, "no shells")], "{kind}");
        let names: Vec<_> = ran.view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["ls"], "{kind}");
        assert_eq!(ran.out.matches("bash").count(), 0, "{kind}");
    }
}
