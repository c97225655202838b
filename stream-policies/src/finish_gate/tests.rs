//! The gate over scripted streams of every format.

use std::time::Duration;

use stream_core::{Action, Config, Limits};
use stream_testkit::conformance::Ended;
use stream_testkit::{ChunkLog, Finish, Fragments, Replay, Replayed, Script, WireKind, assert_replay};

use super::{FinishGate, FinishGateSettings, Release, WithoutFinish};
use crate::testing::{keeps_every_law, logs, valid};

fn script() -> Script {
    Script::new()
        .text("Let me look.")
        .call("call_1", "read_file", r#"{"path":"a.txt"}"#)
        .call("call_2", "shell", r#"{"command":"ls"}"#)
        .argument_fragments(Fragments::Chars(7))
        .usage(10, 20)
}

fn partial() -> FinishGate {
    FinishGate::new().settings(FinishGateSettings::default().release(Release::Complete))
}

fn names(replayed: &Replayed) -> Vec<String> {
    let view = replayed.view();
    view.choices.iter().flat_map(|choice| &choice.calls).map(|call| call.name.clone()).collect()
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn reasons(replayed: &Replayed) -> Vec<&str> {
    let dropped = replayed.decisions.iter().filter(|it| it.action == Action::Dropped);
    dropped.filter_map(|it| it.reason.as_deref()).collect()
}

/// When a piece with this text left, in milliseconds.
fn left(replayed: &Replayed, what: &str) -> Option<u128> {
    let mut pieces = replayed.output.iter();
    let found = pieces.find(|(_, piece)| String::from_utf8_lossy(piece).contains(what));
    found.map(|(at, _)| at.as_millis())
}

#[test]
fn finished_calls_leave_as_they_came() {
    for gate in [FinishGate::new, partial] {
        for log in logs(&script()) {
            assert_eq!(Replay::new(&log).policy(gate).run().bytes(), log.bytes(), "{}", log.name());
        }
    }
}

#[test]
fn no_call_leaves_before_the_finish_and_text_before_it_flows() {
    let log = script().pace(Duration::from_millis(50)).to_log(WireKind::AnthropicMessages);
    let replayed = Replay::new(&log).policy(FinishGate::new).run();
    let free = Replay::new(&log).policy(|| crate::Passthrough).run();
    assert_eq!(left(&replayed, "Let me look."), left(&free, "Let me look."));
    let finish = left(&free, "stop_reason\":\"tool_use");
    assert_eq!(left(&replayed, "call_1"), finish);
    assert_eq!(left(&replayed, "call_2"), finish);
}

#[test]
fn with_partial_execution_a_call_leaves_when_something_follows_it() {
    let log = script().pace(Duration::from_millis(50)).to_log(WireKind::AnthropicMessages);
    let replayed = Replay::new(&log).policy(partial).run();
    let free = Replay::new(&log).policy(|| crate::Passthrough).run();
    assert_eq!(left(&replayed, "call_1"), left(&free, "call_2"));
    assert_eq!(left(&replayed, "call_2"), left(&free, "stop_reason\":\"tool_use"));
    assert_eq!(replayed.bytes(), log.bytes());
}

#[test]
fn a_call_cut_off_by_length_never_leaves_even_if_it_is_valid_json() {
    for gate in [FinishGate::new, partial] {
        for log in logs(&script().finish(Finish::Length)) {
            let replayed = Replay::new(&log).policy(gate).run();
            assert_eq!(names(&replayed), ["read_file"], "{}", log.name());
            assert_eq!(reasons(&replayed), ["the answer was cut off in or behind it"], "{}", log.name());
            valid(&replayed);
        }
    }
}

#[test]
fn length_stays_length_where_the_only_call_is_dropped() {
    let script = Script::new().call("call_1", "shell", r#"{"cmd":"in"}"#).finish(Finish::Length);
    for log in logs(&script) {
        let replayed = Replay::new(&log).policy(FinishGate::new).run();
        let view = valid(&replayed);
        assert_eq!(view.choices[0].calls, [], "{}", log.name());
        let untouched = Replay::new(&log).run().view();
        assert_eq!(view.choices[0].finish, untouched.choices[0].finish, "{}", log.name());
    }
}

#[test]
fn a_call_whose_arguments_are_not_whole_never_leaves() {
    let script = Script::new().call("call_1", "a", r#"{"x":1}"#).call("call_2", "b", r#"{"cmd":"in"#);
    for gate in [FinishGate::new, partial] {
        for kind in [WireKind::OpenAiChat, WireKind::OpenAiResponses, WireKind::AnthropicMessages] {
            let replayed = Replay::new(script.to_log(kind)).policy(gate).run();
            assert_eq!(names(&replayed), ["a"], "{kind}");
            assert_eq!(reasons(&replayed), ["its arguments are not one whole JSON value"], "{kind}");
        }
    }
}

/// The last call is complete, and then nothing comes any more.
fn silent(kind: WireKind) -> ChunkLog {
    let log = script().pause(Duration::from_secs(250)).to_log(kind);
    let finish = log.chunks().find(|(at, _)| *at >= Duration::from_secs(250)).unwrap().0;
    let until = log.chunks().filter(|(at, _)| *at < finish);
    let mut chunks: Vec<_> = until.collect();
    chunks.push((finish, ": still here\n\n".into()));
    ChunkLog::from_chunks(format!("silent.{kind}"), chunks)
}

/// The deadline counts from a call's last delta, in formats that end a call themselves and in those that do not.
#[test]
fn a_finish_that_does_not_come_has_a_deadline_in_every_format() {
    let gate = |outcome| {
        let settings = FinishGateSettings::default().deadline(Some(Duration::from_secs(5)));
        move || FinishGate::new().settings(settings.clone().without_finish(outcome))
    };
    for kind in WireKind::ALL {
        let log = silent(kind);
        let dropped = Replay::new(&log).policy(gate(WithoutFinish::Drop)).run();
        assert_eq!(names(&dropped), [""; 0], "{kind}");
        assert_eq!(reasons(&dropped), ["no finish came", "no finish came"], "{kind}");
        let released = Replay::new(&log).policy(gate(WithoutFinish::Release)).run();
        assert!(released.bytes().starts_with(log.bytes()), "{kind}");
        assert_eq!(
            (left(&released, "read_file"), left(&released, "shell")),
            (Some(5_000), Some(5_000)),
            "{kind}"
        );
        let ended = Replay::new(&log).policy(gate(WithoutFinish::End)).run();
        assert_eq!(names(&ended), [""; 0], "{kind}");
        assert_eq!(ended.view().ended, Ended::Error, "{kind}");
        assert_eq!(ended.output.last().unwrap().0, Duration::from_secs(5), "{kind}");
        valid(&ended);
    }
}

/// A call that goes on is not late, however long ago it opened.
#[test]
fn the_deadline_counts_from_the_last_delta_of_a_call() {
    let settings = FinishGateSettings::default().deadline(Some(Duration::from_secs(10)));
    let gate = move || FinishGate::new().settings(settings.clone());
    for kind in WireKind::ALL {
        // Ten deltas, three seconds apart; the finish comes nine seconds behind the last at most.
        let script = Script::new().call("call_1", "shell", r#"{"command":"ls -la"}"#);
        let log = script.argument_fragments(Fragments::Chars(2)).pace(Duration::from_secs(3)).to_log(kind);
        let quiet = Config::default().limits(Limits::default().keep_alive(None));
        let replayed = Replay::new(&log).config(quiet).policy(gate.clone()).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{kind}");
    }
}

/// A setting decides whether the terminal marker without a finish reason finishes calls.
#[test]
fn a_terminal_marker_without_a_finish_reason_finishes_calls_unless_told_otherwise() {
    for kind in [WireKind::OpenAiChat, WireKind::AnthropicMessages] {
        let full = script().to_log(kind);
        let said = |chunk: &bytes::Bytes| {
            let text = String::from_utf8_lossy(chunk).into_owned();
            text.contains("\"finish_reason\":\"") || text.contains("message_delta")
        };
        let chunks: Vec<_> = full.chunks().filter(|(_, chunk)| !said(chunk)).collect();
        let log = ChunkLog::from_chunks("no reason", chunks);
        let gate = |finishes, outcome| {
            let settings = FinishGateSettings::default().terminal_finishes(finishes).without_finish(outcome);
            move || FinishGate::new().settings(settings.clone())
        };
        let names = |finishes, outcome| names(&Replay::new(&log).policy(gate(finishes, outcome)).run());
        let both = owned(&["read_file", "shell"]);
        assert_eq!(names(true, WithoutFinish::Drop), both, "{kind}");
        assert_eq!(names(false, WithoutFinish::Drop), [""; 0], "{kind}");
        assert_eq!(names(false, WithoutFinish::Release), both, "{kind}");
        let ended = Replay::new(&log).policy(gate(false, WithoutFinish::End)).run();
        assert_eq!(ended.view().ended, Ended::Error, "{kind}");
    }
}

#[test]
fn bytes_that_end_without_a_finish_do_not_wait_for_the_deadline() {
    let full = script().to_log(WireKind::AnthropicMessages);
    let end = full.chunks().count() - 2;
    let log = ChunkLog::from_chunks("no finish", full.chunks().take(end).collect::<Vec<_>>());
    let gate =
        |outcome| move || FinishGate::new().settings(FinishGateSettings::default().without_finish(outcome));
    let dropped = Replay::new(&log).policy(gate(WithoutFinish::Drop)).run();
    assert_eq!(names(&dropped), [""; 0]);
    let released = Replay::new(&log).policy(gate(WithoutFinish::Release)).run();
    assert_eq!(released.bytes(), log.bytes());
    let ended = Replay::new(&log).policy(gate(WithoutFinish::End)).run();
    assert_eq!((names(&ended), ended.view().ended), (vec![], Ended::Error));
    for replayed in [dropped, released, ended] {
        assert_eq!(replayed.output.last().unwrap().0, Duration::ZERO);
    }
}

#[test]
fn where_the_stream_breaks_off_with_an_error_no_call_leaves_without_a_finish() {
    let settings = FinishGateSettings::default().without_finish(WithoutFinish::Release);
    let gate = move || FinishGate::new().settings(settings.clone());
    for kind in WireKind::ALL {
        let log = script().error("overloaded").to_log(kind);
        let replayed = Replay::new(&log).policy(gate.clone()).run();
        let (expected, why): (&[&str], &[&str]) = match kind {
            // Without an end of its own, the last call was still open.
            WireKind::OpenAiChat => (&[], &["no finish came", "still held at the end"]),
            // `response.failed` is a finish: only the last call may be cut off by it (rule 3).
            WireKind::OpenAiResponses => (&["read_file"], &["the answer was cut off in or behind it"]),
            _ => (&[], &["no finish came", "no finish came"]),
        };
        assert_eq!((names(&replayed), reasons(&replayed)), (owned(expected), why.to_vec()), "{kind}");
    }
}

#[test]
fn what_nobody_knows_waits_for_the_finish_too() {
    for kind in [WireKind::OpenAiResponses, WireKind::AnthropicMessages, WireKind::Gemini] {
        let script = Script::new().text("See.").opaque("robot_use", r#"{"arm":"left"}"#);
        let log = script.clone().to_log(kind);
        assert_eq!(Replay::new(&log).policy(FinishGate::new).run().bytes(), log.bytes(), "{kind}");
        let cut = script.finish(Finish::Length).to_log(kind);
        let replayed = Replay::new(&cut).policy(FinishGate::new).run();
        let bytes = replayed.bytes();
        let left = String::from_utf8_lossy(&bytes);
        assert!(!left.contains("robot"), "{kind}: {left}");
    }
}

#[test]
fn settings_are_read_from_a_file() {
    let text =
        r#"{"release":"complete","deadline":"none","without_finish":"release","terminal_finishes":false}"#;
    let settings: FinishGateSettings = serde_json::from_str(text).unwrap();
    let expected = FinishGateSettings::default()
        .release(Release::Complete)
        .deadline(None)
        .without_finish(WithoutFinish::Release)
        .terminal_finishes(false);
    assert_eq!(settings, expected);
    assert_eq!(
        serde_json::from_str::<FinishGateSettings>(r#"{"release":"maybe"}"#).unwrap_err().to_string(),
        "unknown variant `maybe`, expected `finished` or `complete` at line 1 column 18"
    );
}

#[test]
fn the_gate_keeps_every_law() {
    keeps_every_law(FinishGate::new, &[]);
}

#[test]
fn the_gate_with_partial_execution_keeps_every_law() {
    keeps_every_law(partial, &[]);
}

#[test]
fn transcript_chat() {
    assert_replay!(FinishGate::new, &script().finish(Finish::Length).to_log(WireKind::OpenAiChat));
}

#[test]
fn transcript_responses() {
    assert_replay!(FinishGate::new, &script().finish(Finish::Length).to_log(WireKind::OpenAiResponses));
}

#[test]
fn transcript_anthropic() {
    assert_replay!(FinishGate::new, &script().finish(Finish::Length).to_log(WireKind::AnthropicMessages));
}

#[test]
fn transcript_gemini() {
    assert_replay!(FinishGate::new, &script().finish(Finish::Length).to_log(WireKind::Gemini));
}
