//! From what came to the message that goes back.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::json::{append, extend, list, text};
use super::index;

/// The message of a whole answer, without what requests do not take.
pub(super) fn of_whole(message: &Value) -> Value {
    let mut turn = json!({"role": "assistant", "content": message["content"]});
    for key in KEPT {
        let value = &message[key];
        if !value.is_null() && *value != json!([]) {
            turn[key] = value.clone();
        }
    }
    keep_audio(message, &mut turn);
    turn
}

/// The messages that the deltas of a stream add up to.
pub(super) fn of_stream(chunks: &[Value]) -> Vec<(u64, Value)> {
    let mut turns: BTreeMap<u64, Value> = BTreeMap::new();
    for choice in chunks.iter().flat_map(|chunk| list(chunk, "choices")) {
        let turn =
            turns.entry(index(choice)).or_insert_with(|| json!({"role": "assistant", "content": null}));
        fold(&choice["delta"], turn);
    }
    // The index tells deltas apart; requests have none.
    for call in turns.values_mut().filter_map(|turn| turn.get_mut("tool_calls")?.as_array_mut()).flatten() {
        call.as_object_mut().and_then(|call| call.remove("index"));
    }
    turns.into_iter().collect()
}

fn fold(delta: &Value, turn: &mut Value) {
    match &delta["content"] {
        Value::String(text) => append(turn, "content", text),
        // Mistral's parts: what was thought does not come back as content.
        Value::Array(parts) => parts.iter().for_each(|part| append(turn, "content", text(part, "text"))),
        _ => {}
    }
    for key in ["refusal", "reasoning_content", "reasoning", "reasoning_opaque"] {
        if let Some(text) = delta[key].as_str() {
            append(turn, key, text);
        }
    }
    if let Some(details) = delta["reasoning_details"].as_array() {
        extend(turn, "reasoning_details", details);
    }
    keep_audio(delta, turn);
    if delta["function_call"].is_object() {
        if turn["function_call"].is_null() {
            turn["function_call"] = json!({"name": "", "arguments": ""});
        }
        fold_function(&delta["function_call"], &mut turn["function_call"]);
    }
    for call in list(delta, "tool_calls") {
        fold_call(call, turn);
    }
    if let Some(turn) = turn.as_object_mut() {
        // Indexing made them.
        turn.retain(|key, value| key == "content" || !value.is_null());
    }
}

/// A call belongs to the open one of its index, unless it brings another id.
fn fold_call(delta: &Value, turn: &mut Value) {
    let id = text(delta, "id");
    let index = &delta["index"];
    let is_same = |call: &Value| {
        (index.is_null() || call["index"] == *index) && (id.is_empty() || text(call, "id") == id)
    };
    let place = list(turn, "tool_calls").iter().rposition(is_same).unwrap_or_else(|| {
        let call =
            json!({"index": index, "id": id, "type": "function", "function": {"name": "", "arguments": ""}});
        extend(turn, "tool_calls", &[call]);
        list(turn, "tool_calls").len() - 1
    });
    let call = &mut turn["tool_calls"][place];
    fold_function(&delta["function"], &mut call["function"]);
    if delta["extra_content"].is_object() {
        call["extra_content"] = delta["extra_content"].clone();
    }
}

fn fold_function(delta: &Value, function: &mut Value) {
    if text(function, "name").is_empty() {
        function["name"] = text(delta, "name").into();
    }
    append(function, "arguments", text(delta, "arguments"));
}

/// Audio goes back by its id.
fn keep_audio(message: &Value, turn: &mut Value) {
    if let Some(id) = message["audio"]["id"].as_str() {
        turn["audio"] = json!({"id": id});
    }
}

const KEPT: [&str; 7] = [
    "refusal",
    "tool_calls",
    "function_call",
    "reasoning_content",
    "reasoning",
    "reasoning_opaque",
    "reasoning_details",
];
