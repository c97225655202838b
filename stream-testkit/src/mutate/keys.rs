//! Keys twice, in other letters, or written with escapes.

use serde_json::{Value, json};

use super::Change;
use super::events::{escaped, twin};
use crate::WireKind;

/// One known key of one event is doubled, re-spelled or escaped; what the other spelling says is not what the first
/// does.
pub(super) fn change(change: &mut Change) -> Option<String> {
    let keys: &[&str] = match change.kind {
        WireKind::OpenAiChat => &[
            "index",
            "delta",
            "tool_calls",
            "function",
            "name",
            "arguments",
            "content",
            "choices",
            "id",
            "finish_reason",
        ],
        WireKind::OpenAiResponses => &[
            "output_index",
            "item",
            "name",
            "arguments",
            "type",
            "delta",
            "output",
            "call_id",
            "text",
            "response",
        ],
        WireKind::AnthropicMessages => {
            &["index", "content_block", "delta", "name", "input", "partial_json", "type", "text", "id"]
        }
        WireKind::Gemini => {
            &["index", "candidates", "content", "parts", "functionCall", "name", "args", "text"]
        }
    };
    let key = change.pick(keys)?;
    let places = change.events.having(key, |_| true);
    let at = change.below(places.len());
    let (event, pointer) = places.get(at)?.clone();
    let parent = pointer.rsplit_once('/')?.0.to_owned();
    let object = change.events.value(event, &parent)?.as_object()?.clone();
    let value = object.get(key)?.clone();
    let other = other(key, &value);
    let how = change.below(5);
    let object = change.events.value(event, &parent)?.as_object_mut()?;
    let what = match how {
        0 => {
            object.insert(twin(key), other);
            "stands twice, first with another value"
        }
        1 => {
            object.insert(twin(key), value);
            object.insert(key.to_owned(), other);
            "stands twice, last with another value"
        }
        2 => {
            object.insert(capital(key), other);
            "stands beside itself with a capital"
        }
        3 => {
            object.insert(escaped(key), other);
            "stands beside itself with an escape"
        }
        _ => {
            object.remove(key);
            object.insert(escaped(key), value);
            "is written with an escape"
        }
    };
    Some(format!("{key} at {parent} of event {event} {what}"))
}

fn capital(key: &str) -> String {
    let mut letters = key.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Another value of the same type.
fn other(key: &str, value: &Value) -> Value {
    match value {
        Value::String(_) if key == "name" => json!("rm"),
        Value::String(_) if key == "arguments" || key == "partial_json" => json!("{\"p\":\"/\"}"),
        Value::String(_) => json!("SECRET-1234"),
        Value::Number(number) => json!(number.as_u64().unwrap_or_default() + 1),
        Value::Array(_) => json!([]),
        Value::Object(members) => {
            let renamed = members.iter().map(|(key, value)| {
                let value = if key == "name" { json!("rm") } else { value.clone() };
                (key.clone(), value)
            });
            Value::Object(renamed.collect())
        }
        other => other.clone(),
    }
}
