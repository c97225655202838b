//! What OpenAI's server refuses.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::Rule;
use super::super::json::{brief, list, text};
use super::super::report::Log;

pub(super) fn request(request: &Value, log: &mut Log) {
    let input = list(request, "input");
    let is_the_model_s = |item: &&Value| !is_answer(item) && item["role"] != "user";
    if !input.iter().any(|item| is_the_model_s(&item)) {
        log.broken("input", Rule::EmptyTurn, "expected items of the model, found none");
    }
    let mut ids = BTreeSet::new();
    for (at, item) in input.iter().enumerate() {
        let place = format!("input[{at}]");
        let id = text(item, "id");
        // An answer may name its call in place of an id of its own.
        if !id.is_empty() && !is_answer(item) && !ids.insert(id) {
            log.broken(&place, Rule::Identity, format!("expected an id of its own, found {id:?} again"));
        }
        match text(item, "type") {
            "message" => message(item, &place, log),
            "reasoning" => {
                reasoning(item, &place, log);
                let next = input[at + 1..].iter().find(|item| item["type"] != "reasoning");
                if !next.is_some_and(|next| is_the_model_s(&next)) {
                    let message = "expected what it led to behind the reasoning, found nothing of the model";
                    log.broken(place, Rule::ReasoningFollowed, message);
                }
            }
            "function_call" => call(item, "arguments", &place, log),
            "custom_tool_call" => call(item, "input", &place, log),
            // A message may leave its type out.
            "" if !text(item, "role").is_empty() => message(item, &place, log),
            "" => log.broken(place, Rule::Shape, "expected a type, found none"),
            _ => {}
        }
    }
    answers(input, log);
}

fn message(item: &Value, place: &str, log: &mut Log) {
    if let Value::String(content) = &item["content"] {
        if content.is_empty() {
            log.broken(place, Rule::EmptyText, "expected text, found none");
        }
        return;
    }
    let parts = list(item, "content");
    if parts.is_empty() {
        log.broken(place, Rule::EmptyText, "expected parts in the message, found none");
    }
    for (at, part) in parts.iter().enumerate() {
        let said = if part["type"] == "refusal" { text(part, "refusal") } else { text(part, "text") };
        if said.is_empty() {
            let place = format!("{place}.content[{at}]");
            log.broken(place, Rule::EmptyText, "expected text, found none");
        }
    }
}

fn reasoning(item: &Value, place: &str, log: &mut Log) {
    if text(item, "id").is_empty() {
        log.broken(place, Rule::Signature, "expected an id, found none");
    }
    if !item["summary"].is_array() {
        let found = brief(item.get("summary"));
        log.broken(place, Rule::Signature, format!("expected a summary, found {found}"));
    }
    if item["encrypted_content"] == "" {
        log.broken(place, Rule::Signature, "expected encrypted_content or none, found an empty one");
    }
}

fn call(item: &Value, arguments: &str, place: &str, log: &mut Log) {
    if text(item, "name").is_empty() {
        log.broken(place, Rule::Identity, "expected a name, found none");
    }
    if !item[arguments].is_string() {
        let found = brief(item.get(arguments));
        log.broken(
            format!("{place}.{arguments}"),
            Rule::Arguments,
            format!("expected a string, found {found}"),
        );
    }
}

/// Checks that every call has one output behind it, and every output a call.
fn answers(input: &[Value], log: &mut Log) {
    let mut open: Vec<(usize, &str, String)> = Vec::new();
    let mut known = BTreeSet::new();
    for (at, item) in input.iter().enumerate() {
        let place = format!("input[{at}]");
        let kind = text(item, "type");
        if is_answer(item) {
            let key = if kind == "mcp_approval_response" { "approval_request_id" } else { "call_id" };
            let id = text(item, key);
            match open.iter().position(|(_, call, output)| *call == id && output == kind) {
                Some(call) => drop(open.remove(call)),
                None => {
                    let message = format!("expected a call {id:?} before its output, found none");
                    log.broken(place, Rule::CallAnswered, message);
                }
            }
        } else if let Some((id, output)) = awaited(item) {
            if id.is_empty() {
                log.broken(place, Rule::Identity, "expected a call_id, found none");
            } else if !known.insert(id) {
                log.broken(
                    place,
                    Rule::Identity,
                    format!("expected a call_id of its own, found {id:?} again"),
                );
            }
            open.push((at, id, output));
        }
    }
    for (at, id, output) in open {
        let message = format!("expected {output} for {id:?}, found none");
        log.broken(format!("input[{at}]"), Rule::CallAnswered, message);
    }
}

/// The id by which a call is answered, and the type of the answer.
fn awaited(item: &Value) -> Option<(&str, String)> {
    let kind = text(item, "type");
    match kind {
        "function_call" | "custom_tool_call" | "local_shell_call" | "shell_call" | "apply_patch_call"
        | "computer_call" => Some((text(item, "call_id"), format!("{kind}_output"))),
        "mcp_approval_request" => Some((text(item, "id"), "mcp_approval_response".to_owned())),
        _ => None,
    }
}

fn is_answer(item: &Value) -> bool {
    let kind = text(item, "type");
    kind.ends_with("_call_output") || kind == "mcp_approval_response"
}
