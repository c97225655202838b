//! Answers that are not streamed.

use super::{
    super::{Ended, WireKind},
    expect_whole,
};

#[test]
fn a_good_answer_of_each_format() {
    let cases = [
        (
            WireKind::OpenAiChat,
            r#"{"id":"c","object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"Hi","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}],"usage":{"total_tokens":1}}"#,
        ),
        (
            WireKind::OpenAiResponses,
            r#"{"id":"r","object":"response","status":"completed","error":null,"output":[{"type":"message","id":"m","content":[{"type":"output_text","text":"Hi"}]},{"type":"function_call","id":"i","call_id":"a","name":"f","arguments":"{}"}],"usage":{"total_tokens":1}}"#,
        ),
        (
            WireKind::AnthropicMessages,
            r#"{"id":"m","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"},{"type":"tool_use","id":"a","name":"f","input":{}}],"stop_reason":"tool_use","usage":{"output_tokens":1}}"#,
        ),
        (
            WireKind::Gemini,
            r#"{"candidates":[{"content":{"parts":[{"text":"Hi"},{"functionCall":{"id":"a","name":"f","args":{}}}]},"finishReason":"STOP"}],"usageMetadata":{"totalTokenCount":1}}"#,
        ),
    ];
    for (format, body) in cases {
        let view = expect_whole(format, body, &[]);
        let choice = &view.choices[0];
        assert_eq!((choice.content.as_str(), view.ended, view.usage), ("Hi", Ended::Clean, true), "{format}");
        assert_eq!((choice.calls[0].id.as_str(), choice.calls[0].name.as_str()), ("a", "f"), "{format}");
    }
}

#[test]
fn an_error_is_an_ending_of_each_format() {
    for format in WireKind::ALL {
        let view = expect_whole(format, r#"{"type":"error","error":{"type":"x","message":"no"}}"#, &[]);
        assert_eq!(view.ended, Ended::Error, "{format}");
    }
}

#[test]
fn refusals_are_told() {
    let cases = [
        (
            WireKind::OpenAiChat,
            r#"{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":null},"finish_reason":"content_filter"}]}"#,
        ),
        (
            WireKind::OpenAiResponses,
            r#"{"object":"response","status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[]}"#,
        ),
        (WireKind::AnthropicMessages, r#"{"type":"message","content":[],"stop_reason":"refusal"}"#),
        (WireKind::Gemini, r#"{"candidates":[{"finishReason":"SAFETY"}]}"#),
    ];
    for (format, body) in cases {
        assert_eq!(expect_whole(format, body, &[]).ended, Ended::Refused, "{format}");
    }
}

#[test]
fn a_body_is_one_json_object() {
    expect_whole(
        WireKind::OpenAiChat,
        "{",
        &["event 1: malformed-json: expected one JSON value: EOF while parsing an object at line 1 column 1"],
    );
}

#[test]
fn a_broken_chat_answer() {
    expect_whole(
        WireKind::OpenAiChat,
        r#"{"object":"x","choices":[{"index":1,"message":{"role":"assistant","tool_calls":[{"function":{"name":"f","arguments":"{"}}]},"finish_reason":"stop"},{"index":1}]}"#,
        &[
            "event 1: envelope: expected object \"chat.completion\", found \"x\"",
            "event 1: index: expected choice index 0, found 1",
            "event 1: call-identity: expected call 0 to open with an id, found none (excused by call-without-id)",
            "event 1: shape: expected call 0 to open with a type, found none (excused by call-without-type)",
            "event 1: shape: expected a message, found none",
            "event 1: arguments: expected the arguments of \"f\" to be one JSON value, found { \
             (excused by broken-arguments)",
            "event 1: finish-reason: expected \"tool_calls\" after calls, found \"stop\" (excused by stop-with-calls)",
            "event 1: ending: expected a finish_reason for choice 1, found none (excused by no-finish-reason)",
        ],
    );
    expect_whole(
        WireKind::OpenAiChat,
        r#"{"object":"chat.completion"}"#,
        &[
            "event 1: shape: expected a list of choices, found none",
            "event 1: empty-turn: expected a choice, found none",
        ],
    );
}

#[test]
fn a_broken_response() {
    let view = expect_whole(
        WireKind::OpenAiResponses,
        r#"{"object":"x","status":"queued"}"#,
        &[
            "event 1: envelope: expected object \"response\", found \"x\"",
            "event 1: shape: expected a list of output, found none",
            "event 1: ending: expected status completed, incomplete or failed, found \"queued\"",
        ],
    );
    assert_eq!(view.ended, Ended::Open);
    let call = r#"{"type":"function_call","id":"i","call_id":"a","name":"f","arguments":"{"}"#;
    expect_whole(
        WireKind::OpenAiResponses,
        &format!(r#"{{"object":"response","status":"completed","output":[{call},{call}]}}"#),
        &[
            "event 1: call-identity: expected a call_id of its own, found \"a\" again",
            "event 1: arguments: expected the arguments of \"f\" to be one JSON value, found {",
            "event 1: arguments: expected the arguments of \"f\" to be one JSON value, found {",
        ],
    );
}

#[test]
fn a_broken_message() {
    expect_whole(
        WireKind::AnthropicMessages,
        r#"{"type":"x","content":[{"type":"tool_use","id":"a","name":"f","input":{}},{"type":"text","text":"a"}],"stop_reason":"end_turn"}"#,
        &[
            "event 1: envelope: expected type \"message\", found \"x\"",
            "event 1: after-tool-use: expected nothing but tool_use after a tool_use, found a \"text\" block",
            "event 1: finish-reason: expected \"tool_use\" after a tool_use block, found \"end_turn\"",
        ],
    );
    expect_whole(
        WireKind::AnthropicMessages,
        r#"{"type":"message","stop_reason":null}"#,
        &[
            "event 1: shape: expected a list of content, found none",
            "event 1: ending: expected a stop_reason, found null",
        ],
    );
}
