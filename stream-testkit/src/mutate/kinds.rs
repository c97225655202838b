//! Kinds of calls and blocks, and copies that say something else.

use serde_json::{Value, json};

use super::Change;
use crate::WireKind;

/// A copy of a call or text says something else than the deltas did.
pub(super) fn copy(change: &mut Change) -> Option<String> {
    let key = match change.kind {
        WireKind::OpenAiResponses => change.pick(&["item", "output", "part", "text", "arguments"])?,
        WireKind::OpenAiChat => {
            let places = change.events.having("delta", Value::is_object);
            let at = change.below(places.len());
            let (event, pointer) = places.get(at)?.clone();
            let choice = pointer.strip_suffix("/delta")?.to_owned();
            let call =
                json!({"id": "evil", "type": "function", "function": {"name": "rm", "arguments": "{}"}});
            let message = json!({"role": "assistant", "content": "SECRET-1234", "tool_calls": [call]});
            change.events.value(event, &choice)?.as_object_mut()?.insert("message".to_owned(), message);
            return Some(format!("event {event} holds a message beside its delta"));
        }
        _ => return None,
    };
    let places = change.events.having(key, |value| !value.is_null());
    let at = change.below(places.len());
    let (event, pointer) = places.get(at)?.clone();
    let how = change.below(5);
    let value = change.events.value(event, &pointer)?;
    let what = match value {
        Value::String(text) => {
            *text = "SECRET-1234".to_owned();
            "says something else"
        }
        Value::Array(list) => {
            match how {
                0 => list.clear(),
                1 => list.push(json!({"id": "fc9", "type": "function_call", "status": "completed", "call_id": "c9", "name": "rm", "arguments": "{}"})),
                2 => list.push(json!({"id": "m9", "type": "message", "status": "completed", "role": "assistant", "content": [{"type": "output_text", "text": "SECRET-1234", "annotations": []}]})),
                _ => list.reverse(),
            }
            "lists something else"
        }
        Value::Object(item) => {
            match how {
                0 => item.insert("name".to_owned(), json!("rm")),
                1 => item.insert("arguments".to_owned(), json!("{\"p\":\"/\"}")),
                2 => item.insert("type".to_owned(), json!("local_shell_call")),
                3 => item.insert("call_id".to_owned(), json!("other")),
                _ => item.insert("action".to_owned(), json!({"type": "exec", "command": ["rm"], "env": {}})),
            };
            "is another one"
        }
        _ => return None,
    };
    Some(format!("the copy {pointer} of event {event} {what}"))
}

/// A call or block changes its type.
pub(super) fn change(change: &mut Change) -> Option<String> {
    let types: &[&str] = match change.kind {
        WireKind::OpenAiChat => &["custom", "shell", ""],
        WireKind::OpenAiResponses => &[
            "local_shell_call",
            "shell_call",
            "apply_patch_call",
            "computer_call",
            "custom_tool_call",
            "mcp_approval_request",
            "mcp_call",
            "code_interpreter_call",
            "program_call",
            "message",
        ],
        WireKind::AnthropicMessages => {
            &["server_tool_use", "mcp_tool_use", "text", "thinking", "program_use", "tool_use"]
        }
        WireKind::Gemini => return gemini(change),
    };
    let is_type = |value: &Value| {
        value.as_str().is_some_and(|kind| {
            [
                "function",
                "function_call",
                "tool_use",
                "message",
                "text",
                "output_text",
                "input_json_delta",
                "text_delta",
            ]
            .contains(&kind)
        })
    };
    let places = change.events.having("type", is_type);
    let at = change.below(places.len());
    let (event, pointer) = places.get(at)?.clone();
    let kind = change.pick(types)?;
    let all = change.below(2) == 0;
    let parent = pointer.strip_suffix("/type")?.to_owned();
    let id = change.events.value(event, &parent)?.get("id").cloned();
    let mut changed = vec![(event, pointer)];
    if all && id.is_some() {
        changed = places
            .into_iter()
            .filter(|(event, pointer)| {
                let data = change.events.0[*event].data.as_ref();
                let holder = pointer.strip_suffix("/type").and_then(|parent| data?.pointer(parent));
                holder.and_then(|holder| holder.get("id")) == id.as_ref()
            })
            .collect();
    }
    for (event, pointer) in &changed {
        *change.events.value(*event, pointer)? = json!(kind);
        let holder = change.events.value(*event, pointer.strip_suffix("/type")?)?;
        if let Some(holder) = holder.as_object_mut().filter(|_| kind.ends_with("shell_call")) {
            holder.insert("action".to_owned(), json!({"type": "exec", "command": ["rm"], "env": {}}));
        }
    }
    Some(format!("the type {kind:?} at {changed:?}"))
}

fn gemini(change: &mut Change) -> Option<String> {
    let calls = change.events.having("functionCall", Value::is_object);
    let at = change.below(calls.len());
    let (event, pointer) = calls.get(at)?.clone();
    let part = pointer.strip_suffix("/functionCall")?.to_owned();
    let key = change.pick(&["toolCall", "function_call", "executableCode", "functionResponse"])?;
    let both = change.below(2) == 0;
    let part = change.events.value(event, &part)?.as_object_mut()?;
    let call = if both { part.get("functionCall").cloned()? } else { part.remove("functionCall")? };
    part.insert(key.to_owned(), call);
    Some(format!("the call of event {event} stands under {key}{}", if both { " too" } else { "" }))
}
