//! The gate over scripted streams of every format.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use stream_core::{Action, Config, Ending, Limits, PolicyError, Replacement, Verdict};
use stream_testkit::conformance::Ended;
use stream_testkit::{ChunkLog, Fragments, Replay, Replayed, Script, WireKind, assert_replay};

use super::{OnDeny, ToolGate, ToolGateSettings};
use crate::CompletedCall;
use crate::testing::{logs, valid};

fn script() -> Script {
    Script::new()
        .text("Let me look.")
        .call("call_1", "read_file", r#"{"path":"a.txt"}"#)
        .call("call_2", "shell", r#"{"command":"rm -rf /"}"#)
        .argument_fragments(Fragments::Chars(7))
        .usage(10, 20)
}

/// Allows what only reads.
fn reader() -> ToolGate {
    ToolGate::new(async |call: CompletedCall| match call.name() {
        "read_file" => Ok(Verdict::Release),
        _ => Ok(Verdict::drop("it does more than read")),
    })
}

fn always(verdict: Verdict) -> ToolGate {
    ToolGate::new(move |_: CompletedCall| {
        let verdict = verdict.clone();
        async move { Ok(verdict) }
    })
}

fn run(log: &ChunkLog, gate: ToolGate) -> Replayed {
    Replay::new(log).policy(move || gate.clone()).run()
}

fn names(replayed: &Replayed) -> Vec<String> {
    let view = valid(replayed);
    view.choices.iter().flat_map(|choice| &choice.calls).map(|call| call.name.clone()).collect()
}

#[test]
fn what_is_allowed_leaves_as_it_came() {
    for log in logs(&script()) {
        let replayed = run(&log, always(Verdict::Release));
        assert_eq!(replayed.bytes(), log.bytes(), "{}", log.name());
    }
}

#[test]
fn what_is_denied_does_not_leave_and_the_rest_does() {
    for log in logs(&script()) {
        let replayed = run(&log, reader());
        assert_eq!(names(&replayed), ["read_file"], "{}", log.name());
        assert_eq!(valid(&replayed).choices[0].content, "Let me look.", "{}", log.name());
        let dropped: Vec<_> = replayed.decisions.iter().filter(|it| it.action == Action::Dropped).collect();
        assert_eq!(dropped.len(), 1, "{}", log.name());
        assert_eq!(dropped[0].reason.as_deref(), Some("it does more than read"));
        assert_eq!(dropped[0].policy, "tool_gate");
    }
}

#[test]
fn a_notice_stands_where_the_format_has_a_place_for_it() {
    let settings = || ToolGateSettings::default().notice("[no: {reason}]");
    for log in logs(&script()) {
        let replayed = run(&log, reader().settings(settings()));
        // Behind a `tool_use` that has left there is no place for text (rule 21).
        let expected = match log.kind() {
            Some(WireKind::AnthropicMessages) => "Let me look.",
            _ => "Let me look.[no: it does more than read]",
        };
        assert_eq!(valid(&replayed).choices[0].content, expected, "{}", log.name());
        assert_eq!(names(&replayed), ["read_file"], "{}", log.name());
        // A notice without a place is a recorded fact.
        let unplaced = replayed.decisions.iter().filter(|decision| decision.block.is_none());
        let unplaced: Vec<_> = unplaced
            .map(|decision| {
                (decision.policy.as_str(), decision.action, decision.reason.as_deref(), decision.bytes)
            })
            .collect();
        let bytes = "[no: it does more than read]".len();
        let told = ("tool_gate", Action::Dropped, Some("there was no place for the text"), bytes);
        let expected = if expected == "Let me look." { vec![told] } else { vec![] };
        assert_eq!(unplaced, expected, "{}", log.name());
    }
    for log in logs(&script()) {
        let replayed = run(&log, always(Verdict::drop("never")).settings(settings()));
        let expected = "Let me look.[no: never][no: never]";
        assert_eq!(valid(&replayed).choices[0].content, expected, "{}", log.name());
        assert_eq!(names(&replayed), [""; 0], "{}", log.name());
    }
}

#[test]
fn a_judge_may_replace_a_call() {
    let replacement = Replacement::arguments(r#"{"dry_run":true}"#).named("pretend");
    for log in logs(&script()) {
        let replayed = run(&log, always(Verdict::Replace(replacement.clone())));
        assert_eq!(names(&replayed), ["pretend", "pretend"], "{}", log.name());
        let calls = &valid(&replayed).choices[0].calls;
        assert_eq!(calls[0].arguments, r#"{"dry_run":true}"#, "{}", log.name());
    }
}

#[test]
fn a_judge_may_end_the_stream() {
    for log in logs(&script()) {
        let replayed = run(&log, always(Verdict::Terminate(Ending::error("enough"))));
        assert_eq!(names(&replayed), [""; 0], "{}", log.name());
        assert_eq!(valid(&replayed).ended, Ended::Error, "{}", log.name());
    }
}

#[test]
fn a_denial_may_end_the_stream() {
    let settings = || ToolGateSettings::default().on_deny(OnDeny::End).message("stopped: {reason}");
    for log in logs(&script()) {
        let replayed = run(&log, always(Verdict::drop("never")).settings(settings()));
        assert_eq!(names(&replayed), [""; 0], "{}", log.name());
        assert_eq!(valid(&replayed).ended, Ended::Refused, "{}", log.name());
        let ended: Vec<_> = replayed.decisions.iter().filter(|it| it.action == Action::Terminated).collect();
        assert_eq!(ended.len(), 1, "{}", log.name());
        assert_eq!(ended[0].reason.as_deref(), Some("stopped: never"));
    }
}

#[test]
fn a_judge_that_fails_or_panics_or_is_late_denies() {
    type Gate = fn() -> ToolGate;
    let judges: [(&str, Gate); 3] = [
        ("the judge failed: broken", || {
            ToolGate::new(async |_: CompletedCall| Err(PolicyError::new("broken")))
        }),
        ("the judge panicked", || ToolGate::new(async |_: CompletedCall| panic!("broken"))),
        ("the judge took too long", || {
            ToolGate::new(async |_: CompletedCall| {
                tokio::time::sleep(Duration::from_secs(9)).await;
                Ok(Verdict::Release)
            })
            .settings(ToolGateSettings::default().deadline(Duration::from_secs(3)))
        }),
    ];
    for (reason, gate) in judges {
        for log in logs(&script()) {
            let replayed = run(&log, gate());
            assert_eq!(names(&replayed), [""; 0], "{}", log.name());
            let reasons: Vec<_> = replayed.decisions.iter().filter_map(|it| it.reason.as_deref()).collect();
            assert_eq!(reasons, [reason, reason], "{}", log.name());
        }
    }
}

#[test]
fn a_call_that_is_cut_off_is_not_even_judged() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    for kind in WireKind::ALL {
        let log = script().cut().to_log(kind);
        let asked = Arc::clone(&asked);
        let gate = ToolGate::new(move |call: CompletedCall| {
            asked.lock().unwrap().push(call.id().unwrap_or_default().to_owned());
            async { Ok(Verdict::Release) }
        });
        // Gemini's calls are never cut: each comes in one piece.
        let expected: &[&str] = match kind {
            WireKind::Gemini => &["read_file", "shell"],
            _ => &["read_file"],
        };
        let replayed = run(&log, gate);
        let view = replayed.view();
        let names: Vec<&str> = view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, expected, "{kind}");
    }
    let asked = asked.lock().unwrap();
    assert_eq!(asked.iter().filter(|id| *id == "call_1").count(), 4, "{asked:?}");
}

#[test]
fn a_call_of_a_resumed_stream_is_denied() {
    let whole = script().bytes(WireKind::AnthropicMessages);
    let text = String::from_utf8(whole.to_vec()).unwrap();
    // Without the start of the first call's block.
    let resumed: String = text
        .split_inclusive("\n\n")
        .filter(|event| !(event.contains("content_block_start") && event.contains("read_file")))
        .collect();
    let log = ChunkLog::from_chunks("resumed", [(Duration::ZERO, resumed.into())]);
    let replayed = run(&log, always(Verdict::Release));
    let view = replayed.view();
    let names: Vec<&str> = view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
    assert_eq!(names, ["shell"]);
    let reasons: Vec<_> = replayed.decisions.iter().filter_map(|it| it.reason.as_deref()).collect();
    // The first piece of its input is empty, and does not leave either.
    let empty = "expected blocks that open once, in order, found another order";
    assert_eq!(reasons, [empty, "its opening was not in the stream"]);
}

#[test]
fn what_nobody_knows_is_judged_as_a_call_by_its_kind() {
    for kind in [WireKind::OpenAiResponses, WireKind::AnthropicMessages, WireKind::Gemini] {
        let script = Script::new().text("See.").opaque("robot_use", r#"{"arm":"left"}"#).text("Done.");
        let log = script.to_log(kind);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let asked = Arc::clone(&seen);
        let gate = ToolGate::new(move |call: CompletedCall| {
            asked.lock().unwrap().push((call.name().to_owned(), call.is_opaque()));
            async { Ok(Verdict::drop("no robots")) }
        });
        let replayed = run(&log, gate);
        assert_eq!(*seen.lock().unwrap(), [("robot_use".to_owned(), true)], "{kind}");
        let bytes = replayed.bytes();
        let left = String::from_utf8_lossy(&bytes);
        assert!(!left.contains("robot") && !left.contains("left"), "{kind}: {left}");
        assert_eq!(valid(&replayed).choices[0].content, "See.Done.", "{kind}");
        assert_eq!(run(&log, always(Verdict::Release)).bytes(), log.bytes(), "{kind}");
    }
}

/// A judge of 200 ms over two calls, the second of which streams for another 100 ms: both are judged at once, and the
/// first leaves 200 ms after it was complete.
#[test]
fn judging_overlaps_streaming_and_other_judgements() {
    let slow = || {
        ToolGate::new(async |_: CompletedCall| {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Ok(Verdict::Release)
        })
    };
    // Each chunk comes 50 ms after the one before.
    let pace = Duration::from_millis(50);
    let log = script().pace(pace).to_log(WireKind::AnthropicMessages);
    let replayed = Replay::new(&log).policy(slow).run();
    assert_eq!(replayed.bytes(), log.bytes());
    let at = |replayed: &Replayed, what: &str| {
        let mut pieces = replayed.output.iter();
        let found = pieces.find(|(_, piece)| String::from_utf8_lossy(piece).contains(what));
        found.map(|(at, _)| at.as_millis()).unwrap()
    };
    let free = Replay::new(&log).policy(|| crate::Passthrough).run();
    // Text flows at once (no delay before the first held block of its choice).
    assert_eq!(at(&replayed, "Let me look."), at(&free, "Let me look."));
    // Where nothing is held a call ends with its stop, 50 ms after its last delta.
    let first_complete = at(&free, r#""type":"content_block_stop","index":1"#);
    let second_complete = at(&free, r#""type":"content_block_stop","index":2"#);
    assert_eq!((first_complete, second_complete), (450, 800));
    assert_eq!(at(&replayed, "call_1"), first_complete + 200);
    assert_eq!(at(&replayed, "call_2"), second_complete + 200);
    // Call 1 leaves while call 2 is still streaming, and both together cost one judgement behind the last.
    assert!(at(&replayed, "call_1") < second_complete);
    let (end, free_end) = (replayed.output.last().unwrap().0, free.output.last().unwrap().0);
    assert_eq!(end.as_millis(), u128::max(free_end.as_millis(), second_complete + 200));
}

/// Two calls that complete together, in one frame, are judged in the time of one.
#[test]
fn two_calls_of_one_frame_are_judged_in_the_time_of_one() {
    let slow = || {
        ToolGate::new(async |_: CompletedCall| {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Ok(Verdict::Release)
        })
    };
    for kind in [WireKind::OpenAiChat, WireKind::Gemini] {
        let log = script().calls_in_one_chunk().to_log(kind);
        let replayed = Replay::new(&log).policy(slow).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{kind}");
        assert_eq!(replayed.output.last().unwrap().0, Duration::from_millis(200), "{kind}");
    }
    for kind in WireKind::ALL {
        let whole = ChunkLog::from_whole("whole", script().whole(kind));
        let replayed = Replay::new(&whole).policy(slow).run();
        assert_eq!(replayed.output[0].0, Duration::from_millis(200), "{kind}");
    }
}

#[test]
fn the_held_limit_waits_for_a_verdict() {
    let slow = || {
        ToolGate::new(async |_: CompletedCall| {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Ok(Verdict::Release)
        })
    };
    for log in logs(&script()) {
        let config = Config::default().limits(Limits::default().held(log.bytes().len()));
        let replayed = Replay::new(&log).policy(slow).config(config).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{}", log.name());
    }
}

#[test]
fn settings_are_read_from_a_file() {
    let settings = r#"{"on_deny":"end","message":"no","deadline":"2s"}"#;
    let settings: ToolGateSettings = serde_json::from_str(settings).unwrap();
    let expected =
        ToolGateSettings::default().on_deny(OnDeny::End).message("no").deadline(Duration::from_secs(2));
    assert_eq!(settings, expected);
    let wrong = |text| serde_json::from_str::<ToolGateSettings>(text).unwrap_err().to_string();
    assert_eq!(
        wrong(r#"{"on_denied":"end"}"#),
        "unknown field `on_denied`, expected one of `on_deny`, `notice`, `message`, `deadline` at line 1 column 12"
    );
    assert_eq!(
        wrong(r#"{"deadline":"soon"}"#),
        "expected a duration such as 250ms, 10s or 2m, found \"soon\" at line 1 column 19"
    );
}

#[test]
fn transcript_chat() {
    assert_replay!(reader, &script().to_log(WireKind::OpenAiChat));
}

#[test]
fn transcript_responses() {
    assert_replay!(reader, &script().to_log(WireKind::OpenAiResponses));
}

#[test]
fn transcript_anthropic() {
    assert_replay!(reader, &script().to_log(WireKind::AnthropicMessages));
}

#[test]
fn transcript_gemini() {
    assert_replay!(reader, &script().to_log(WireKind::Gemini));
}

#[test]
fn a_gate_that_allows_keeps_every_law() {
    crate::testing::keeps_every_law(|| always(Verdict::Release), &[]);
}

#[test]
fn a_gate_that_drops_keeps_every_law() {
    crate::testing::keeps_every_law(reader, &[]);
}

#[test]
fn a_gate_with_a_notice_keeps_every_law() {
    crate::testing::keeps_every_law(|| reader().settings(ToolGateSettings::default().notice("[no]")), &[]);
}

#[test]
fn a_gate_that_ends_the_stream_keeps_every_law() {
    crate::testing::keeps_every_law(
        || reader().settings(ToolGateSettings::default().on_deny(OnDeny::End)),
        &[],
    );
}

#[test]
fn a_gate_that_replaces_keeps_every_law() {
    crate::testing::keeps_every_law(|| always(Verdict::Replace(Replacement::arguments(r#"{"dry":1}"#))), &[]);
}
