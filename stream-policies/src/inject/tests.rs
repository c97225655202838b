use stream_core::Action;
use stream_testkit::conformance::Ended;
use stream_testkit::laws::Law;
use stream_testkit::{Fragments, Script, WireKind};

use super::{Inject, InjectSettings};
use crate::testing::{assert_lawful, everywhere, run, seen};

fn both() -> Inject {
    InjectSettings::default().before("Before. ").after(" After.").build().unwrap()
}

#[test]
fn notices_stand_before_and_after_an_answer() {
    let script =
        Script::new().text_fragments(Fragments::Chars(2)).reasoning("Hm.").text("Hello.").usage(1, 2);
    for (kind, log) in everywhere(&script) {
        let view = seen(&format!("{kind}, {}", log.name()), &run(&both(), &log));
        assert_eq!(view.choices[0].content, "Before. Hello. After.", "{kind}, {}", log.name());
        assert_eq!(view.choices[0].reasoning, "Hm.", "{kind}");
    }
}

#[test]
fn every_choice_gets_its_notices() {
    for kind in [WireKind::OpenAiChat, WireKind::Gemini] {
        let log = Script::new().text("One.").choice(1).text("Two.").interleaved().to_log(kind);
        let view = seen("choices", &run(&both(), &log));
        let said: Vec<&str> = view.choices.iter().map(|choice| choice.content.as_str()).collect();
        assert_eq!(said, ["Before. One. After.", "Before. Two. After."], "{kind}");
    }
}

#[test]
fn behind_a_call_there_may_be_no_place() {
    let script = Script::new().text("Look.").call("call_1", "look", "{}");
    for kind in WireKind::ALL {
        let log = script.to_log(kind);
        let replayed = run(&both(), &log);
        let view = seen(&kind.to_string(), &replayed);
        // A notice without a place is a recorded fact.
        let dropped = replayed.decisions.iter().filter(|decision| decision.action == Action::Dropped);
        let dropped: Vec<_> = dropped.map(|decision| (decision.reason.as_deref(), decision.bytes)).collect();
        let told = (Some("there was no place for the text"), " After.".len());
        let expected = if kind == WireKind::AnthropicMessages { vec![told] } else { vec![] };
        assert_eq!(dropped, expected, "{kind}");
        let after = if kind == WireKind::AnthropicMessages { "" } else { " After." };
        assert_eq!(view.choices[0].content, format!("Before. Look.{after}"), "{kind}");
        assert_eq!(view.choices[0].calls.len(), 1, "{kind}");
    }
    let required = InjectSettings::default().after("After.").required().build().unwrap();
    let view = seen("required", &run(&required, &script.to_log(WireKind::AnthropicMessages)));
    assert_eq!(view.ended, Ended::Error);
}

#[test]
fn a_notice_stands_before_a_call_that_opens_the_answer() {
    for (kind, log) in everywhere(&Script::new().call("call_1", "look", "{}")) {
        let view = seen(&format!("{kind}, {}", log.name()), &run(&both(), &log));
        assert!(view.choices[0].content.starts_with("Before. "), "{kind}: {view:?}");
        assert_eq!(view.choices[0].calls.len(), 1, "{kind}");
    }
}

#[test]
fn all_laws_hold() {
    let script = Script::new().text_fragments(Fragments::Chars(2)).reasoning("Hm.").text("Hello.");
    assert_lawful(&both(), &script, &[Law::Identity, Law::NoLeak]);
}

#[test]
fn notices_that_say_nothing_are_refused() {
    let message = |settings: InjectSettings| settings.build().unwrap_err().to_string();
    assert_eq!(message(InjectSettings::default()), "inject: expected `before` or `after`, found neither");
    assert_eq!(
        message(InjectSettings::default().before("")),
        "inject: expected a notice, found an empty one"
    );
}
