//! Secrets where nobody looks for text: beside it, behind it, in copies of it.

use stream_core::{Action, ErrorKind};
use stream_policies::{Pattern, Redact, RedactSettings};
use stream_testkit::{Replay, Script, WireKind};

use crate::kit::chat::{delta, end, text};
use crate::kit::{anthropic, data, ran, responses, run, whole};
use crate::secrets_text::redact;

#[track_caller]
fn assert_clean(what: &str, body: &str) {
    let ran = run(redact, body);
    assert_eq!(ran.out.matches("secret").count(), 0, "{what}: {}", ran.out);
}

#[test]
fn every_field_of_reasoning_and_its_twins_are_redacted() {
    for fields in [
        r#"{"reasoning_content":"a secret"}"#,
        r#"{"reasoning":"a secret"}"#,
        r#"{"reasoning":"a secret","reasoning_content":"a secret"}"#,
        r#"{"reasoning":"a secret","reasoning_details":[{"type":"reasoning.text","text":"a secret"}]}"#,
        r#"{"reasoning_details":[{"type":"reasoning.summary","summary":"a secret"}]}"#,
        r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a secret"}]}]}"#,
    ] {
        assert_clean(fields, &(delta(fields) + &text("ok") + &end("stop")));
    }
}

#[test]
fn refusals_and_transcripts_of_speech_are_redacted() {
    for fields in [r#"{"refusal":"a secret"}"#, r#"{"audio":{"id":"a","transcript":"a secret"}}"#] {
        assert_clean(fields, &(delta(fields) + &end("stop")));
    }
    let split = delta(r#"{"refusal":"a sec"}"#) + &delta(r#"{"refusal":"ret b"}"#) + &end("stop");
    assert_eq!(run(redact, &split).view.choices[0].refusal, "a [redacted] b");
}

#[test]
fn a_message_beside_the_deltas_does_not_say_what_was_redacted() {
    let beside = data(
        r#"{"id":"c","choices":[{"index":0,"delta":{"content":""},"message":{"role":"assistant","content":"a secret b"},"finish_reason":null}]}"#,
    );
    assert_clean("message", &(text("a secret b") + &beside + &end("stop")));
}

#[test]
fn log_probabilities_do_not_spell_what_was_redacted_wherever_they_come() {
    let probs = |text: &str, tokens: &str| {
        data(&format!(
            r#"{{"id":"c","choices":[{{"index":0,"delta":{{{text}}},"logprobs":{{"content":[{tokens}]}},"finish_reason":null}}]}}"#
        ))
    };
    let token = r#"{"token":"secret","logprob":-0.1,"bytes":null,"top_logprobs":[]}"#;
    assert_clean("beside", &(probs(r#""content":"secret""#, token) + &end("stop")));
    assert_clean("before", &(text("ok ") + &probs("", token) + &text("secret") + &end("stop")));
    assert_clean("after", &(text("ok secret") + &probs("", token) + &end("stop")));
}

#[test]
fn every_copy_of_responses_is_redacted() {
    let script =
        Script::new().text("a secret b").refusal("no secret").call("call_1", "look", r#"{"k":"secret"}"#);
    let ran = ran(&Replay::new(script.to_log(WireKind::OpenAiResponses)).policy(redact).run());
    assert_eq!(ran.out.matches("secret").count(), 0, "{}", ran.out);
    assert_eq!(ran.view.choices[0].content, "a [redacted] b");
    assert_eq!(ran.view.choices[0].refusal, "no [redacted]");
}

#[test]
fn a_text_that_only_the_last_event_of_responses_holds_is_redacted() {
    let message = |text: &str| {
        format!(
            r#"{{"id":"m","type":"message","status":"completed","role":"assistant","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#
        )
    };
    let ran = run(redact, &(responses::created() + &responses::completed(&message("a secret b"))));
    assert_eq!(ran.out.matches("secret").count(), 0, "{}", ran.out);
    let told = run(
        redact,
        &(responses::created()
            + &responses::done(0, &message("ok"))
            + &responses::completed(&message("a secret b"))),
    );
    assert_eq!(told.error, Some(ErrorKind::CopyDisagrees));
    assert_eq!(told.out.matches("secret").count(), 0, "{}", told.out);
}

#[test]
fn signed_thinking_is_emptied_and_keeps_its_signature() {
    use anthropic::{delta, end, open, start, stop, text};
    let signature = delta(0, r#"{"type":"signature_delta","signature":"sig"}"#);
    let body = |thinking: &str| {
        start()
            + &open(0, r#"{"type":"thinking","thinking":"","signature":""}"#)
            + thinking
            + &signature
            + &stop(0)
            + &text(1, "ok")
            + &end("end_turn")
    };
    let said = delta(0, r#"{"type":"thinking_delta","thinking":"a sec"}"#)
        + &delta(0, r#"{"type":"thinking_delta","thinking":"ret b"}"#);
    let ran = run(redact, &body(&said));
    assert_eq!(ran.view.choices[0].reasoning, "");
    assert_eq!((ran.out.matches("sec").count(), ran.out.matches("ret b").count()), (0, 0), "{}", ran.out);
    assert_eq!(ran.out.matches(r#""signature":"sig""#).count(), 1);
}

#[test]
fn thinking_that_comes_with_its_opening_is_redacted() {
    use anthropic::{end, open, start, stop, text};
    let body = start()
        + &open(0, r#"{"type":"thinking","thinking":"a secret b","signature":"sig"}"#)
        + &stop(0)
        + &text(1, "ok")
        + &end("end_turn");
    assert_clean("thinking", &body);
}

#[test]
fn a_whole_response_is_redacted_with_all_its_copies() {
    for kind in WireKind::ALL {
        let script = Script::new().reasoning("a secret").text("a secret b").call(
            "call_1",
            "look",
            r#"{"k":"secret"}"#,
        );
        let body = String::from_utf8(script.whole(kind).to_vec()).unwrap();
        let ran = whole(redact, &body);
        assert_eq!(ran.out.matches("secret").count(), 0, "{kind}: {}", ran.out);
        assert_eq!(ran.view.choices[0].content, "a [redacted] b", "{kind}");
    }
}

#[test]
fn decisions_do_not_say_what_was_found() {
    let keyed = || -> Redact {
        RedactSettings::default()
            .pattern(Pattern::literal("word", "secret"))
            .replacement("<{name}>")
            .build()
            .unwrap()
    };
    let ran = run(keyed, &(text("a secret") + &end("stop")));
    assert_eq!(ran.edits(), [(Action::Edited, "found word")]);
    assert_eq!(ran.view.choices[0].content, "a <word>");
}
