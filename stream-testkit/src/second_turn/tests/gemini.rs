//! Gemini.

use serde_json::{Value, json};

use super::{assert_received, assert_request, request, sse};
use crate::WireKind;

const GEMINI: WireKind = WireKind::Gemini;

fn contents(parts: &Value, answer: &Value) -> Value {
    json!({"contents": [
        {"role": "user", "parts": [{"text": "Hi"}]},
        {"role": "model", "parts": parts},
        {"role": "user", "parts": answer},
    ]})
}

fn said(parts: &Value) -> Value {
    contents(parts, &json!([{"text": "?"}]))
}

fn call(name: &str) -> Value {
    json!({"functionCall": {"name": name, "args": {}}})
}

fn response(name: &str) -> Value {
    json!({"functionResponse": {"name": name, "response": {}}})
}

/// A stream in which each of these comes in a chunk of its own.
fn stream(parts: &[Value]) -> String {
    let last = parts.len() - 1;
    let chunk = |(at, part): (usize, &Value)| {
        let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": [part]}});
        if at == last {
            candidate["finishReason"] = "STOP".into();
        }
        json!({"candidates": [candidate]})
    };
    sse(&parts.iter().enumerate().map(chunk).collect::<Vec<_>>())
}

#[test]
fn a_turn_holds_more_than_thoughts() {
    let empty = "contents[1]: empty-turn: expected parts, found none\n";
    assert_request(GEMINI, &said(&json!([])), empty);
    assert_request(GEMINI, &said(&json!([{"text": "Hm.", "thought": true}])), empty);
    assert_request(GEMINI, &said(&json!([{"text": "Hm.", "thought": true}, {"text": "Hi"}])), "");
    assert_received(GEMINI, &stream(&[json!({"text": ""})]), empty);
}

#[test]
fn a_text_part_is_empty_only_if_it_is_signed() {
    assert_request(GEMINI, &said(&json!([{"text": "Hi"}, {"text": "", "thoughtSignature": "c2ln"}])), "");
    assert_request(
        GEMINI,
        &said(&json!([{"text": "Hi"}, {"text": ""}])),
        "contents[1].parts[1]: empty-text: expected text, found none\n",
    );
}

#[test]
fn calls_have_a_name_and_an_object_that_is_whole() {
    let half = json!({"functionCall": {"name": "", "args": [], "partialArgs": [], "willContinue": true}});
    assert_request(
        GEMINI,
        &contents(&json!([half]), &json!([response("")])),
        "contents[1].parts[0].functionCall: identity: expected a name, found none\n\
         contents[1].parts[0].functionCall.args: arguments: expected an object, found []\n\
         contents[1].parts[0].functionCall: shape: expected whole arguments, found partialArgs\n\
         contents[1].parts[0].functionCall: shape: expected whole arguments, found willContinue\n",
    );
}

#[test]
fn every_call_has_a_response_in_its_order() {
    let calls = json!([call("a"), call("b")]);
    assert_request(GEMINI, &contents(&calls, &json!([response("a"), response("b")])), "");
    assert_request(
        GEMINI,
        &contents(&calls, &json!([response("a")])),
        "contents[2]: call-answered: expected 2 responses, found 1\n",
    );
    assert_request(
        GEMINI,
        &contents(&calls, &json!([response("b"), response("a")])),
        "contents[2]: call-answered: expected the response of \"a\", found that of \"b\"\n\
         contents[2]: call-answered: expected the response of \"b\", found that of \"a\"\n",
    );
    assert_request(GEMINI, &said(&calls), "contents[2]: call-answered: expected 2 responses, found 0\n");
    assert_request(
        GEMINI,
        &json!({"contents": [{"role": "model", "parts": [call("a")]}]}),
        "contents[1]: call-answered: expected 1 responses, found none\n",
    );
}

#[test]
fn shapes_are_those_of_the_api() {
    assert_request(GEMINI, &json!({}), "contents: shape: expected contents, found none\n");
    assert_request(
        GEMINI,
        &json!({"contents": [{"role": "assistant", "parts": [{"thoughtSignature": "c2ln"}]}]}),
        "contents[0]: shape: expected the role of user or model, found \"assistant\"\n\
         contents[0].parts[0]: shape: expected data in the part, found none\n",
    );
    assert_request(
        GEMINI,
        &said(&json!([{"text": "Hi", "inlineData": {}}])),
        "contents[1].parts[0]: shape: expected one kind of data, found inlineData and text\n",
    );
}

#[test]
fn texts_are_joined_but_never_over_a_signature() {
    let received = stream(&[
        json!({"text": "Hm", "thought": true}),
        json!({"text": ".", "thought": true}),
        json!({"text": "Hel"}),
        json!({"text": "lo"}),
        json!({"text": "", "thoughtSignature": "c2ln"}),
        json!({"text": "!"}),
    ]);
    assert_eq!(
        request(GEMINI, received.as_bytes())["contents"][1]["parts"],
        json!([
            {"text": "Hm.", "thought": true},
            {"text": "Hello"},
            {"text": "", "thoughtSignature": "c2ln"},
            {"text": "!"},
        ])
    );
    assert_received(GEMINI, &received, "");
}

#[test]
fn arguments_that_came_in_pieces_go_back_whole_and_signed() {
    let received = stream(&[
        json!({"functionCall": {"name": "look", "willContinue": true}, "thoughtSignature": "c2ln"}),
        json!({"functionCall": {"partialArgs": [{"jsonPath": "$.at", "stringValue": "Bos"}], "willContinue": true}}),
        json!({"functionCall": {"partialArgs": [{"jsonPath": "$.at", "stringValue": "ton"}]}}),
        json!({"functionCall": {}}),
    ]);
    assert_eq!(
        request(GEMINI, received.as_bytes())["contents"][1]["parts"],
        json!([{"functionCall": {"name": "look", "args": {"at": "Boston"}}, "thoughtSignature": "c2ln"}])
    );
    assert_received(GEMINI, &received, "");
}

#[test]
fn a_call_that_the_provider_answered_is_not_answered_again() {
    let received = stream(&[call("look"), response("look"), json!({"text": "Sunny."})]);
    assert_received(GEMINI, &received, "");
    assert_eq!(request(GEMINI, received.as_bytes())["contents"][2]["parts"], json!([{"text": "Go on."}]));
}
