//! What a chat server refuses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::Rule;
use super::super::json::{brief, list, text};
use super::super::report::Log;

pub(super) fn request(request: &Value, log: &mut Log) {
    let messages = list(request, "messages");
    if messages.is_empty() {
        log.broken("messages", Rule::Shape, "expected messages, found none");
    }
    // The calls that wait for their results.
    let mut open: Vec<String> = Vec::new();
    let mut functions: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages[{at}]");
        match text(message, "role") {
            "tool" => answer(message, "tool_call_id", &mut open, &place, log),
            "function" => answer(message, "name", &mut functions, &place, log),
            role => {
                unanswered(&mut open, &mut functions, &place, log);
                match role {
                    "assistant" => {
                        open = assistant(message, &place, log);
                        functions.extend(message["function_call"]["name"].as_str().map(str::to_owned));
                    }
                    "user" | "system" | "developer" => {}
                    _ => {
                        let found = brief(message.get("role"));
                        log.broken(place, Rule::Shape, format!("expected a known role, found {found}"));
                    }
                }
            }
        }
    }
    unanswered(&mut open, &mut functions, &format!("messages[{}]", messages.len()), log);
}

/// Checks the assistant's message; the ids of its calls.
fn assistant(message: &Value, place: &str, log: &mut Log) -> Vec<String> {
    let calls = list(message, "tool_calls");
    let says = |key: &str| match &message[key] {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(parts) => !parts.is_empty(),
        _ => true,
    };
    if calls.is_empty() && !["content", "refusal", "function_call", "audio"].into_iter().any(says) {
        let message = "expected content, a refusal or calls, found none";
        log.broken(place, Rule::EmptyTurn, message);
    }
    if message.get("tool_calls").is_some() && calls.is_empty() {
        log.broken(
            format!("{place}.tool_calls"),
            Rule::Shape,
            "expected a call, or no list, found an empty one",
        );
    }
    if !matches!(message["content"], Value::Null | Value::String(_) | Value::Array(_)) {
        let found = brief(message.get("content"));
        log.broken(
            format!("{place}.content"),
            Rule::Shape,
            format!("expected a text or none, found {found}"),
        );
    }
    if let Some(call) = message.get("function_call") {
        function(call, &format!("{place}.function_call"), log);
    }
    let mut ids = BTreeSet::new();
    for (at, call) in calls.iter().enumerate() {
        let place = format!("{place}.tool_calls[{at}]");
        let id = text(call, "id");
        if id.is_empty() {
            log.broken(&place, Rule::Identity, "expected an id, found none");
        } else if !ids.insert(id) {
            log.broken(&place, Rule::Identity, format!("expected an id of its own, found {id:?} again"));
        }
        if call["type"] == "custom" {
            continue;
        }
        function(&call["function"], &format!("{place}.function"), log);
    }
    calls.iter().map(|call| text(call, "id").to_owned()).collect()
}

fn function(call: &Value, place: &str, log: &mut Log) {
    if text(call, "name").is_empty() {
        log.broken(place, Rule::Identity, "expected a name, found none");
    }
    if !call["arguments"].is_string() {
        let found = brief(call.get("arguments"));
        log.broken(place, Rule::Arguments, format!("expected a string, found {found}"));
    }
}

fn answer(message: &Value, key: &str, open: &mut Vec<String>, place: &str, log: &mut Log) {
    let id = text(message, key);
    match open.iter().position(|call| call == id) {
        Some(call) => {
            open.remove(call);
        }
        None => {
            log.broken(place, Rule::CallAnswered, format!("expected a call {id:?} before it, found none"));
        }
    }
}

fn unanswered(open: &mut Vec<String>, functions: &mut Vec<String>, place: &str, log: &mut Log) {
    for call in open.drain(..).chain(functions.drain(..)) {
        log.broken(place, Rule::CallAnswered, format!("expected the result of call {call:?}, found none"));
    }
}
