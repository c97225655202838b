//! The grammar: the objects of events and messages, with their keys, and the readers of their fields.
//!
//! A field is read only where it is needed: a provider may send `null`, or a value of another type, in any field that no
//! client reads.

use crate::delta::{FinishKind, FinishReason, Text, UpstreamError, Usage};
use crate::wire::DecodeError;
use crate::wire::document::{Of, Table, Value};

/// The data of an event.
pub(super) static EVENT: Table = Table::new(&[
    ("type", Of::Leaf),
    ("index", Of::Leaf),
    ("delta", Of::Object(&DELTA)),
    ("content_block", Of::Object(&BLOCK)),
    ("message", Of::Object(&MESSAGE)),
    ("usage", Of::Object(&COUNTS)),
    ("error", Of::Object(&ERROR)),
    // No fields of this format: clients of chat and of Gemini look for them.
    ("choices", Of::Leaf),
    ("candidates", Of::Leaf),
]);

/// A message: in `message_start`, or as a whole response.
pub(super) static MESSAGE: Table = Table::new(&[
    ("type", Of::Leaf),
    ("id", Of::Leaf),
    ("model", Of::Leaf),
    ("content", Of::List(&Of::Object(&BLOCK))),
    ("stop_reason", Of::Leaf),
    ("usage", Of::Object(&COUNTS)),
    ("error", Of::Object(&ERROR)),
]);

/// A content block.
pub(super) static BLOCK: Table = Table::new(&[
    ("type", Of::Leaf),
    ("text", Of::Leaf),
    ("thinking", Of::Leaf),
    ("citations", Of::Leaf),
    ("id", Of::Leaf),
    ("name", Of::Leaf),
    ("input", Of::Leaf),
]);

/// The `delta` of a `content_block_delta` or a `message_delta`.
static DELTA: Table = Table::new(&[
    ("type", Of::Leaf),
    ("text", Of::Leaf),
    ("thinking", Of::Leaf),
    ("partial_json", Of::Leaf),
    ("signature", Of::Leaf),
    ("citation", Of::Leaf),
    ("stop_reason", Of::Leaf),
]);

static COUNTS: Table = Table::loose(&[("input_tokens", Of::Leaf), ("output_tokens", Of::Leaf)]);

static ERROR: Table = Table::loose(&[("type", Of::Leaf), ("message", Of::Leaf)]);

/// The fields before `content` of a message that is written anew.
pub(super) const KEPT_OF_MESSAGE: &[&str] = &["id", "type", "role", "model"];
/// The fields behind `content` and the stop fields of a message that is written anew.
pub(super) const KEPT_BEHIND_CONTENT: &[&str] = &["container", "context_management", "usage"];

/// The keys that distinguish an event or a message of this format from all others, however odd the rest is.
pub(super) static PROBE: Table = Table::loose(&[("type", Of::Leaf), ("content", Of::Leaf)]);

/// A field that has to be an object.
pub(super) fn object<'d>(parent: Value<'d>, name: &str) -> Result<Value<'d>, DecodeError> {
    match parent.get(name) {
        Some(field) => field.expect_object(name),
        None => Err(DecodeError::new(format!("an object as `{name}`"), "none")),
    }
}

/// The number of a block. Without a number a client cannot assign an event to its block.
pub(super) fn index(event: Value<'_>) -> Result<u32, DecodeError> {
    let field = event.get("index");
    field
        .and_then(|raw| raw.raw().parse().ok())
        .ok_or_else(|| DecodeError::new("a block's number as `index`", field.map_or("none", Value::describe)))
}

/// A stop reason, if there is one.
pub(super) fn finish(parent: Value<'_>) -> Result<Option<FinishReason>, DecodeError> {
    Ok(parent.filled("stop_reason")?.map(|raw| {
        let kind = match &*raw {
            "end_turn" | "stop_sequence" => FinishKind::Stop,
            "tool_use" => FinishKind::ToolCalls,
            "max_tokens" | "model_context_window_exceeded" => FinishKind::Length,
            "refusal" => FinishKind::Refusal,
            "pause_turn" => FinishKind::Pause,
            _ => FinishKind::Other,
        };
        FinishReason::new(kind, raw)
    }))
}

/// Token counts, if there are any.
pub(super) fn usage(parent: Value<'_>) -> Option<Usage> {
    let counts = parent.get("usage").filter(|counts| counts.is_object())?;
    let number = |name: &str| counts.get(name).and_then(|raw| raw.raw().parse().ok());
    Some(Usage { input: number("input_tokens"), output: number("output_tokens"), total: None })
}

/// An upstream error, an object or a string.
pub(super) fn error(error: Value<'_>) -> UpstreamError {
    let text = |field: Option<Value<'_>>| field.and_then(Value::string).map(Text::from);
    match error.is_object() {
        true => UpstreamError { code: text(error.get("type")), message: text(error.get("message")) },
        false => UpstreamError { code: None, message: text(Some(error)) },
    }
}
