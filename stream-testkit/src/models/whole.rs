//! Whole responses.

use serde_json::Value;

use super::reading::{Call, CallKind, Reading};
use super::{anthropic, chat, gemini, responses};
use crate::WireKind;

/// The reading of a body: every choice and candidate, every block and item.
pub(super) fn read(kind: WireKind, body: &Value) -> Reading {
    if body.get("error").is_some_and(|error| !error.is_null()) {
        return Reading::raised(body["error"].to_string());
    }
    let mut reading = Reading::default();
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    match kind {
        WireKind::OpenAiChat => {
            let mut texts = chat::Texts::default();
            for (at, choice) in list(&body["choices"]).iter().enumerate() {
                let message = &choice["message"];
                texts.add(&at.to_string(), message);
                for call in list(&message["tool_calls"]).iter().chain(legacy(message).iter()) {
                    reading.calls.extend(made(call));
                }
            }
            texts.tell(&mut reading);
        }
        WireKind::OpenAiResponses => responses::tell(&mut reading, &list(&body["output"])),
        WireKind::AnthropicMessages => {
            let mut message = anthropic::Message::default();
            message.content(&body["content"]);
            message.tell(&mut reading);
        }
        WireKind::Gemini => {
            let mut answer = gemini::Answer::default();
            let chunks = if body.is_array() { list(body) } else { vec![body.clone()] };
            for chunk in &chunks {
                for (at, candidate) in list(&chunk["candidates"]).iter().enumerate() {
                    answer.add(&at.to_string(), candidate);
                }
            }
            answer.tell(&mut reading);
        }
    }
    reading
}

fn legacy(message: &Value) -> Option<Value> {
    let function = message.get("function_call").filter(|call| call.is_object())?;
    Some(serde_json::json!({"function": function}))
}

fn made(call: &Value) -> Option<Call> {
    let (kind, fields, body) = match call.get("custom").filter(|custom| custom.is_object()) {
        Some(custom) => (CallKind::Custom, custom, "input"),
        None => (CallKind::Function, call.get("function")?, "arguments"),
    };
    let name = fields["name"].as_str().filter(|name| !name.is_empty())?.to_owned();
    let arguments = match &fields[body] {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    };
    Some(Call { kind, name, arguments })
}
