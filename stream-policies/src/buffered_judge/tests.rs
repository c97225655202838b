//! The judge over scripted streams of every format.

use std::time::Duration;

use stream_core::{Action, Replacement, Verdict};
use stream_testkit::conformance::Ended;
use stream_testkit::{Fragments, Replay, Replayed, Script, WireKind, assert_replay};

use super::{BufferedJudge, BufferedJudgeSettings};
use crate::CompletedCall;
use crate::testing::{keeps_every_law, logs, valid};

fn script() -> Script {
    Script::new()
        .text("Let me look.")
        .call("call_1", "read_file", r#"{"path":"a.txt"}"#)
        .call("call_2", "shell", r#"{"command":"rm -rf /"}"#)
        .argument_fragments(Fragments::Chars(7))
        .usage(10, 20)
}

fn allow() -> BufferedJudge {
    BufferedJudge::new(async |_: CompletedCall| Ok(Verdict::Release))
}

/// Allows what only reads.
fn reader() -> BufferedJudge {
    BufferedJudge::new(async |call: CompletedCall| match call.name() {
        "read_file" => Ok(Verdict::Release),
        _ => Ok(Verdict::drop("it does more than read")),
    })
}

/// What the ending tells the client, where its format has the place for it.
fn told(replayed: &Replayed) -> String {
    let refusal = valid(replayed).choices[0].refusal.clone();
    let field = match replayed.format {
        WireKind::AnthropicMessages => "\"explanation\":\"",
        WireKind::Gemini => "\"finishMessage\":\"",
        _ => return refusal,
    };
    let bytes = replayed.bytes();
    let text = String::from_utf8_lossy(&bytes);
    let (_, told) = text.split_once(field).unwrap();
    told.split('"').next().unwrap().to_owned()
}

#[test]
fn what_is_approved_is_flushed_as_it_came() {
    for log in logs(&script()) {
        let replayed = Replay::new(&log).policy(allow).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{}", log.name());
    }
}

#[test]
fn a_denial_tells_the_reason_in_a_valid_ending_and_nothing_of_the_call() {
    for log in logs(&script()) {
        let replayed = Replay::new(&log).policy(reader).run();
        let view = valid(&replayed);
        assert_eq!(view.ended, Ended::Refused, "{}", log.name());
        assert_eq!(told(&replayed), "it does more than read", "{}", log.name());
        let bytes = replayed.bytes();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("shell") && !text.contains("rm -rf"), "{}: {text}", log.name());
        // The first call was approved, and what stood before it left with it.
        if !log.is_whole() {
            let names: Vec<&str> = view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
            assert_eq!(names, ["read_file"], "{}", log.name());
        }
        let ended: Vec<_> = replayed.decisions.iter().filter(|it| it.action == Action::Terminated).collect();
        assert_eq!(ended.len(), 1, "{}", log.name());
    }
}

#[test]
fn the_client_of_a_stream_without_calls_sees_nothing_before_its_end() {
    let pace = Duration::from_millis(100);
    for kind in WireKind::ALL {
        let script = Script::new().text("Only words.").text_fragments(Fragments::Chars(3)).pace(pace);
        let log = script.to_log(kind);
        let replayed = Replay::new(&log).policy(allow).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{kind}");
        let end = log.chunks().map(|(at, _)| at).last().unwrap();
        let early: String = replayed
            .output
            .iter()
            .filter(|(at, _)| *at < end)
            .map(|(_, piece)| String::from_utf8_lossy(piece).into_owned())
            .collect();
        for word in ["Onl", "y w", "ord"] {
            assert!(!early.contains(word), "{kind}: {early}");
        }
    }
}

#[test]
fn an_approval_flushes_no_call_of_another_choice_that_is_still_open() {
    let script = Script::new()
        .call("call_1", "read_file", r#"{"path":"a.txt"}"#)
        .choice(1)
        .call("call_2", "shell", r#"{"command":"rm -rf /"}"#)
        .argument_fragments(Fragments::Chars(7))
        .interleaved();
    for kind in [WireKind::OpenAiChat, WireKind::Gemini] {
        let replayed = Replay::new(script.to_log(kind)).policy(reader).run();
        let bytes = replayed.bytes();
        let text = String::from_utf8_lossy(&bytes);
        assert!(!text.contains("shell") && !text.contains("rm"), "{kind}: {text}");
        // In chat the finish of the first choice has left: only the error is left to say (rule 20).
        let ended = if kind == WireKind::OpenAiChat { Ended::Error } else { Ended::Refused };
        assert_eq!(replayed.view().ended, ended, "{kind}");
    }
}

#[test]
fn a_replacement_is_flushed_in_place_of_the_call() {
    let swap = || {
        BufferedJudge::new(async |_: CompletedCall| {
            Ok(Verdict::Replace(Replacement::arguments(r#"{"dry":1}"#)))
        })
    };
    for log in logs(&script()) {
        let view = valid(&Replay::new(&log).policy(swap).run());
        let arguments: Vec<_> = view.choices[0].calls.iter().map(|call| call.arguments.as_str()).collect();
        assert_eq!(arguments, [r#"{"dry":1}"#; 2], "{}", log.name());
        assert_eq!(view.choices[0].content, "Let me look.", "{}", log.name());
    }
}

#[test]
fn at_a_cut_text_leaves_and_an_incomplete_call_does_not() {
    let script = Script::new()
        .text("Let me look.")
        .call("call_1", "shell", r#"{"command":"rm -rf /"}"#)
        .argument_fragments(Fragments::Chars(7))
        .cut();
    for kind in [WireKind::OpenAiChat, WireKind::OpenAiResponses, WireKind::AnthropicMessages] {
        let replayed = Replay::new(script.to_log(kind)).policy(allow).run();
        let view = replayed.view();
        assert_eq!(view.choices[0].content, "Let me look.", "{kind}");
        assert_eq!(view.choices[0].calls, [], "{kind}");
        assert_eq!(view.ended, Ended::Error, "{kind}");
    }
}

#[test]
fn the_message_is_a_setting() {
    let settings = BufferedJudgeSettings::default().message("Blocked.");
    let gate = move || reader().settings(settings.clone());
    for log in logs(&script()) {
        let replayed = Replay::new(&log).policy(gate.clone()).run();
        assert_eq!(told(&replayed), "Blocked.", "{}", log.name());
    }
    let wrong = serde_json::from_str::<BufferedJudgeSettings>(r#"{"massage":""}"#).unwrap_err();
    assert_eq!(wrong.to_string(), "unknown field `massage`, expected `message` at line 1 column 10");
}

#[test]
fn a_judge_that_allows_keeps_every_law() {
    keeps_every_law(allow, &[]);
}

#[test]
fn a_judge_that_denies_keeps_every_law() {
    keeps_every_law(reader, &[]);
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
