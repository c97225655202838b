//! What Anthropic's server refuses.

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
    let mut ids = BTreeSet::new();
    // The tool_use blocks that the next message has to answer.
    let mut open: Vec<&str> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let place = format!("messages[{at}]");
        if !message["content"].is_array() && !message["content"].is_string() {
            let found = brief(message.get("content"));
            log.broken(&place, Rule::Shape, format!("expected content, found {found}"));
        }
        let blocks = list(message, "content");
        match text(message, "role") {
            "user" => answers(blocks, &mut open, &place, log),
            "assistant" => {
                answers(&[], &mut open, &place, log);
                open = assistant(blocks, &mut ids, &place, log);
                if message["content"] == "" || message["content"].is_array() && blocks.is_empty() {
                    log.broken(place, Rule::EmptyTurn, "expected content, found none");
                }
            }
            _ => {
                let found = brief(message.get("role"));
                log.broken(
                    place,
                    Rule::Shape,
                    format!("expected the role of user or assistant, found {found}"),
                );
            }
        }
    }
    answers(&[], &mut open, &format!("messages[{}]", messages.len()), log);
}

/// Checks the assistant's blocks; the ids of its calls.
fn assistant<'a>(
    blocks: &'a [Value],
    ids: &mut BTreeSet<&'a str>,
    place: &str,
    log: &mut Log,
) -> Vec<&'a str> {
    let mut calls = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content[{at}]");
        let kind = text(block, "type");
        if !calls.is_empty() && kind != "tool_use" {
            let message = format!("expected only tool_use behind a tool_use, found {kind}");
            log.broken(&place, Rule::ToolUseLast, message);
        }
        match kind {
            "text" if text(block, "text").trim().is_empty() => {
                let found = brief(block.get("text"));
                log.broken(place, Rule::EmptyText, format!("expected text, found {found}"));
            }
            "thinking" if text(block, "signature").is_empty() => {
                log.broken(place, Rule::Signature, "expected a signature, found none");
            }
            "redacted_thinking" if text(block, "data").is_empty() => {
                log.broken(place, Rule::Signature, "expected data, found none");
            }
            "tool_use" | "server_tool_use" | "mcp_tool_use" => {
                call(block, ids, &place, log);
                if kind == "tool_use" {
                    calls.push(text(block, "id"));
                }
            }
            "" => log.broken(place, Rule::Shape, "expected a type, found none"),
            _ if kind.ends_with("_tool_result") => {
                let id = text(block, "tool_use_id");
                if !ids.contains(id) {
                    let message = format!("expected a use {id:?} before its result, found none");
                    log.broken(place, Rule::CallAnswered, message);
                }
            }
            _ => {}
        }
    }
    thinking(blocks, place, log);
    calls
}

/// A turn with thinking starts with it, and ends with something else.
fn thinking(blocks: &[Value], place: &str, log: &mut Log) {
    let thinks = |block: &Value| matches!(text(block, "type"), "thinking" | "redacted_thinking");
    let (Some(first), Some(last)) = (blocks.first(), blocks.last()) else { return };
    if blocks.iter().any(thinks) && !thinks(first) {
        let found = text(first, "type");
        let message = format!("expected thinking first in a turn that has it, found {found}");
        log.broken(format!("{place}.content[0]"), Rule::ThinkingOrder, message);
    }
    if thinks(last) {
        let place = format!("{place}.content[{}]", blocks.len() - 1);
        log.broken(place, Rule::ThinkingOrder, "expected something behind the thinking, found the end");
    }
}

fn call<'a>(block: &'a Value, ids: &mut BTreeSet<&'a str>, place: &str, log: &mut Log) {
    let id = text(block, "id");
    if id.is_empty() {
        log.broken(place, Rule::Identity, "expected an id, found none");
    } else if !ids.insert(id) {
        log.broken(place, Rule::Identity, format!("expected an id of its own, found {id:?} again"));
    }
    if text(block, "name").is_empty() {
        log.broken(place, Rule::Identity, "expected a name, found none");
    }
    if !block["input"].is_object() {
        let found = brief(block.get("input"));
        log.broken(format!("{place}.input"), Rule::Arguments, format!("expected an object, found {found}"));
    }
}

/// Checks that the message behind a turn answers all its calls, before anything else.
fn answers(blocks: &[Value], open: &mut Vec<&str>, place: &str, log: &mut Log) {
    let mut said = false;
    for (at, block) in blocks.iter().enumerate() {
        let place = format!("{place}.content[{at}]");
        if block["type"] != "tool_result" {
            said = true;
            continue;
        }
        let id = text(block, "tool_use_id");
        match open.iter().position(|call| *call == id) {
            Some(_) if said => {
                log.broken(place, Rule::CallAnswered, "expected results first, found something before one");
                open.retain(|call| *call != id);
            }
            Some(call) => {
                open.remove(call);
            }
            None => {
                let message = format!("expected a tool_use {id:?} in the turn before, found none");
                log.broken(place, Rule::CallAnswered, message);
            }
        }
    }
    for call in open.drain(..) {
        log.broken(place, Rule::CallAnswered, format!("expected the result of call {call:?}, found none"));
    }
}
