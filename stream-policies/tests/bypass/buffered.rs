//! The judge that lets nothing leave before it was asked.

use stream_core::Action;
use stream_testkit::conformance::Ended;
use stream_testkit::{ChunkLog, Finish, Fragments, Replay, Script, WireKind};

use crate::kit::{buffered, ran};

const HELD: (Action, &str) = (Action::Dropped, "still held at the end");

fn logs(script: &Script, kind: WireKind) -> [ChunkLog; 2] {
    [script.to_log(kind), ChunkLog::from_whole("whole", script.whole(kind))]
}

#[test]
fn of_a_denied_call_and_the_text_before_it_nothing_leaves_in_any_format() {
    let script = Script::new()
        .reasoning("Thinking of hidden things.")
        .text("A hidden text.")
        .call("call_hidden", "Bash", r#"{"command":"hidden"}"#)
        .text("More hidden text.");
    for kind in WireKind::ALL {
        for log in logs(&script, kind) {
            let ran = ran(&Replay::new(&log).policy(buffered).run());
            assert_eq!(ran.out.matches("hidden").count(), 0, "{kind}: {}", ran.out);
            assert_eq!(
                (ran.view.ended, ran.edits()[0]),
                (Ended::Refused, (Action::Terminated, "no shells")),
                "{kind}"
            );
            assert!(ran.edits()[1..].iter().all(|edit| *edit == HELD), "{kind}");
        }
    }
}

#[test]
fn what_was_approved_before_a_denied_call_has_left_and_nothing_behind_it_does() {
    let script =
        Script::new().text("ok").call("call_1", "ls", "{}").call("call_2", "bash", r#"{"command":"rm"}"#);
    for kind in WireKind::ALL {
        let ran = ran(&Replay::new(script.to_log(kind)).policy(buffered).run());
        let names: Vec<_> = ran.view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
        assert_eq!(names, ["ls"], "{kind}");
        assert_eq!(
            ran.out.matches("bash").count() + ran.out.matches("\"rm\"").count(),
            0,
            "{kind}: {}",
            ran.out
        );
    }
}

#[test]
fn a_call_of_another_choice_does_not_leave_with_the_approval_of_the_first() {
    let script = Script::new()
        .text("one")
        .call("call_1", "ls", r#"{"path":"somewhere"}"#)
        .choice(1)
        .text("two")
        .call("call_2", "bash", r#"{"command":"rm -rf /"}"#)
        .argument_fragments(Fragments::Chars(3))
        .interleaved();
    for kind in [WireKind::OpenAiChat, WireKind::Gemini] {
        let ran = ran(&Replay::new(script.to_log(kind)).policy(buffered).run());
        assert_eq!(
            ran.out.matches("bash").count() + ran.out.matches("rm ").count(),
            0,
            "{kind}: {}",
            ran.out
        );
        let calls = ran.view.choices.iter().flat_map(|choice| &choice.calls);
        assert_eq!(calls.filter(|call| call.name == "bash").count(), 0, "{kind}");
    }
}

#[test]
fn a_call_that_is_cut_off_is_not_asked_about_and_does_not_leave_with_the_text_at_the_end() {
    let script = Script::new()
        .text("ok")
        .call("call_1", "run", r#"{"command":"rm -rf /"}"#)
        .argument_fragments(Fragments::Chars(4))
        .cut();
    for kind in [WireKind::OpenAiChat, WireKind::OpenAiResponses, WireKind::AnthropicMessages] {
        let ran = ran(&Replay::new(script.to_log(kind)).policy(buffered).run());
        assert_eq!(ran.out.matches("run").count(), 0, "{kind}: {}", ran.out);
        assert_eq!(ran.view.choices[0].content, "ok", "{kind}");
        assert_eq!(ran.view.choices[0].calls, [], "{kind}");
    }
}

#[test]
fn a_finish_for_length_does_not_spare_a_call_its_judgement() {
    let script =
        Script::new().text("ok").call("call_1", "bash", r#"{"command":"rm"}"#).finish(Finish::Length);
    for kind in WireKind::ALL {
        for log in logs(&script, kind) {
            let ran = ran(&Replay::new(&log).policy(buffered).run());
            assert_eq!(ran.out.matches("bash").count(), 0, "{kind}: {}", ran.out);
        }
    }
}
