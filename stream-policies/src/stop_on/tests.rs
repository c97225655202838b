use stream_testkit::conformance::Ended;
use stream_testkit::laws::Tally;
use stream_testkit::{Fragments, Script, WireKind};

use super::{Ends, StopOn, StopOnSettings, StopPlace};
use crate::matcher::Pattern;
use crate::testing::{assert_says, everywhere, lawful, run, seen};

fn settings() -> StopOnSettings {
    StopOnSettings::default().pattern(Pattern::literal("phrase", "END OF"))
}

fn stop(ends: Ends) -> StopOn {
    settings().ends(ends).build().unwrap()
}

fn script(chars: usize) -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(chars))
        .text("One END. END OF two")
        .call("call_1", "look", "{}")
}

#[test]
fn what_comes_before_the_phrase_leaves_and_nothing_else_does() {
    for chars in [1, 3, 8, 100] {
        for (kind, log) in everywhere(&script(chars)) {
            for (ends, ended) in [(Ends::Refuse, Ended::Refused), (Ends::Error, Ended::Error)] {
                if ends == Ends::Error && log.name().starts_with("whole") {
                    continue;
                }
                let view = seen(&format!("{kind}, {}, {chars}", log.name()), &run(&stop(ends), &log));
                assert_eq!(view.choices[0].content, "One END. ", "{kind}, {}, {chars}", log.name());
                assert_eq!((view.ended, view.choices[0].calls.len()), (ended, 0), "{kind}, {chars}");
            }
        }
    }
}

#[test]
fn a_silent_end_is_the_upstreams_own() {
    let expected = Script::new().text("One END. ").finish(stream_testkit::Finish::Stop);
    for chars in [1, 3, 8, 100] {
        assert_says(&stop(Ends::Silently), &script(chars), &expected);
    }
}

#[test]
fn a_phrase_at_the_end_of_the_text_is_one() {
    for (kind, log) in everywhere(&Script::new().text("One. END OF")) {
        let view = seen("end", &run(&stop(Ends::Refuse), &log));
        assert_eq!((view.choices[0].content.as_str(), view.ended), ("One. ", Ended::Refused), "{kind}");
    }
}

#[test]
fn other_places_are_not_looked_at() {
    let reasoning = settings().places([StopPlace::Reasoning]).build().unwrap();
    let log = Script::new().reasoning("END OF it").text("Hello.").to_log(WireKind::OpenAiChat);
    assert_eq!(seen("content", &run(&stop(Ends::Refuse), &log)).choices[0].content, "Hello.");
    let view = seen("reasoning", &run(&reasoning, &log));
    assert_eq!((view.choices[0].content.as_str(), view.ended), ("", Ended::Refused));
}

#[test]
fn a_stream_without_the_phrase_leaves_as_it_came() {
    for (kind, log) in everywhere(&Script::new().text_fragments(Fragments::Chars(2)).text("END O F. EN")) {
        for ends in [Ends::Refuse, Ends::Silently] {
            assert_eq!(run(&stop(ends), &log).bytes(), *log.bytes(), "{kind}");
        }
    }
}

#[test]
fn all_laws_hold() {
    let mut tally = Tally::default();
    for ends in [Ends::Refuse, Ends::Silently] {
        tally.add(&lawful(move || stop(ends), &script(4)));
    }
    tally.assert_held_but(&[]);
}

#[test]
fn settings_without_a_phrase_are_refused() {
    let message = |settings: StopOnSettings| settings.build().unwrap_err().to_string();
    assert_eq!(message(StopOnSettings::default()), "stop_on.patterns: expected a pattern, found none");
    assert_eq!(message(settings().places([])), "stop_on.places: expected a place to look in, found none");
    let read: StopOnSettings =
        serde_json::from_str(r#"{"patterns":[{"name":"phrase","literal":"END OF"}],"ends":"silently"}"#)
            .unwrap();
    assert_eq!(read, settings().ends(Ends::Silently));
}

#[test]
fn signed_reasoning_with_a_phrase_leaves_without_its_text_however_it_was_split() {
    let settings = StopOnSettings::default().pattern(Pattern::literal("phrase", "secret"));
    let settings = settings.places([StopPlace::Reasoning]).ends(Ends::Silently);
    let stop = settings.build().unwrap();
    for chars in [1, 4, 100] {
        let script = Script::new().text_fragments(Fragments::Chars(chars));
        let script = script.reasoning("It is a secret plan.").text("Hello.");
        for kind in WireKind::ALL {
            // Rule 22: what is signed is never cut.
            let expected = match kind {
                WireKind::AnthropicMessages | WireKind::OpenAiResponses => "",
                WireKind::OpenAiChat | WireKind::Gemini => "It is a ",
            };
            let view = seen(&kind.to_string(), &run(&stop, &script.to_log(kind)));
            assert_eq!(view.choices[0].reasoning, expected, "{kind}, {chars}");
        }
        let clean =
            Script::new().text_fragments(Fragments::Chars(chars)).reasoning("It is a se").text("Hello.");
        for (kind, log) in everywhere(&clean) {
            assert_eq!(run(&stop, &log).bytes(), *log.bytes(), "{kind}, {chars}");
        }
    }
}
