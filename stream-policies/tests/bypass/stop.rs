//! Phrases that end a stream.

use stream_core::Action;
use stream_policies::stop_on::{Ends, StopPlace};
use stream_policies::{Pattern, StopOn, StopOnSettings};
use stream_testkit::conformance::Ended;
use stream_testkit::{Fragments, Replay, Script, WireKind};

use crate::kit::chat::{DONE, call, end, finish, text};
use crate::kit::{anthropic, data, ran, run, whole};

fn settings() -> StopOnSettings {
    StopOnSettings::default().pattern(Pattern::literal("phrase", "END OF"))
}

fn stop() -> StopOn {
    settings().build().unwrap()
}

#[test]
fn a_phrase_split_at_every_place_ends_every_format() {
    for kind in WireKind::ALL {
        for chars in 1..8 {
            let script = Script::new().text_fragments(Fragments::Chars(chars)).text("One. END OF two.");
            let ran = ran(&Replay::new(script.to_log(kind)).policy(stop).run());
            assert_eq!(ran.view.choices[0].content, "One. ", "{kind} {chars}");
            assert_eq!(ran.view.ended, Ended::Refused, "{kind} {chars}");
        }
    }
}

#[test]
fn a_phrase_across_a_finish_a_call_or_a_block_ends_the_stream() {
    let over_finish = run(stop, &(text("One. END") + &finish("stop") + &text(" OF two") + &end("stop")));
    assert_eq!(over_finish.view.choices[0].content, "One. ");
    let over_call =
        run(stop, &(text("One. END") + &call(0, "a", "ls", "{}") + &text(" OF two") + &end("stop")));
    assert_eq!(over_call.view.choices[0].content, "One. ");
    assert_eq!(over_call.view.choices[0].calls, []);
    let over_block = run(
        stop,
        &(anthropic::start()
            + &anthropic::text(0, "One. END")
            + &anthropic::text(1, " OF two")
            + &anthropic::end("end_turn")),
    );
    assert_eq!(
        (over_block.view.choices[0].content.as_str(), over_block.view.ended),
        ("One. ", Ended::Refused)
    );
}

#[test]
fn behind_a_phrase_that_ends_silently_no_call_and_no_choice_slips_out() {
    let silent = || settings().ends(Ends::Silently).build().unwrap();
    let body = text("One. END OF")
        + &call(0, "a", "bash", "{}")
        + &text("two")
        + &finish("tool_calls")
        + &text("three")
        + DONE;
    let ran = run(silent, &body);
    assert_eq!(ran.view.choices[0].content, "One. ");
    assert_eq!(ran.view.choices[0].calls, []);
    assert_eq!(
        ran.out.matches("bash").count() + ran.out.matches("two").count() + ran.out.matches("three").count(),
        0
    );
}

#[test]
fn a_phrase_in_one_choice_ends_the_others_too() {
    let both = data(
        r#"{"id":"c","choices":[{"index":0,"delta":{"content":"One. END OF"},"finish_reason":null},{"index":1,"delta":{"content":"two"},"finish_reason":null}]}"#,
    );
    let ran = run(stop, &(both + &end("stop")));
    assert_eq!(ran.view.ended, Ended::Refused);
    assert_eq!(ran.out.matches("END").count(), 0, "{}", ran.out);
}

#[test]
fn a_phrase_in_reasoning_or_a_refusal_counts_where_it_is_looked_for() {
    let all =
        || settings().places([StopPlace::Content, StopPlace::Reasoning, StopPlace::Refusal]).build().unwrap();
    for kind in WireKind::ALL {
        for script in [Script::new().reasoning("x END OF y").text("ok"), Script::new().refusal("x END OF y")]
        {
            let ran = ran(&Replay::new(script.to_log(kind)).policy(all).run());
            assert_eq!(ran.out.matches("END OF").count(), 0, "{kind}: {}", ran.out);
            assert_eq!(ran.edits().iter().filter(|it| it.0 == Action::Terminated).count(), 1, "{kind}");
        }
    }
}

#[test]
fn a_phrase_in_a_whole_response_ends_it_there() {
    for kind in WireKind::ALL {
        let script = Script::new().text("One. END OF two.").call("call_1", "bash", "{}");
        let ran = whole(stop, std::str::from_utf8(&script.whole(kind)).unwrap());
        assert_eq!(
            (ran.view.choices[0].content.as_str(), ran.view.ended),
            ("One. ", Ended::Refused),
            "{kind}"
        );
        assert_eq!(
            ran.out.matches("bash").count() + ran.out.matches("two").count(),
            0,
            "{kind}: {}",
            ran.out
        );
    }
}

#[test]
fn more_undecided_text_than_the_limit_counts_as_a_phrase() {
    let regex = || {
        StopOnSettings::default()
            .pattern(Pattern::regex("long", "BEGIN[a-z]+END"))
            .hold_limit(16)
            .build()
            .unwrap()
    };
    let ran = run(regex, &(text("a BEGIN") + &text(&"k".repeat(60)) + &text("END b") + &end("stop")));
    assert_eq!(ran.out.matches('k').count(), 0, "{}", ran.out);
    assert_eq!(ran.view.ended, Ended::Refused);
}
