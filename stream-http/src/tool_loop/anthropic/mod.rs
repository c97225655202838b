//! Messages: numbered blocks, `tool_result` blocks.

mod join;
mod request;
mod said;
mod whole;

pub(super) use self::join::Joiner;
pub(super) use self::request::{free_choice, offer};
pub(super) use self::whole::{extend_whole, whole};

use serde_json::{Map, Value};

use super::json::{Object, added};

/// Whether a block is a call that the client runs.
fn is_call(block: &Object) -> bool {
    block.text("type").as_deref() == Some("tool_use")
}

/// The counts that a `message_delta` has: the others stand in the opening alone.
fn counts(usage: &Value) -> Value {
    let Value::Object(usage) = usage else { return Value::Null };
    let kept: Map<String, Value> = usage
        .iter()
        .filter(|(key, _)| COUNTS.contains(&key.as_str()))
        .map(|(k, v)| (k.clone(), v.clone()))
        .collect();
    Value::Object(kept)
}

/// The counts of one message: what is said later wins.
fn later(earlier: &Value, later: &Value) -> Value {
    let (Value::Object(earlier), Value::Object(later)) = (earlier, later) else {
        return added(earlier, later);
    };
    let mut all = earlier.clone();
    all.extend(later.iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k.clone(), v.clone())));
    Value::Object(all)
}

const COUNTS: [&str; 5] = [
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "server_tool_use",
];
