//! The rules of framing.

use super::{
    super::{Ended, WireKind},
    chat, expect, gemini, named,
};

const START: &str = r#""delta":{"role":"assistant","content":"a"},"finish_reason":"stop""#;
const STOP: &str = r#"{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}"#;

#[test]
fn comments_crlf_and_a_bom_are_part_of_a_good_chat_stream() {
    let stream = format!("\u{feff}: hello\n\n{}", chat(&[START, "[DONE]"])).replace('\n', "\r\n");
    let view = expect(WireKind::OpenAiChat, &stream, &[]);
    assert_eq!((view.choices[0].content.as_str(), view.ended), ("a", Ended::Clean));
}

#[test]
fn the_last_event_needs_its_border() {
    let stream = chat(&[START, "[DONE]"]);
    expect(
        WireKind::OpenAiChat,
        stream.trim_end(),
        &["event 2: event-border: expected a blank line after the last event, found the end \
           (excused by no-final-border)"],
    );
}

#[test]
fn an_event_that_is_cut_is_not_read() {
    let stream = format!("{}data: {{\"id\"", chat(&[START, "[DONE]"]));
    expect(
        WireKind::OpenAiChat,
        &stream,
        &["event 3: event-border: expected the rest of the event, found the end"],
    );
}

#[test]
fn stray_lines_are_told_and_not_read() {
    let stream = format!("{} data: {{}}\n\n{}", chat(&[START]), chat(&["[DONE]"]));
    expect(
        WireKind::OpenAiChat,
        &stream,
        &["event 2: stray-line: expected a field or a comment, found  data: {} (excused by stray-line)"],
    );
}

#[test]
fn data_is_one_json_object() {
    expect(
        WireKind::OpenAiChat,
        &chat(&[START, "{nope}", "[1]", "[DONE]"]),
        &[
            "event 2: malformed-json: expected one JSON value: key must be a string at line 1 column 2",
            "event 3: shape: expected an object, found [1]",
        ],
    );
}

#[test]
fn a_key_comes_once_in_an_object() {
    expect(
        WireKind::OpenAiChat,
        &chat(&[
            r#""delta":{"role":"assistant","content":"a","content":"b"},"finish_reason":"stop""#,
            "[DONE]",
        ]),
        &["event 1: duplicate-key: expected each key once in an object, found \"content\" twice"],
    );
}

#[test]
fn chat_has_no_event_lines() {
    let stream = format!("event: error\n{}", chat(&[r#"{"error":{"message":"no"}}"#]));
    let view = expect(
        WireKind::OpenAiChat,
        &stream,
        &["event 1: event-line: expected no event line, found \"error\" (excused by event-line-in-chat)"],
    );
    assert_eq!(view.ended, Ended::Error);
}

#[test]
fn an_event_line_needs_data() {
    expect(
        WireKind::OpenAiChat,
        &format!("event: x\n\n{}", chat(&[START, "[DONE]"])),
        &["event 1: event-line: expected data beside the event line, found none"],
    );
}

#[test]
fn gemini_has_neither_comments_nor_event_lines() {
    let stream = format!(": wait\r\n\r\nevent: x\r\n{}", gemini(&[STOP]));
    expect(
        WireKind::Gemini,
        &stream,
        &[
            "event 1: comment: expected no comment, found : wait",
            "event 1: event-line: expected no event line, found \"x\"",
        ],
    );
}

#[test]
fn bytes_are_utf_8() {
    let mut stream = b": \xff\n\n".to_vec();
    stream.extend_from_slice(chat(&[START, "[DONE]"]).as_bytes());
    let report = super::check(WireKind::OpenAiChat, &stream);
    assert_eq!(super::lines(&report), ["event 1: shape: expected UTF-8, found other bytes"]);
}

#[test]
fn the_event_line_of_anthropic_is_the_type() {
    let error = r#"{"type":"error","error":{"type":"api_error","message":"no"}}"#;
    expect(WireKind::AnthropicMessages, &named(&[error]), &[]);
    expect(
        WireKind::AnthropicMessages,
        &format!("data: {error}\n\n"),
        &["event 1: event-line: expected the event line \"error\", found \"none\""],
    );
}
