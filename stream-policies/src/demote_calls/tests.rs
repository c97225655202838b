//! Calls that leave as text.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use stream_core::text_calls::known;
use stream_testkit::laws::Law;
use stream_testkit::{Fragments, Replay, Script, WireKind};

use super::*;
use crate::testing::{assert_lawful, everywhere, run, seen};

fn hermes() -> DemoteCalls {
    DemoteCallsSettings::dialect("hermes").build().unwrap()
}

fn script() -> Script {
    Script::new()
        .text("I look. ")
        .call("call_1", "look", r#"{"place":"garden"}"#)
        .call("call_2", "wait", "{}")
        .argument_fragments(Fragments::Chars(4))
        .usage(3, 4)
}

#[test]
fn calls_leave_as_text_and_the_answer_stops() {
    let text = |name, arguments| known::hermes().write(name, arguments).unwrap();
    let expected = format!("I look. {}{}", text("look", r#"{"place":"garden"}"#), text("wait", "{}"));
    for (kind, log) in everywhere(&script()) {
        let what = format!("{kind}, {}", log.name());
        let view = seen(&what, &run(&hermes(), &log));
        assert_eq!(view.choices[0].content, expected, "{what}");
        assert_eq!(view.choices[0].calls, [], "{what}");
    }
    let log = script().to_log(WireKind::OpenAiChat);
    assert_eq!(run(&hermes(), &log).view().choices[0].finish.as_deref(), Some("stop"));
}

#[test]
fn a_call_that_the_dialect_cannot_say_is_dropped() {
    let demote = DemoteCallsSettings::dialect("qwen3-coder").build().unwrap();
    let log = Script::new().text("So.").call("call_1", "look", "\"no object\"").to_log(WireKind::OpenAiChat);
    let replayed = run(&demote, &log);
    assert_eq!(replayed.view().choices[0].content, "So.");
    assert_eq!(replayed.decisions[0].reason.as_deref(), Some("it cannot be said in the dialect"));
}

/// Rule 15.
#[test]
fn a_policy_behind_it_that_needs_calls_is_refused() {
    let chain = stream_core::Chain::new().then(hermes()).then(crate::FinishGate::new());
    let refused = stream_core::Engine::new(stream_core::Config::default(), chain).map(drop);
    let (hider, blind) = ("demote_calls".to_owned(), "finish_gate".to_owned());
    assert_eq!(refused, Err(stream_core::BuildError::BlindPolicy { hider, blind }));
}

#[test]
fn all_laws_hold() {
    assert_lawful(&hermes(), &script(), &[Law::Agreement]);
}

#[test]
fn what_was_written_as_text_stays_as_it_is() {
    let text = r#"<tool_call>{"name":"a","arguments":{}}</tool_call>"#;
    let config = stream_core::Config::default()
        .text_calls(stream_core::text_calls::DialectSet::new().with(known::hermes()));
    for (kind, log) in everywhere(&Script::new().text(text)) {
        let replayed = Replay::new(&log).config(config.clone()).policy(hermes).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{kind}");
    }
}
