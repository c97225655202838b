//! Anthropic Messages.

use serde_json::{Value, json};

use super::{assert_received, assert_request, request, sse};
use crate::WireKind;

const ANTHROPIC: WireKind = WireKind::AnthropicMessages;

fn messages(blocks: &Value, answer: &Value) -> Value {
    json!({"messages": [
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": answer},
    ]})
}

/// A request with these blocks, whose calls `1` and `2` are answered where they are there.
fn turn(blocks: &Value) -> Value {
    let calls = blocks.as_array().unwrap().iter().filter(|block| block["type"] == "tool_use");
    let results: Vec<Value> = calls.map(|call| result(call["id"].as_str().unwrap())).collect();
    messages(blocks, &if results.is_empty() { json!("?") } else { results.into() })
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn thinking() -> Value {
    json!({"type": "thinking", "thinking": "Hm.", "signature": "c2ln"})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "now", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

#[test]
fn a_turn_holds_something() {
    let empty = "messages[1]: empty-turn: expected content, found none\n";
    assert_request(ANTHROPIC, &turn(&json!([])), empty);
    assert_request(ANTHROPIC, &messages(&json!(""), &json!("?")), empty);
    assert_request(ANTHROPIC, &turn(&json!([text("Hi")])), "");
}

#[test]
fn a_text_block_holds_more_than_white_space() {
    assert_request(
        ANTHROPIC,
        &turn(&json!([text(""), text("Hi"), text("\n ")])),
        "messages[1].content[0]: empty-text: expected text, found \"\"\n\
         messages[1].content[2]: empty-text: expected text, found \"\\n \"\n",
    );
}

#[test]
fn thinking_is_signed_even_if_its_text_was_emptied() {
    let emptied = json!({"type": "thinking", "thinking": "", "signature": "c2ln"});
    assert_request(ANTHROPIC, &turn(&json!([emptied, text("Hi")])), "");
    assert_request(
        ANTHROPIC,
        &turn(
            &json!([{"type": "thinking", "thinking": "Hm."}, {"type": "redacted_thinking", "data": ""}, text("Hi")]),
        ),
        "messages[1].content[0]: signature: expected a signature, found none\n\
         messages[1].content[1]: signature: expected data, found none\n",
    );
}

#[test]
fn a_turn_with_thinking_starts_with_it_and_ends_with_something_else() {
    assert_request(ANTHROPIC, &turn(&json!([thinking(), text("Hi"), thinking(), call("1")])), "");
    assert_request(
        ANTHROPIC,
        &turn(&json!([text("[blocked]"), thinking(), call("1")])),
        "messages[1].content[0]: thinking-order: expected thinking first in a turn that has it, found text\n",
    );
    assert_request(
        ANTHROPIC,
        &turn(&json!([thinking()])),
        "messages[1].content[0]: thinking-order: expected something behind the thinking, found the end\n",
    );
}

#[test]
fn only_tool_use_follows_tool_use() {
    assert_request(ANTHROPIC, &turn(&json!([text("Hi"), call("1"), call("2")])), "");
    assert_request(
        ANTHROPIC,
        &turn(&json!([call("1"), text("Hi"), call("2")])),
        "messages[1].content[1]: tool-use-last: expected only tool_use behind a tool_use, found text\n",
    );
}

#[test]
fn calls_have_an_id_of_their_own_a_name_and_an_object() {
    let nameless = json!({"type": "tool_use", "id": "1", "name": "", "input": "{"});
    assert_request(
        ANTHROPIC,
        &messages(&json!([call("1"), nameless, call("")]), &json!([result("1"), result("1"), result("")])),
        "messages[1].content[1]: identity: expected an id of its own, found \"1\" again\n\
         messages[1].content[1]: identity: expected a name, found none\n\
         messages[1].content[1].input: arguments: expected an object, found \"{\"\n\
         messages[1].content[2]: identity: expected an id, found none\n",
    );
}

#[test]
fn every_call_is_answered_first_in_the_next_message() {
    let calls = json!([call("1"), call("2")]);
    assert_request(ANTHROPIC, &messages(&calls, &json!([result("2"), result("1"), text("Go on.")])), "");
    assert_request(
        ANTHROPIC,
        &messages(&calls, &json!([result("1"), result("3")])),
        "messages[2].content[1]: call-answered: expected a tool_use \"3\" in the turn before, found none\n\
         messages[2]: call-answered: expected the result of call \"2\", found none\n",
    );
    assert_request(
        ANTHROPIC,
        &messages(&calls, &json!([result("1"), text("Wait."), result("2")])),
        "messages[2].content[2]: call-answered: expected results first, found something before one\n",
    );
    let mut unanswered = messages(&calls, &json!("?"));
    unanswered["messages"].as_array_mut().unwrap().pop();
    assert_request(
        ANTHROPIC,
        &unanswered,
        "messages[2]: call-answered: expected the result of call \"1\", found none\n\
         messages[2]: call-answered: expected the result of call \"2\", found none\n",
    );
}

#[test]
fn the_result_of_a_server_tool_has_its_use_before_it() {
    let used = json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}});
    let result = json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []});
    assert_request(ANTHROPIC, &turn(&json!([used, result, text("Hi")])), "");
    assert_request(
        ANTHROPIC,
        &turn(&json!([result, text("Hi")])),
        "messages[1].content[0]: call-answered: expected a use \"s1\" before its result, found none\n",
    );
}

#[test]
fn shapes_are_those_of_the_api() {
    assert_request(ANTHROPIC, &json!({}), "messages: shape: expected messages, found none\n");
    assert_request(
        ANTHROPIC,
        &json!({"messages": [{"role": "tool", "content": 1}, {"role": "assistant", "content": [{}]}]}),
        "messages[0]: shape: expected content, found 1\n\
         messages[0]: shape: expected the role of user or assistant, found \"tool\"\n\
         messages[1].content[0]: shape: expected a type, found none\n",
    );
}

/// A stream with one block that these deltas fill.
fn stream(block: &Value, deltas: &[Value]) -> String {
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "model": "any", "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage});
    let stop = if block["type"] == "tool_use" { "tool_use" } else { "end_turn" };
    let mut events = vec![
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
    ];
    events.extend(
        deltas.iter().map(|delta| json!({"type": "content_block_delta", "index": 0, "delta": delta})),
    );
    events.extend([
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": 1}}),
        json!({"type": "message_stop"}),
    ]);
    sse(&events)
}

#[test]
fn citations_go_back_with_their_text() {
    let citation = json!({"type": "char_location", "cited_text": "Hi"});
    let received = stream(
        &json!({"type": "text", "text": "", "citations": []}),
        &[
            json!({"type": "text_delta", "text": "Hi"}),
            json!({"type": "citations_delta", "citation": citation}),
        ],
    );
    assert_eq!(
        request(ANTHROPIC, received.as_bytes())["messages"][1]["content"],
        json!([{"type": "text", "text": "Hi", "citations": [citation]}])
    );
}

#[test]
fn input_that_is_no_json_cannot_go_back() {
    let received = stream(
        &json!({"type": "tool_use", "id": "1", "name": "now", "input": {}}),
        &[json!({"type": "input_json_delta", "partial_json": "{\"a\":"})],
    );
    assert_received(
        ANTHROPIC,
        &received,
        "messages[1].content[0].input: arguments: expected an object, found \"{\\\"a\\\":\"\n",
    );
}

#[test]
fn a_block_of_which_the_text_was_dropped_cannot_go_back() {
    assert_received(
        ANTHROPIC,
        &stream(&text(""), &[]),
        "messages[1].content[0]: empty-text: expected text, found \"\"\n",
    );
}
