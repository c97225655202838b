//! From chunks to the content that goes back.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::super::json::{append, list, text};
use crate::partial_args;

/// The content of each candidate.
pub(super) fn candidates(chunks: &[Value]) -> Vec<(u64, Value)> {
    let mut turns: BTreeMap<u64, Vec<Value>> = BTreeMap::new();
    for candidate in chunks.iter().flat_map(|chunk| list(chunk, "candidates")) {
        let parts = turns.entry(candidate["index"].as_u64().unwrap_or_default()).or_default();
        for part in list(&candidate["content"], "parts") {
            fold(part, parts);
        }
    }
    let content = |(index, parts)| (index, json!({"role": "model", "parts": parts}));
    turns.into_iter().map(content).collect()
}

/// The calls of a turn that the client has to answer: those without a response in it.
pub(super) fn open_calls(turn: &Value) -> impl Iterator<Item = &Value> {
    let parts = list(turn, "parts");
    let is_answered = move |call: &Value| {
        let mut responses = parts.iter().filter_map(|part| part.get("functionResponse"));
        responses.any(|response| response["name"] == call["name"] && response.get("id") == call.get("id"))
    };
    parts.iter().filter_map(|part| part.get("functionCall")).filter(move |call| !is_answered(call))
}

fn fold(part: &Value, parts: &mut Vec<Value>) {
    let is_signed = !text(part, "thoughtSignature").is_empty();
    if let Some(call) = part.get("functionCall") {
        match parts.last_mut().filter(|last| last["functionCall"].is_object()) {
            // A call without a name goes on with the one before.
            Some(open) if text(call, "name").is_empty() => add(call, &mut open["functionCall"]),
            _ => {
                let mut whole = part.clone();
                whole["functionCall"] = json!({});
                add(call, &mut whole["functionCall"]);
                parts.push(whole);
            }
        }
        return;
    }
    let Some(said) = part["text"].as_str() else {
        return parts.push(part.clone());
    };
    // Google's guide: parts with a signature are never joined with others.
    let joins = |last: &&mut Value| {
        last["text"].is_string()
            && last.get("thought") == part.get("thought")
            && last.get("thoughtSignature").is_none()
    };
    match parts.last_mut().filter(joins) {
        Some(last) if !is_signed => append(last, "text", said),
        _ if said.is_empty() && !is_signed => {}
        _ => parts.push(part.clone()),
    }
}

/// Adds a delta to a call: all its fields, and its partial arguments to `args`.
fn add(delta: &Value, call: &mut Value) {
    for (key, value) in delta.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "partialArgs" | "willContinue") {
            call[key] = value.clone();
        }
    }
    let pieces = list(delta, "partialArgs");
    if !pieces.is_empty() {
        // The turn is held against what a client sends back, whatever the pieces are worth.
        let _ = partial_args::add(pieces, &mut call["args"]);
    }
}
