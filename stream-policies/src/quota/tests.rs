use std::time::Duration;

use stream_testkit::conformance::Ended;
use stream_testkit::laws::Tally;
use stream_testkit::{Fragments, Script, WireKind};

use super::{Quota, QuotaSettings};
use crate::testing::{everywhere, lawful, run, seen};

fn quota(settings: QuotaSettings) -> Quota {
    settings.build().unwrap()
}

#[test]
fn text_is_cut_at_a_character_where_the_quota_ends() {
    let quota = quota(QuotaSettings::default().bytes(6));
    for chars in [1, 4, 100] {
        let script = Script::new().text_fragments(Fragments::Chars(chars)).text("größe und mehr");
        for (kind, log) in everywhere(&script) {
            let view = seen(&format!("{kind}, {}", log.name()), &run(&quota, &log));
            assert_eq!((view.choices[0].content.as_str(), view.ended), ("größ", Ended::Refused), "{kind}");
        }
    }
}

#[test]
fn a_call_over_the_quota_does_not_leave() {
    let quota = quota(QuotaSettings::default().bytes(12));
    let script = Script::new()
        .argument_fragments(Fragments::Chars(3))
        .text("Look")
        .call("call_1", "look", r#"{"a":1}"#)
        .call("call_2", "look", r#"{"a":2}"#);
    for kind in WireKind::ALL {
        let view = seen(&kind.to_string(), &run(&quota, &script.to_log(kind)));
        let calls: Vec<&str> = view.choices[0].calls.iter().map(|call| call.arguments.as_str()).collect();
        assert_eq!(calls, [r#"{"a":1}"#], "{kind}");
    }
}

#[test]
fn one_call_too_many_ends_the_stream() {
    let quota = quota(QuotaSettings::default().calls(1));
    let script = Script::new().call("call_1", "look", "{}").call("call_2", "look", "{}");
    for kind in WireKind::ALL {
        let view = seen(&kind.to_string(), &run(&quota, &script.to_log(kind)));
        assert_eq!(view.choices[0].calls.len(), 1, "{kind}");
        assert_ne!(view.ended, Ended::Clean, "{kind}");
    }
}

#[test]
fn one_block_too_many_ends_the_stream() {
    let quota = quota(QuotaSettings::default().blocks(2).error());
    let script = Script::new().reasoning("Hm.").text("Look.").call("call_1", "look", "{}");
    for kind in WireKind::ALL {
        let view = seen(&kind.to_string(), &run(&quota, &script.to_log(kind)));
        let choice = &view.choices[0];
        assert_eq!((choice.content.as_str(), choice.calls.len()), ("Look.", 0), "{kind}");
        assert_eq!(view.ended, Ended::Error, "{kind}");
    }
}

#[test]
fn what_comes_too_late_does_not_leave() {
    let quota = quota(QuotaSettings::default().time(Duration::from_secs(3)));
    let script =
        Script::new().text_fragments(Fragments::Chars(1)).text("abcdef").pace(Duration::from_secs(1));
    let view = seen("late", &run(&quota, &script.to_log(WireKind::Gemini)));
    assert_eq!((view.choices[0].content.as_str(), view.ended), ("abcd", Ended::Refused));
}

#[test]
fn an_answer_within_the_quota_leaves_as_it_came() {
    let quota = quota(QuotaSettings::default().bytes(100).blocks(9).calls(2).time(Duration::from_secs(9)));
    let script = Script::new().reasoning("Hm.").text("Look.").call("call_1", "look", "{}");
    for (kind, log) in everywhere(&script) {
        assert_eq!(run(&quota, &log).bytes(), *log.bytes(), "{kind}");
    }
}

#[test]
fn all_laws_hold() {
    let script = Script::new()
        .text_fragments(Fragments::Chars(3))
        .reasoning("Hm.")
        .text("Hello, größe.")
        .call("call_1", "look", r#"{"a":1}"#);
    let bytes = [7, 19, 40].map(|bytes| QuotaSettings::default().bytes(bytes));
    let mut tally = Tally::default();
    for settings in bytes.into_iter().chain([QuotaSettings::default().blocks(1)]) {
        let quota = quota(settings);
        tally.add(&lawful(move || quota.clone(), &script));
    }
    tally.assert_held_but(&[]);
}

#[test]
fn a_quota_without_a_limit_is_refused() {
    let message = |settings: QuotaSettings| settings.build().unwrap_err().to_string();
    assert_eq!(
        message(QuotaSettings::default()),
        "quota: expected `bytes`, `blocks`, `calls` or `seconds`, found none of them"
    );
    let negative: QuotaSettings = serde_json::from_str(r#"{"seconds":-1.0}"#).unwrap();
    assert_eq!(message(negative), "quota.seconds: expected a number of seconds, found -1");
}

#[test]
fn reasoning_is_cut_alike_however_it_was_split_and_signed_reasoning_not_at_all() {
    let quota = quota(QuotaSettings::default().bytes(10));
    for chars in [1, 4, 100] {
        let script = Script::new()
            .text_fragments(Fragments::Chars(chars))
            .reasoning("They want a greeting.")
            .text("Hello.");
        for kind in WireKind::ALL {
            // An ending within thinking comes before its signature.
            let view = run(&quota, &script.to_log(kind)).view();
            // Rule 22: what is signed leaves as it is, or without its text.
            let expected = match kind {
                WireKind::AnthropicMessages | WireKind::OpenAiResponses => "",
                WireKind::OpenAiChat | WireKind::Gemini => "They want ",
            };
            let reasoning = view.choices.first().map_or("", |choice| choice.reasoning.as_str());
            assert_eq!((reasoning, &view.ended), (expected, &Ended::Refused), "{kind}, {chars}");
        }
    }
}

#[test]
fn signed_reasoning_within_the_quota_leaves_as_it_came() {
    let quota = quota(QuotaSettings::default().bytes(1000));
    let script =
        Script::new().text_fragments(Fragments::Chars(4)).reasoning("They want a greeting.").text("Hello.");
    for (kind, log) in everywhere(&script) {
        assert_eq!(run(&quota, &log).bytes(), *log.bytes(), "{kind}");
    }
}
