//! Typed, borrowed views of events, items and responses. Fields stay raw until they are needed, since providers send
//! nulls, numbers and objects where others send strings.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::delta::{Text, UpstreamError, Usage};
use crate::spelling;
use crate::wire::DecodeError;

pub(super) type Raw<'a> = Option<&'a RawValue>;

/// A streamed event: all fields of all known types.
#[derive(Debug, Deserialize)]
pub(super) struct Event<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Raw<'a>,
    #[serde(borrow)]
    pub(super) sequence_number: Raw<'a>,
    #[serde(borrow)]
    pub(super) item_id: Raw<'a>,
    pub(super) output_index: Option<u32>,
    pub(super) content_index: Option<u32>,
    pub(super) summary_index: Option<u32>,
    #[serde(borrow)]
    pub(super) delta: Raw<'a>,
    #[serde(borrow)]
    pub(super) text: Raw<'a>,
    #[serde(borrow)]
    pub(super) refusal: Raw<'a>,
    #[serde(borrow)]
    pub(super) transcript: Raw<'a>,
    #[serde(borrow)]
    pub(super) arguments: Raw<'a>,
    #[serde(borrow)]
    pub(super) input: Raw<'a>,
    #[serde(borrow)]
    pub(super) name: Raw<'a>,
    #[serde(borrow)]
    pub(super) logprobs: Raw<'a>,
    #[serde(borrow)]
    pub(super) item: Raw<'a>,
    #[serde(borrow)]
    pub(super) part: Raw<'a>,
    #[serde(borrow)]
    pub(super) response: Raw<'a>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
    #[serde(borrow)]
    pub(super) code: Raw<'a>,
    #[serde(borrow)]
    pub(super) message: Raw<'a>,
}

/// The response object of opening and terminal events, and of a whole response.
#[derive(Debug, Deserialize)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub(super) id: Raw<'a>,
    #[serde(borrow)]
    pub(super) object: Raw<'a>,
    #[serde(borrow)]
    pub(super) model: Raw<'a>,
    #[serde(borrow)]
    pub(super) status: Raw<'a>,
    #[serde(borrow)]
    pub(super) output: Option<Vec<&'a RawValue>>,
    #[serde(borrow)]
    pub(super) output_text: Raw<'a>,
    #[serde(borrow)]
    pub(super) incomplete_details: Raw<'a>,
    #[serde(borrow)]
    pub(super) error: Raw<'a>,
    #[serde(borrow)]
    pub(super) usage: Raw<'a>,
}

/// An output item.
#[derive(Debug, Deserialize)]
pub(super) struct Item<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Raw<'a>,
    #[serde(borrow)]
    pub(super) id: Raw<'a>,
    #[serde(borrow)]
    pub(super) call_id: Raw<'a>,
    #[serde(borrow)]
    pub(super) name: Raw<'a>,
    #[serde(borrow)]
    pub(super) arguments: Raw<'a>,
    #[serde(borrow)]
    pub(super) input: Raw<'a>,
    #[serde(borrow)]
    pub(super) action: Raw<'a>,
    #[serde(borrow)]
    pub(super) actions: Raw<'a>,
    #[serde(borrow)]
    pub(super) operation: Raw<'a>,
    #[serde(borrow)]
    pub(super) content: Raw<'a>,
    #[serde(borrow)]
    pub(super) summary: Raw<'a>,
    #[serde(borrow)]
    pub(super) execution: Raw<'a>,
    #[serde(borrow)]
    pub(super) code: Raw<'a>,
}

/// A part of a message or of a reasoning item.
#[derive(Debug, Deserialize)]
pub(super) struct ContentPart<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Raw<'a>,
    #[serde(borrow)]
    pub(super) text: Raw<'a>,
    #[serde(borrow)]
    pub(super) refusal: Raw<'a>,
    #[serde(borrow)]
    pub(super) transcript: Raw<'a>,
}

#[derive(Debug, Deserialize)]
struct ErrorBody<'a> {
    #[serde(borrow)]
    code: Raw<'a>,
    #[serde(borrow, rename = "type")]
    kind: Raw<'a>,
    #[serde(borrow)]
    message: Raw<'a>,
}

#[derive(Debug, Deserialize)]
struct UsageBody {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Details<'a> {
    #[serde(borrow)]
    reason: Raw<'a>,
}

/// A string, borrowed where it has no escape (a bare `Cow` would always own).
#[derive(Debug, Deserialize)]
struct Str<'a>(#[serde(borrow)] Cow<'a, str>);

/// Reads a value as `T`, or says what was expected.
pub(super) fn parse<'a, T: Deserialize<'a>>(raw: &'a str, expected: &str) -> Result<T, DecodeError> {
    spelling::from_str(raw).map_err(|error| DecodeError::json(expected, &error))
}

/// The string that a raw value is; `None` for anything else.
pub(super) fn string(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    let raw = raw?.get();
    if !raw.starts_with('"') {
        return None;
    }
    serde_json::from_str::<Str<'_>>(raw).ok().map(|string| string.0)
}

/// A string that carries text: null counts as absent, any other type is an error.
pub(super) fn text<'a>(raw: Raw<'a>, field: &str) -> Result<Cow<'a, str>, DecodeError> {
    match raw {
        None => Ok(Cow::Borrowed("")),
        Some(value) => string(raw).ok_or_else(|| {
            DecodeError::new(
                format!("a string in `{field}`"),
                format!("a value that starts with {:?}", first(value)),
            )
        }),
    }
}

/// A string, or the raw JSON of what stands in its place.
pub(super) fn loose(raw: Raw<'_>) -> Option<Cow<'_, str>> {
    string(raw).or_else(|| raw.map(|value| Cow::Borrowed(value.get())))
}

/// An id: absent, null, empty and `"null"` are none.
pub(super) fn id(raw: Raw<'_>) -> Option<Text> {
    loose(raw).filter(|id| !id.is_empty() && id != "null").map(Into::into)
}

/// A name: absent, null and empty are none.
pub(super) fn name(raw: Raw<'_>) -> Option<Text> {
    string(raw).filter(|name| !name.is_empty()).map(Into::into)
}

/// Token counts; what does not look like them is none.
pub(super) fn usage(raw: Raw<'_>) -> Option<Usage> {
    let body: UsageBody = serde_json::from_str(raw?.get()).ok()?;
    Some(Usage { input: body.input_tokens, output: body.output_tokens, total: body.total_tokens })
}

/// The reason of `incomplete_details`.
pub(super) fn reason(details: Raw<'_>) -> Option<Cow<'_, str>> {
    string(serde_json::from_str::<Details<'_>>(details?.get()).ok()?.reason)
}

/// An error object, or whatever stands in its place as the message.
pub(super) fn error(raw: Raw<'_>) -> UpstreamError {
    let Some(value) = raw else { return UpstreamError::default() };
    match serde_json::from_str::<ErrorBody<'_>>(value.get()) {
        Ok(body) => error_fields(body.code.or(body.kind), body.message),
        Err(_) => error_fields(None, raw),
    }
}

pub(super) fn error_fields(code: Raw<'_>, message: Raw<'_>) -> UpstreamError {
    UpstreamError { code: loose(code).map(Into::into), message: loose(message).map(Into::into) }
}

fn first(value: &RawValue) -> char {
    value.get().chars().next().unwrap_or_default()
}
