//! Calls in the text that leave as calls.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use stream_core::Config;
use stream_core::text_calls::{DialectSet, known};
use stream_testkit::conformance::View;
use stream_testkit::{
    Finish, Fragments, Replay, Script, WireKind,
    laws::{Law, Laws, Tally},
};

use super::*;
use crate::testing::{everywhere, seen};

fn config() -> Config {
    Config::default().text_calls(DialectSet::new().with(known::hermes()).with(known::anthropic()))
}

fn each(script: &Script, check: impl Fn(&str, &View)) {
    for (kind, log) in everywhere(script) {
        let replayed = Replay::new(&log).config(config()).policy(PromoteTextCalls::new).run();
        let what = format!("{kind}, {}", log.name());
        check(&what, &seen(&what, &replayed));
    }
}

/// Names and arguments, with empty ones as the formats that have none write them.
fn calls(view: &View) -> Vec<(String, String)> {
    let calls = view.choices[0].calls.iter();
    calls.map(|call| (call.name.clone(), call.arguments.clone())).collect()
}

fn call(name: &str, arguments: &str) -> (String, String) {
    (name.to_owned(), arguments.to_owned())
}

const TWO: &str = r#"I look.<tool_call>{"name":"look","arguments":{"at":"it"}}</tool_call> And then <tool_call>{"name":"go","arguments":{"to":"there"}}</tool_call> done"#;

#[test]
fn calls_leave_as_calls_and_their_markup_is_gone() {
    each(&Script::new().text(TWO).text_fragments(Fragments::Chars(4)).usage(3, 4), |what, view| {
        assert_eq!(view.choices[0].content, "I look. And then  done", "{what}");
        let expected = [call("look", r#"{"at":"it"}"#), call("go", r#"{"to":"there"}"#)];
        assert_eq!(calls(view), expected, "{what}");
        let ids: Vec<&str> = view.choices[0].calls.iter().map(|call| call.id.as_str()).collect();
        assert!(ids[0] != ids[1] || ids[0].is_empty(), "{what}: {ids:?}");
    });
}

/// Rule 18: the first call that is added turns the finish reason; a length never changes.
#[test]
fn the_finish_reason_tells_of_the_calls_and_a_length_stays_one() {
    let log = Script::new().text(TWO).to_log(WireKind::OpenAiChat);
    let replayed = Replay::new(&log).config(config()).policy(PromoteTextCalls::new).run();
    assert_eq!(replayed.view().choices[0].finish.as_deref(), Some("tool_calls"));
    let log = Script::new().text(TWO).finish(Finish::Length).to_log(WireKind::OpenAiChat);
    let replayed = Replay::new(&log).config(config()).policy(PromoteTextCalls::new).run();
    assert_eq!(replayed.view().choices[0].finish.as_deref(), Some("length"));
}

#[test]
fn the_same_call_as_text_and_as_a_call_leaves_once() {
    let text = r#"<tool_call>{"name":"look","arguments":{"at": "it"}}</tool_call>So."#;
    each(&Script::new().text(text).call("call_1", "look", r#"{"at":"it"}"#), |what, view| {
        assert_eq!(calls(view).len(), 1, "{what}");
        assert_eq!(view.choices[0].content, "So.", "{what}");
    });
}

#[test]
fn what_is_no_call_stays_text() {
    for text in ["cut <tool_call>{\"name\":\"look\",\"argum", "a < b", "<tool_call> is a tag"] {
        for (kind, log) in everywhere(&Script::new().text(text).text_fragments(Fragments::Chars(3))) {
            let replayed = Replay::new(&log).config(config()).policy(PromoteTextCalls::new).run();
            assert_eq!(replayed.bytes(), log.bytes(), "{kind}: {text}");
        }
    }
}

#[test]
fn all_laws_hold() {
    let mut tally = Tally::default();
    for kind in WireKind::ALL {
        let laws = Laws::of(PromoteTextCalls::new).config(config());
        for text in [TWO, "a < b, and <tool_call> is a tag"] {
            let script = Script::new().text(text).text_fragments(Fragments::Chars(5));
            tally.add(&laws.clone().check(&script.to_log(kind)).unwrap());
        }
    }
    // Nothing is dropped.
    tally.assert_held_but(&[Law::NoLeak]);
}
