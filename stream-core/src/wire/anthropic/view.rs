//! Typed, borrowed views of the JSON of events and messages.
//!
//! Every field is a raw slice that is looked into only where it is needed: a provider may send `null`, or something
//! else altogether, in any field nobody reads, and serde's own type errors would quote the stream's text.

use std::borrow::Cow;

use memchr::memchr;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use crate::delta::{FinishKind, FinishReason, Text, UpstreamError, Usage};
use crate::spelling;
use crate::wire::DecodeError;

/// A field that may be absent, null, or of any type.
pub(super) type Field<'a> = Option<&'a RawValue>;

/// The data of an event.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) message: Field<'a>,
    #[serde(borrow)]
    pub(super) index: Field<'a>,
    #[serde(borrow)]
    pub(super) content_block: Field<'a>,
    #[serde(borrow)]
    pub(super) delta: Field<'a>,
    #[serde(borrow)]
    pub(super) usage: Field<'a>,
    #[serde(borrow)]
    pub(super) error: Field<'a>,
}

/// A message: in `message_start`, or as a whole response.
#[derive(Debug, Deserialize)]
pub(super) struct Message<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) id: Field<'a>,
    #[serde(borrow)]
    pub(super) model: Field<'a>,
    #[serde(borrow)]
    pub(super) content: Field<'a>,
    #[serde(borrow)]
    pub(super) stop_reason: Field<'a>,
    #[serde(borrow)]
    pub(super) usage: Field<'a>,
    #[serde(borrow)]
    pub(super) error: Field<'a>,
}

/// A content block.
#[derive(Debug, Deserialize)]
pub(super) struct Block<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) text: Field<'a>,
    #[serde(borrow)]
    pub(super) thinking: Field<'a>,
    #[serde(borrow)]
    pub(super) citations: Field<'a>,
    #[serde(borrow)]
    pub(super) id: Field<'a>,
    #[serde(borrow)]
    pub(super) name: Field<'a>,
    #[serde(borrow)]
    pub(super) input: Field<'a>,
}

/// The `delta` of a `content_block_delta`.
#[derive(Debug, Deserialize)]
pub(super) struct BlockDelta<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Field<'a>,
    #[serde(borrow)]
    pub(super) text: Field<'a>,
    #[serde(borrow)]
    pub(super) thinking: Field<'a>,
    #[serde(borrow)]
    pub(super) partial_json: Field<'a>,
    #[serde(borrow)]
    pub(super) signature: Field<'a>,
    #[serde(borrow)]
    pub(super) citation: Field<'a>,
}

/// The `delta` of a `message_delta`.
#[derive(Debug, Deserialize)]
pub(super) struct MessageDelta<'a> {
    #[serde(borrow)]
    pub(super) stop_reason: Field<'a>,
}

#[derive(Debug, Deserialize)]
struct Counts<'a> {
    #[serde(borrow)]
    input_tokens: Field<'a>,
    #[serde(borrow)]
    output_tokens: Field<'a>,
}

#[derive(Debug, Deserialize)]
struct ErrorBody<'a> {
    #[serde(borrow, rename = "type")]
    kind: Field<'a>,
    #[serde(borrow)]
    message: Field<'a>,
}

/// A document as a view; `None` if it is JSON, and no object.
pub(super) fn document<'a, T: Deserialize<'a>>(json: &'a str, what: &str) -> Result<Option<T>, DecodeError> {
    if json.trim_ascii_start().starts_with('{') {
        return spelling::from_str(json).map(Some).map_err(|error| DecodeError::json(what, &error));
    }
    serde_json::from_str::<IgnoredAny>(json).map_err(|error| DecodeError::json(what, &error))?;
    Ok(None)
}

/// A field that has to be an object.
pub(super) fn object<'a, T: Deserialize<'a>>(field: Field<'a>, what: &str) -> Result<T, DecodeError> {
    let raw = field.map_or("", RawValue::get);
    if raw.starts_with('{') {
        return spelling::from_str(raw).map_err(|error| DecodeError::json(what, &error));
    }
    Err(DecodeError::new(format!("an object as {what}"), describe(field)))
}

/// A field that has to be an array, if it is there.
pub(super) fn array<'a>(field: Field<'a>, what: &str) -> Result<Vec<&'a RawValue>, DecodeError> {
    let Some(raw) = field else { return Ok(Vec::new()) };
    if raw.get().starts_with('[') {
        return serde_json::from_str(raw.get()).map_err(|error| DecodeError::json(what, &error));
    }
    Err(DecodeError::new(format!("an array as {what}"), describe(field)))
}

/// A field that has to be a string, if it is there.
pub(super) fn string<'a>(field: Field<'a>, what: &str) -> Result<Option<Cow<'a, str>>, DecodeError> {
    let Some(raw) = field else { return Ok(None) };
    match quoted(raw.get()) {
        Some(inner) if memchr(b'\\', inner.as_bytes()).is_none() => Ok(Some(Cow::Borrowed(inner))),
        Some(_) => serde_json::from_str::<String>(raw.get())
            .map(|text| Some(Cow::Owned(text)))
            .map_err(|error| DecodeError::json(what, &error)),
        None => Err(DecodeError::new(format!("a string as {what}"), describe(field))),
    }
}

/// A field as a string where it is one; of a word that only tells what something is.
pub(super) fn word<'a>(field: Field<'a>) -> Option<Cow<'a, str>> {
    string(field, "").ok().flatten()
}

/// A string that says something: not absent, null or empty.
pub(super) fn filled(field: Field<'_>, what: &str) -> Result<Option<Text>, DecodeError> {
    Ok(string(field, what)?.filter(|text| !text.is_empty()).map(Text::from))
}

/// An id; some servers write the absence of one as the string `"null"`.
pub(super) fn id(field: Field<'_>, what: &str) -> Result<Option<Text>, DecodeError> {
    Ok(filled(field, what)?.filter(|id| &**id != "null"))
}

/// The number of a block. Without one a client cannot tell where an event belongs.
pub(super) fn index(field: Field<'_>) -> Result<u32, DecodeError> {
    field
        .and_then(|raw| raw.get().parse().ok())
        .ok_or_else(|| DecodeError::new("a block's number as `index`", describe(field)))
}

/// A stop reason, if there is one.
pub(super) fn finish(field: Field<'_>) -> Result<Option<FinishReason>, DecodeError> {
    Ok(filled(field, "`stop_reason`")?.map(|raw| {
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
pub(super) fn usage(field: Field<'_>) -> Result<Option<Usage>, DecodeError> {
    let Some(raw) = field.filter(|raw| raw.get().starts_with('{')) else { return Ok(None) };
    let counts: Counts<'_> = object(Some(raw), "`usage`")?;
    let number = |field: Field<'_>| field.and_then(|raw| raw.get().parse().ok());
    Ok(Some(Usage { input: number(counts.input_tokens), output: number(counts.output_tokens), total: None }))
}

/// What an error says of itself, in whatever shape it came.
pub(super) fn error(field: Field<'_>) -> UpstreamError {
    let text = |field| word(field).map(Text::from);
    match object::<ErrorBody<'_>>(field, "`error`") {
        Ok(body) => UpstreamError { code: text(body.kind), message: text(body.message) },
        Err(_) => UpstreamError { code: None, message: text(field) },
    }
}

/// Bytes that have to be UTF-8 to be JSON.
pub(super) fn utf8(bytes: &[u8]) -> Result<&str, DecodeError> {
    std::str::from_utf8(bytes).map_err(|error| DecodeError::new("UTF-8", error.to_string()))
}

fn quoted(raw: &str) -> Option<&str> {
    raw.strip_prefix('"')?.strip_suffix('"')
}

/// The type of a value, in words that quote nothing of it.
fn describe(field: Field<'_>) -> &'static str {
    match field.map(|raw| raw.get().as_bytes()) {
        None => "none",
        Some([b'{', ..]) => "an object",
        Some([b'[', ..]) => "an array",
        Some([b'"', ..]) => "a string",
        Some([b't' | b'f', ..]) => "a boolean",
        Some(_) => "a number",
    }
}
