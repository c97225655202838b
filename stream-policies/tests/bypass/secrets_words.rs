//! Secrets of letters alone, in the places of words of the protocol: a type, a role, a status, a reason, the name of an event.

use stream_policies::{Pattern, Redact, RedactSettings};
use stream_testkit::{Script, WireKind};

use crate::kit::{anthropic, chat, data, gemini, named, responses, run, whole};

fn redact() -> Redact {
    RedactSettings::default().pattern(Pattern::literal("name", "BLUEBIRD")).build().unwrap()
}

/// The word is gone, however the stream is cut; another word of a protocol in its place leaves as it came.
#[track_caller]
fn is_gone(body: &str, harmless: &str) {
    let ran = run(redact, body);
    assert_eq!((ran.out.matches("BLUEBIRD").count(), ran.error), (0, None), "{body}\n{}", ran.out);
    let body = body.replace("BLUEBIRD", harmless);
    assert_eq!(run(redact, &body).out, body);
}

#[track_caller]
fn is_gone_whole(body: &str, harmless: &str) {
    let ran = whole(redact, body);
    assert_eq!((ran.out.matches("BLUEBIRD").count(), ran.error), (0, None), "{body}\n{}", ran.out);
    let body = body.replace("BLUEBIRD", harmless);
    assert_eq!(whole(redact, &body).out, body);
}

const UNKNOWN: [&str; 4] = [
    r#"{"type":"BLUEBIRD"}"#,
    r#"{"a":[{"role":"BLUEBIRD"}]}"#,
    r#"{"status":"BLUEBIRD","object":"BLUEBIRD"}"#,
    r#"[{"finish_reason":"BLUEBIRD"},{"stop_reason":"BLUEBIRD"},{"finishReason":"BLUEBIRD"},{"blockReason":"BLUEBIRD"}]"#,
];

#[test]
fn a_word_in_chat_does_not_leave() {
    for unknown in UNKNOWN {
        let chunk = format!(
            r#"{{"id":"c","x":{unknown},"choices":[{{"index":0,"delta":{{"content":"a"}},"finish_reason":null}}]}}"#
        );
        is_gone(&(data(&chunk) + &data(&chunk) + &chat::end("stop")), "completed");
        let message = format!(
            r#"{{"id":"c","object":"chat.completion","x":{unknown},"choices":[{{"index":0,"message":{{"role":"assistant","content":"a"}},"finish_reason":"stop"}}]}}"#
        );
        is_gone_whole(&message, "completed");
    }
    is_gone(&(chat::text("a") + &chat::end("BLUEBIRD")), "stop");
}

#[test]
fn a_word_in_anthropic_does_not_leave() {
    use anthropic::{end, open, start, stop, text};
    for unknown in UNKNOWN {
        let block = open(0, &format!(r#"{{"type":"nobody_knows","x":{unknown}}}"#)) + &stop(0);
        is_gone(&(start() + &block + &end("end_turn")), "completed");
    }
    is_gone(&(start() + &text(0, "a") + &end("BLUEBIRD")), "end_turn");
    is_gone(
        &(start() + &text(0, "a") + &end("end_turn").replacen("event: message_delta", "event: BLUEBIRD", 1)),
        "message_delta",
    );
    is_gone_whole(
        r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"a"}],"stop_reason":"BLUEBIRD","stop_sequence":null}"#,
        "end_turn",
    );
}

#[test]
fn a_word_in_responses_does_not_leave() {
    use responses::{added, completed, created, done};
    for unknown in UNKNOWN {
        let item = format!(r#"{{"id":"x1","type":"nobody_knows","x":{unknown}}}"#);
        is_gone(&(created() + &added(0, &item) + &done(0, &item) + &completed(&item)), "completed");
    }
    let item = r#"{"id":"x1","type":"web_search_call","status":"BLUEBIRD"}"#;
    is_gone(&(created() + &added(0, item) + &done(0, item) + &completed(item)), "searching");
    let said = r#"{"type":"response.web_search_call.BLUEBIRD","output_index":0,"item_id":"x1"}"#;
    let body = created() + &added(0, &item.replace("BLUEBIRD", "searching")) + &named(&[said]);
    is_gone(&(body + &completed("")), "searching");
}

#[test]
fn a_word_in_gemini_does_not_leave() {
    for unknown in UNKNOWN {
        let part = format!(
            r#"{{"candidates":[{{"content":{{"parts":[{{"text":"a"}}],"role":"model"}},"index":0,"x":{unknown}}}]}}"#
        );
        is_gone(&(data(&part) + &gemini::last("", "STOP")), "completed");
        is_gone_whole(&part, "completed");
    }
    is_gone(&(gemini::parts(r#"{"text":"a"}"#) + &gemini::last("", "BLUEBIRD")), "STOP");
    is_gone(&data(r#"{"promptFeedback":{"blockReason":"BLUEBIRD"}}"#), "SAFETY");
}

/// A policy that looks for words of the protocol does not make a frame unreadable.
#[test]
fn words_of_the_protocol_stay_whatever_is_looked_for() {
    let words = "assistant|model|stop|completed|in_progress|message|response|end_turn|tool_use|STOP|text";
    let redact = move || RedactSettings::default().pattern(Pattern::regex("words", words)).build().unwrap();
    let script = Script::new().text("Hm.").call("call_1", "ls", r#"{"path":"/"}"#);
    for kind in WireKind::ALL {
        let body = String::from_utf8(script.bytes(kind).to_vec()).unwrap();
        let ran = run(redact, &body);
        assert_eq!((ran.out, ran.error), (body, None), "{kind}");
    }
}
