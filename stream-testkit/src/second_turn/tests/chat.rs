//! Chat Completions.

use serde_json::{Value, json};

use super::{assert_received, assert_request, request, sse};
use crate::WireKind;

const CHAT: WireKind = WireKind::OpenAiChat;

fn messages(turn: &Value, behind: &[Value]) -> Value {
    let mut messages = vec![json!({"role": "user", "content": "Hi"}), turn.clone()];
    messages.extend_from_slice(behind);
    json!({"messages": messages})
}

fn call(id: &str, name: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}})
}

fn result(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "done"})
}

#[test]
fn a_turn_holds_something() {
    let empty = "messages[1]: empty-turn: expected content, a refusal or calls, found none\n";
    assert_request(CHAT, &messages(&json!({"role": "assistant", "content": ""}), &[]), empty);
    assert_request(CHAT, &messages(&json!({"role": "assistant", "content": null}), &[]), empty);
    assert_request(
        CHAT,
        &messages(&json!({"role": "assistant", "content": "", "reasoning": "Hm."}), &[]),
        empty,
    );
    assert_request(CHAT, &messages(&json!({"role": "assistant", "refusal": "No."}), &[]), "");
    assert_request(CHAT, &messages(&json!({"role": "assistant", "audio": {"id": "audio_1"}}), &[]), "");
    assert_request(
        CHAT,
        &messages(&json!({"role": "assistant", "content": "Hi", "tool_calls": []}), &[]),
        "messages[1].tool_calls: shape: expected a call, or no list, found an empty one\n",
    );
}

#[test]
fn calls_have_an_id_of_their_own_and_a_name() {
    let turn = json!({"role": "assistant", "content": null, "tool_calls": [call("1", "a"), call("1", ""), call("", "c")]});
    assert_request(
        CHAT,
        &messages(&turn, &[result("1"), result("1"), result("")]),
        "messages[1].tool_calls[1]: identity: expected an id of its own, found \"1\" again\n\
         messages[1].tool_calls[1].function: identity: expected a name, found none\n\
         messages[1].tool_calls[2]: identity: expected an id, found none\n",
    );
}

#[test]
fn every_call_is_answered_right_behind_its_turn() {
    let turn = json!({"role": "assistant", "content": null, "tool_calls": [call("1", "a"), call("2", "b")]});
    assert_request(CHAT, &messages(&turn, &[result("2"), result("1")]), "");
    assert_request(
        CHAT,
        &messages(&turn, &[result("1")]),
        "messages[3]: call-answered: expected the result of call \"2\", found none\n",
    );
    assert_request(
        CHAT,
        &messages(&turn, &[result("1"), json!({"role": "user", "content": "?"}), result("2")]),
        "messages[3]: call-answered: expected the result of call \"2\", found none\n\
         messages[4]: call-answered: expected a call \"2\" before it, found none\n",
    );
}

#[test]
fn arguments_are_a_string_whatever_it_says() {
    let turn = |arguments: Value| {
        let function = json!({"name": "a", "arguments": arguments});
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function", "function": function}]})
    };
    assert_request(CHAT, &messages(&turn(json!("{")), &[result("1")]), "");
    assert_request(
        CHAT,
        &messages(&turn(json!({})), &[result("1")]),
        "messages[1].tool_calls[0].function: arguments: expected a string, found {}\n",
    );
}

#[test]
fn shapes_are_those_of_the_api() {
    assert_request(CHAT, &json!({}), "messages: shape: expected messages, found none\n");
    assert_request(
        CHAT,
        &messages(&json!({"role": "model", "content": "Hi"}), &[]),
        "messages[1]: shape: expected a known role, found \"model\"\n",
    );
    assert_request(
        CHAT,
        &messages(&json!({"role": "assistant", "content": {"text": "Hi"}}), &[]),
        "messages[1].content: shape: expected a text or none, found {\"text\":\"Hi\"}\n",
    );
}

fn chunk(delta: &Value, finish: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
    json!({"id": "1", "object": "chat.completion.chunk", "choices": [choice]})
}

fn stream(deltas: &[Value], finish: &str) -> String {
    let mut chunks: Vec<Value> = deltas.iter().map(|delta| chunk(delta, None)).collect();
    chunks.push(chunk(&json!({}), Some(finish)));
    sse(&chunks) + "data: [DONE]\n\n"
}

#[test]
fn a_legacy_function_call_is_answered_by_its_name() {
    let received = stream(
        &[
            json!({"role": "assistant", "content": null, "function_call": {"name": "now", "arguments": ""}}),
            json!({"function_call": {"arguments": "{}"}}),
        ],
        "function_call",
    );
    assert_eq!(
        request(CHAT, received.as_bytes())["messages"].as_array().unwrap()[1..],
        [
            json!({"role": "assistant", "content": null, "function_call": {"name": "now", "arguments": "{}"}}),
            json!({"role": "function", "name": "now", "content": "done"}),
        ]
    );
    assert_received(CHAT, &received, "");
}

#[test]
fn signed_details_and_signatures_of_calls_go_back() {
    let call = json!({"index": 0, "id": "1", "type": "function", "function": {"name": "now", "arguments": "{}"},
        "extra_content": {"google": {"thought_signature": "c2ln"}}});
    let received = stream(
        &[
            json!({"role": "assistant", "reasoning_details": [{"type": "reasoning.text", "text": "Hm."}]}),
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "data": "ZGF0YQ"}]}),
            json!({"tool_calls": [call]}),
        ],
        "tool_calls",
    );
    let turn = request(CHAT, received.as_bytes())["messages"][1].clone();
    assert_eq!(turn["reasoning_details"][1]["data"], "ZGF0YQ");
    assert_eq!(turn["tool_calls"][0]["extra_content"]["google"]["thought_signature"], "c2ln");
    assert_eq!(turn["tool_calls"][0].get("index"), None);
}

#[test]
fn an_answer_of_which_everything_was_dropped_is_an_empty_turn() {
    let received = stream(&[json!({"role": "assistant", "content": ""})], "stop");
    let expected = "messages[1]: empty-turn: expected content, a refusal or calls, found none\n";
    assert_received(CHAT, &received, expected);
}
