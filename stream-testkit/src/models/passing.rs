//! Clients that pass over some events and go on behind them: each is another client's way of reading, of fewer events.

use serde_json::Value;

use super::lines::Sse;
use super::reading::Reading;
use super::{anthropic, chat, responses};

/// openai-python's stream helper passes over chunks whose `object` is another one.
pub(super) fn by_object(events: &[Sse]) -> Reading {
    chat::by_position(&kept(events, |chunk| {
        let is_other = chunk["object"] != "chat.completion.chunk";
        (!is_other || chunk.get("error").is_some()).then(|| chunk.clone())
    }))
}

/// LangChain passes over events of openai-python's stream helper by their type, and reads the chunk within the others.
pub(super) fn of_a_helper(events: &[Sse]) -> Reading {
    chat::merged(&kept(events, |chunk| {
        let is_empty = chunk["choices"].as_array().is_none_or(Vec::is_empty);
        match chunk.get("chunk").filter(|_| is_empty) {
            _ if chunk["type"] == "content.delta" => None,
            Some(within) => Some(within.clone()),
            None => Some(chunk.clone()),
        }
    }))
}

/// pydantic-ai reads nothing beside a refusal.
pub(super) fn beside_no_refusal(events: &[Sse]) -> Reading {
    chat::first_choice(&kept(events, |chunk| {
        let refusal = chunk.pointer("/choices/0/delta/refusal").and_then(Value::as_str);
        refusal.is_none_or(str::is_empty).then(|| chunk.clone())
    }))
}

/// The AI SDK validates every chunk, and goes on behind one that is not what it expects.
pub(super) fn validated(events: &[Sse]) -> Reading {
    chat::by_index_and_name(&kept(events, |chunk| {
        let is = |value: &Value, right: fn(&Value) -> bool| value.is_null() || right(value);
        let is_call = |call: &Value| call["function"].is_object() && is(&call["id"], Value::is_string);
        let is_delta = |delta: &Value| {
            is(&delta["role"], |role| role == "assistant")
                && delta["tool_calls"].as_array().is_none_or(|calls| calls.iter().all(is_call))
        };
        let is_valid = is(&chunk["id"], Value::is_string)
            && is(&chunk["model"], Value::is_string)
            && is(&chunk["created"], Value::is_number)
            && is(&chunk["usage"], Value::is_object)
            && chunk["choices"]
                .as_array()
                .is_none_or(|all| all.iter().all(|choice| is_delta(&choice["delta"])));
        let is_error = chunk.get("error").is_some_and(|error| error.is_object() || error.is_string());
        (is_error || (is_valid && chunk.get("error").is_none())).then(|| chunk.clone())
    }))
}

/// LangChain gives arguments to the item that spoke last, and keeps what it has of a call.
pub(super) fn uninterrupted(events: &[Sse]) -> Reading {
    let mut current = Value::Null;
    responses::by_output_index(&kept(events, |event| {
        let kind = event["type"].as_str().unwrap_or_default();
        let item = &event["item"]["type"];
        let moves = match kind {
            "response.output_item.added" => item == "function_call" || item == "reasoning",
            "response.output_text.delta"
            | "response.output_text.done"
            | "response.output_text.annotation.added"
            | "response.function_call_arguments.delta"
            | "response.reasoning_summary_part.added"
            | "response.reasoning_summary_text.delta" => true,
            _ => false,
        };
        let before = current.clone();
        if moves {
            current = event["output_index"].clone();
        }
        let is_torn = kind == "response.function_call_arguments.delta" && before != current;
        (!is_torn).then(|| event.clone())
    }))
}

/// LangChain gives input to the block that started last, if that is a call.
pub(super) fn of_the_last_block(events: &[Sse]) -> Reading {
    let mut is_call = false;
    anthropic::by_index(&kept(events, |event| {
        if event["type"] == "content_block_start" {
            let kind = event["content_block"]["type"].as_str().unwrap_or_default();
            let counts = ["tool_use", "tool_result", "text", "thinking"];
            if counts.iter().any(|known| kind.contains(known)) {
                is_call = kind == "tool_use";
            }
        }
        let is_lost = event["delta"]["type"] == "input_json_delta" && !is_call;
        (!is_lost).then(|| event.clone())
    }))
}

/// The events that a client reads, as it reads them.
fn kept(events: &[Sse], mut reads: impl FnMut(&Value) -> Option<Value>) -> Vec<Sse> {
    let read = |event: &Sse| match serde_json::from_str::<Value>(&event.data) {
        Ok(value) if value.is_object() => {
            let data = reads(&value)?;
            Some(Sse {
                data: if data == value { event.data.clone() } else { data.to_string() },
                ..event.clone()
            })
        }
        _ => Some(event.clone()),
    };
    events.iter().filter_map(read).collect()
}
