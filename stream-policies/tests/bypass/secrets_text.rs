//! Secrets in text, split over whatever can split them.

use stream_core::Action;
use stream_policies::{AtLimit, BlockEnds, CompletedCall, Pattern, Redact, RedactSettings, ToolGate};
use stream_testkit::conformance::Ended;
use stream_testkit::{Fragments, Replay, Script, WireKind};

use crate::kit::chat::{DONE, choice, delta, end, finish, text};
use crate::kit::{anthropic, data, gemini, ran, run};

fn settings() -> RedactSettings {
    RedactSettings::default().pattern(Pattern::literal("word", "secret"))
}

pub(crate) fn redact() -> Redact {
    settings().build().unwrap()
}

const FOUND: &[(Action, &str)] = &[(Action::Edited, "found word")];

#[test]
fn a_secret_split_at_every_place_is_found_in_every_format() {
    for kind in WireKind::ALL {
        for chars in 1..8 {
            let script = Script::new().text_fragments(Fragments::Chars(chars)).text("It is secret. secrets");
            let ran = ran(&Replay::new(script.to_log(kind)).policy(redact).run());
            assert_eq!(ran.view.choices[0].content, "It is [redacted]. [redacted]s", "{kind} {chars}");
        }
    }
}

#[test]
fn a_secret_whose_pieces_come_between_those_of_another_choice_is_found() {
    let body = choice(0, r#"{"role":"assistant","content":"a sec"}"#)
        + &choice(1, r#"{"role":"assistant","content":"b sec"}"#)
        + &choice(0, r#"{"content":"ret c"}"#)
        + &choice(1, r#"{"content":"ond d"}"#)
        + &finish("stop")
        + &data(r#"{"id":"c","choices":[{"index":1,"delta":{},"finish_reason":"stop"}]}"#)
        + DONE;
    let ran = run(redact, &body);
    assert_eq!(ran.view.choices[0].content, "a [redacted] c");
    assert_eq!(ran.view.choices[1].content, "b second d");
}

#[test]
fn a_secret_across_any_number_of_finishes_is_found() {
    let body = text("a s") + &finish("stop") + &text("ecr") + &finish("stop") + &text("et b") + &end("stop");
    let ran = run(redact, &body);
    assert_eq!(ran.view.choices[0].content, "a [redacted] b");
}

#[test]
fn a_finish_on_every_chunk_hides_nothing() {
    let chunk = |text: &str| {
        data(&format!(
            r#"{{"id":"c","choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":"stop"}}]}}"#
        ))
    };
    let ran = run(redact, &(chunk("a se") + &chunk("cr") + &chunk("et b") + DONE));
    assert_eq!(ran.view.choices[0].content, "a [redacted] b");
}

#[test]
fn a_secret_across_a_call_is_found_where_clients_put_texts_together() {
    for kind in WireKind::ALL {
        let script = Script::new().text("a sec").call("call_1", "look", "{}").text("ret b");
        let ran = ran(&Replay::new(script.to_log(kind)).policy(redact).run());
        assert_eq!(ran.view.choices[0].content, "a [redacted] b", "{kind}");
        assert_eq!(ran.view.choices[0].calls.len(), 1, "{kind}");
    }
}

#[test]
fn a_secret_across_two_text_blocks_is_found() {
    use anthropic::{end, start, text};
    let ran = run(redact, &(start() + &text(0, "a sec") + &text(1, "ret b") + &end("end_turn")));
    assert_eq!(ran.view.choices[0].content, "a [redacted] b");
    assert_eq!(ran.edits()[0], FOUND[0]);
}

#[test]
fn a_secret_across_thinking_is_found() {
    for kind in WireKind::ALL {
        let script = Script::new().text("a sec").reasoning("Well.").text("ret b");
        let ran = ran(&Replay::new(script.to_log(kind)).policy(redact).run());
        assert_eq!(ran.view.choices[0].content, "a [redacted] b", "{kind}");
    }
}

#[test]
fn a_secret_across_two_blocks_of_reasoning_leaves_by_half_unless_the_setting_waits() {
    let script = Script::new().reasoning("a sec").text("x").reasoning("ret b");
    let waits = || settings().block_ends(BlockEnds::Wait).build().unwrap();
    for kind in [WireKind::OpenAiChat, WireKind::Gemini] {
        let log = script.to_log(kind);
        let half = ran(&Replay::new(&log).policy(redact).run());
        assert_eq!(half.view.choices[0].reasoning, "a sec[redacted] b", "{kind}");
        let none = ran(&Replay::new(&log).policy(waits).run());
        assert_eq!(none.view.choices[0].reasoning, "a [redacted] b", "{kind}");
    }
}

#[test]
fn a_secret_at_the_very_end_is_found_with_and_without_an_ending() {
    let clean = run(redact, &(text("a ") + &text("sec") + &text("ret") + &end("stop")));
    assert_eq!(clean.view.choices[0].content, "a [redacted]");
    let cut = run(redact, &(text("a ") + &text("sec") + &text("ret")));
    assert_eq!(cut.view.choices[0].content, "a [redacted]");
    // What was never more than the start of one may leave.
    let start = run(redact, &(text("a ") + &text("sec") + &end("stop")));
    assert_eq!(start.out, text("a ") + &text("sec") + &end("stop"));
}

#[test]
fn text_over_the_hold_limit_is_withheld_until_no_match_is_under_way() {
    let settings = RedactSettings::default().pattern(Pattern::regex("key", "KEY[a-z]+!"));
    let limit = |at| {
        let settings = settings.clone().hold_limit(16, at);
        move || settings.clone().build().unwrap()
    };
    let body: String = ["a KEY", &"k".repeat(40), &"k".repeat(40), "! b"].iter().map(|it| text(it)).collect();
    let body = body + &end("stop");
    // What follows is withheld until no match can be under way, here for one character.
    let ran = run(limit(AtLimit::Redact), &body);
    assert_eq!(ran.view.choices[0].content, "a [redacted]b");
    let ran = run(limit(AtLimit::Terminate), &body);
    assert_eq!((ran.view.ended, ran.out.matches("kk").count()), (Ended::Error, 0));
}

#[test]
fn what_stands_for_a_secret_makes_no_secret_with_its_neighbours() {
    // The classic: take out the inner word, and the outer one remains.
    let ran = run(redact, &(text("a secsecretret b") + &end("stop")));
    assert_eq!(ran.view.choices[0].content, "a sec[redacted]ret b");
    let joins =
        |replacement: &str| settings().replacement(replacement).build().err().map(|it| it.to_string());
    assert_eq!(
        joins(""),
        Some(
            "redact.replacement: expected a text that parts what stands beside it, found nothing".to_owned()
        )
    );
    assert_eq!(
        joins("my secret"),
        Some("redact.replacement: expected a text in which nothing is found, found word in it".to_owned())
    );
    assert_eq!(joins("*"), None);
}

#[test]
fn a_secret_in_other_case_is_found_if_the_pattern_says_so() {
    let blind = || {
        let settings = RedactSettings::default();
        settings.pattern(Pattern::literal("word", "Secret").ignore_case()).build().unwrap()
    };
    let ran = run(blind, &(text("a SEC") + &text("rEt b") + &end("stop")));
    assert_eq!(ran.view.choices[0].content, "a [redacted] b");
    // Other disguises are other texts: no list of them ends.
    let body = text("a s\u{200b}ecret ｓｅｃｒｅｔ s e c r e t") + &end("stop");
    assert_eq!(run(redact, &body).out, body);
}

#[test]
fn escapes_of_the_wire_hide_nothing() {
    let body = text(r"a \u0073\u0065cr") + &text(r"\u0065t b") + &end("stop");
    assert_eq!(run(redact, &body).view.choices[0].content, "a [redacted] b");
    let emoji = || RedactSettings::default().pattern(Pattern::literal("face", "😀x")).build().unwrap();
    let body = text(r"a \ud83d\ude00x b") + &end("stop");
    assert_eq!(run(emoji, &body).view.choices[0].content, "a [redacted] b");
}

#[test]
fn a_secret_in_a_candidate_with_several_parts_is_found() {
    let body =
        gemini::parts(r#"{"text":"a se"},{"text":"cr"}"#) + &gemini::last(r#"{"text":"et b"}"#, "STOP");
    assert_eq!(run(redact, &body).view.choices[0].content, "a [redacted] b");
}

#[test]
fn a_secret_that_comes_with_the_opening_of_its_block_is_found() {
    use anthropic::{delta as block, end, open, start, start_with, stop};
    let opened = start()
        + &open(0, r#"{"type":"text","text":"a sec"}"#)
        + &block(0, r#"{"type":"text_delta","text":"ret b"}"#)
        + &stop(0)
        + &end("end_turn");
    assert_eq!(run(redact, &opened).view.choices[0].content, "a [redacted] b");
    let message = start_with(r#"{"type":"text","text":"a secret b"}"#) + &end("end_turn");
    let ran = run(redact, &message);
    assert_eq!(ran.out.matches("secret").count(), 0, "{}", ran.out);
    assert_eq!(ran.view.choices[0].content, "a [redacted] b");
}

#[test]
fn text_that_a_later_gate_lets_go_has_been_redacted() {
    // In a chain each sees what the one before let go.
    let gate = || ToolGate::new(async |_: CompletedCall| Ok(stream_core::Verdict::Release));
    for kind in WireKind::ALL {
        let script = Script::new().text("a secret").call("call_1", "look", r#"{"a":"secret"}"#);
        for redact_first in [true, false] {
            let replay = Replay::new(script.to_log(kind));
            let replay = if redact_first {
                replay.policy(redact).policy(gate)
            } else {
                replay.policy(gate).policy(redact)
            };
            let ran = ran(&replay.run());
            assert_eq!(ran.out.matches("secret").count(), 0, "{kind}");
            assert_eq!(ran.view.choices[0].calls[0].arguments, r#"{"a":"[redacted]"}"#, "{kind}");
        }
    }
}

#[test]
fn list_content_is_one_text() {
    let body = delta(
        r#"{"role":"assistant","content":[{"type":"text","text":"a se"},{"type":"text","text":"cret b"}]}"#,
    ) + &end("stop");
    let ran = run(redact, &body);
    assert_eq!(ran.out.matches("cret").count(), 0, "{}", ran.out);
    // Some clients take strings, and parts without a type, for text.
    for parts in [
        r#""a se","cret b""#,
        r#"{"text":"a se"},{"text":"cret b"}"#,
        r#"{"type":null,"text":"a se"},{"type":"","text":"cret b"}"#,
    ] {
        let body = delta(&format!(r#"{{"role":"assistant","content":[{parts}]}}"#)) + &end("stop");
        let ran = run(redact, &body);
        assert_eq!((ran.error, ran.out.matches("cret").count()), (None, 0), "{}", ran.out);
        let harmless = body.replace("cret", "ven");
        assert_eq!(run(redact, &harmless).out, harmless);
    }
}
