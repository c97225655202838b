//! The grammar: the objects of events, items and responses, with their keys, and the readers of their fields.
//!
//! A field is read only where it is needed, since providers send nulls, numbers and objects where others send strings.

use std::borrow::Cow;

use super::kinds::{EventType, PREFIX};
use crate::delta::{Text, UpstreamError, Usage};
use crate::wire::DecodeError;
use crate::wire::document::{Of, Table, Value};

/// A streamed event: all fields of all known types.
pub(super) static EVENT: Table = Table::new(&[
    ("type", Of::Leaf),
    ("sequence_number", Of::Leaf),
    ("item_id", Of::Leaf),
    ("output_index", Of::Leaf),
    ("content_index", Of::Leaf),
    ("delta", Of::Leaf),
    ("logprobs", Of::Leaf),
    ("summary_index", Of::Leaf),
    ("text", Of::Leaf),
    ("refusal", Of::Leaf),
    ("transcript", Of::Leaf),
    ("arguments", Of::Leaf),
    ("input", Of::Leaf),
    ("name", Of::Leaf),
    ("command_index", Of::Leaf),
    ("command", Of::Leaf),
    ("diff", Of::Leaf),
    ("item", Of::Object(&ITEM)),
    ("part", Of::Object(&PART)),
    ("response", Of::Object(&RESPONSE)),
    ("error", Of::Object(&ERROR)),
    ("code", Of::Leaf),
    ("message", Of::Leaf),
    // No fields of this format: clients of chat and of Gemini look for them.
    ("choices", Of::Leaf),
    ("candidates", Of::Leaf),
]);

/// The response object of opening and terminal events, and of a whole response.
pub(super) static RESPONSE: Table = Table::new(&[
    ("id", Of::Leaf),
    ("object", Of::Leaf),
    ("model", Of::Leaf),
    ("status", Of::Leaf),
    ("output", Of::List(&Of::Object(&ITEM))),
    ("output_text", Of::Leaf),
    ("incomplete_details", Of::Object(&DETAILS)),
    ("error", Of::Object(&ERROR)),
    ("usage", Of::Object(&COUNTS)),
]);

/// An output item.
static ITEM: Table = Table::new(&[
    ("type", Of::Leaf),
    ("id", Of::Leaf),
    ("call_id", Of::Leaf),
    ("name", Of::Leaf),
    ("arguments", Of::Leaf),
    ("input", Of::Leaf),
    ("action", Of::Leaf),
    ("actions", Of::Leaf),
    ("operation", Of::Leaf),
    ("content", Of::List(&Of::Object(&PART))),
    ("summary", Of::List(&Of::Object(&PART))),
    ("execution", Of::Leaf),
    ("code", Of::Leaf),
]);

/// A part of a message or of a reasoning item.
static PART: Table =
    Table::new(&[("type", Of::Leaf), ("text", Of::Leaf), ("refusal", Of::Leaf), ("transcript", Of::Leaf)]);

static ERROR: Table = Table::loose(&[("code", Of::Leaf), ("type", Of::Leaf), ("message", Of::Leaf)]);

static COUNTS: Table =
    Table::loose(&[("input_tokens", Of::Leaf), ("output_tokens", Of::Leaf), ("total_tokens", Of::Leaf)]);

static DETAILS: Table = Table::loose(&[("reason", Of::Leaf)]);

/// The key that distinguishes a whole response of this format from all others, however odd the rest is.
pub(super) static PROBE: Table = Table::loose(&[("object", Of::Leaf)]);

/// An event: its type, and the numbers of its item and its part.
#[derive(Debug)]
pub(super) struct Event<'d> {
    value: Value<'d>,
    /// The type.
    pub(super) kind: Option<Cow<'d, str>>,
    pub(super) known: Option<&'static EventType>,
    pub(super) output_index: Option<u32>,
    pub(super) content_index: Option<u32>,
    pub(super) summary_index: Option<u32>,
}

impl<'d> Event<'d> {
    pub(super) fn read(value: Value<'d>) -> Result<Self, DecodeError> {
        let number = |name: &str| {
            let read = |field: Value<'_>| {
                let error = |_| DecodeError::new(format!("a number as `{name}`"), field.describe());
                field.raw().parse().map_err(error)
            };
            value.get(name).map(read).transpose()
        };
        let kind = value.word("type");
        Ok(Self {
            value,
            known: kind.as_deref().and_then(EventType::of),
            kind,
            output_index: number("output_index")?,
            content_index: number("content_index")?,
            summary_index: number("summary_index")?,
        })
    }

    /// The type behind `response.`, if it begins so.
    pub(super) fn name(&self) -> Option<&str> {
        self.kind.as_deref()?.strip_prefix(PREFIX)
    }

    /// The item of the event; the first item where the event has no number.
    pub(super) fn item(&self) -> u32 {
        self.output_index.unwrap_or(0)
    }

    /// A field; `None` where it is null.
    pub(super) fn get(&self, name: &str) -> Option<Value<'d>> {
        self.value.get(name)
    }

    /// The document of the event.
    pub(super) fn value(&self) -> Value<'d> {
        self.value
    }

    /// A field that has to be an object.
    pub(super) fn object(&self, name: &str) -> Result<Value<'d>, DecodeError> {
        match self.get(name) {
            Some(field) => field.expect_object(name),
            None => Err(DecodeError::new(format!("the field `{name}`"), "none")),
        }
    }
}

/// A string that carries text: null counts as absent, any other type is an error.
pub(super) fn text<'d>(field: Option<Value<'d>>, name: &str) -> Result<Cow<'d, str>, DecodeError> {
    field.map_or(Ok(Cow::Borrowed("")), |field| field.expect_string(name))
}

/// A string, or the raw JSON of another value.
pub(super) fn loose(field: Option<Value<'_>>) -> Option<Cow<'_, str>> {
    field.map(Value::text)
}

/// An id: absent, null, empty and `"null"` are none.
pub(super) fn id(field: Option<Value<'_>>) -> Option<Text> {
    id_text(field).map(Into::into)
}

/// As [`id`], borrowed.
pub(super) fn id_text(field: Option<Value<'_>>) -> Option<Cow<'_, str>> {
    loose(field).filter(|id| !id.is_empty() && id != "null")
}

/// Token counts; any value but an object has none.
pub(super) fn usage(response: Value<'_>) -> Option<Usage> {
    let counts = response.get("usage").filter(|counts| counts.is_object())?;
    let number = |name: &str| counts.get(name).and_then(|raw| raw.raw().parse().ok());
    Some(Usage {
        input: number("input_tokens"),
        output: number("output_tokens"),
        total: number("total_tokens"),
    })
}

/// An error object; any other value is the message of the error.
pub(super) fn error(field: Option<Value<'_>>) -> UpstreamError {
    match field {
        None => UpstreamError::default(),
        Some(error) if error.is_object() => {
            error_fields(error.get("code").or(error.get("type")), error.get("message"))
        }
        Some(_) => error_fields(None, field),
    }
}

pub(super) fn error_fields(code: Option<Value<'_>>, message: Option<Value<'_>>) -> UpstreamError {
    UpstreamError { code: loose(code).map(Into::into), message: loose(message).map(Into::into) }
}

/// The fields of an item that is written anew. Any other field may hold a copy of dropped payload; the same holds for the fields
/// of a part, an error and a response below.
pub(super) const KEPT_OF_ITEM: &[&str] = &[
    "id",
    "type",
    "status",
    "role",
    "phase",
    "content",
    "summary",
    "encrypted_content",
    "call_id",
    "name",
    "namespace",
    "caller",
    "arguments",
    "input",
    "action",
    "actions",
    "operation",
    "environment",
    "pending_safety_checks",
    "server_label",
];

pub(super) const KEPT_OF_PART: &[&str] =
    &["type", "text", "refusal", "transcript", "annotations", "logprobs"];

pub(super) const KEPT_OF_ERROR: &[&str] = &["code", "message"];

pub(super) const KEPT_OF_RESPONSE: &[&str] = &[
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "background",
    "conversation",
    "error",
    "frequency_penalty",
    "incomplete_details",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "output",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "usage",
    "user",
];
