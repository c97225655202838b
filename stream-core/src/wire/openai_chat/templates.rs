//! The templates of chunks, the members of a `delta`, the items of `tool_calls` and errors.

use std::borrow::Cow;

use super::grammar::{Field, SIGNATURES, is_void};
use super::passed_over::is_extra;
use super::write::ChatWriter;
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind, Slot};
use crate::ending::Ending;
use crate::json::{self, Object};
use crate::wire::template::{MadeEvent, NULL, Raw, object};
use crate::wire::writer::Templates;
use crate::wire::{Fate, Part};

/// Members of a `delta`, as name and raw value.
pub(super) type Members = Vec<(&'static str, String)>;

/// The members that a part adds to a delta; empty if nothing is left of the part. The spans of the part refer to `data`; `index` is
/// the index of a call on the wire. Only some servers give calls of whole responses an index (`numbered`).
pub(super) fn members(part: &Part, data: &str, index: Option<u64>, numbered: bool) -> Members {
    let raw = part.delta.site.element.slice(data);
    match &part.delta.kind {
        DeltaKind::Text { text, .. } if text.is_empty() => Members::new(),
        DeltaKind::Text { channel, text } if part.fate == Fate::Inserted => {
            vec![(field_of(*channel), json::quote(text))]
        }
        DeltaKind::Text { channel, text } => self::text(&part.delta, *channel, text, raw),
        DeltaKind::Call(call) if call.flavor == CallFlavor::LegacyFunction => {
            vec![("function_call", function(call, "arguments"))]
        }
        DeltaKind::Call(call) => {
            vec![("tool_calls", json::array([self::call(call, part.fate, raw, index, numbered)]))]
        }
        // The text has no other delta.
        DeltaKind::Copy(copy) if copy.is_first => {
            copy.body.iter().map(|body| ("content", json::quote(body))).collect()
        }
        DeltaKind::Opaque { .. } => self::opaque(&part.delta, raw),
        _ if Field::of(&part.delta) == Some(Field::Signature) => signatures(raw),
        _ => Members::new(),
    }
}

/// An item of `tool_calls`. A kept call has its known fields unchanged; `extra_content` may hold signatures of reasoning
/// (rule 22).
fn call(call: &CallDelta, fate: Fate, raw: &str, index: Option<u64>, numbered: bool) -> String {
    let custom = call.flavor == CallFlavor::Custom;
    let body = if custom { "custom" } else { "function" };
    let numbered = object! { "index": index.filter(|_| numbered) };
    if fate == Fate::Kept {
        let kept = json::map(raw, |name, value| match name {
            "extra_content" => Some(Cow::Borrowed(value)).filter(|value| is_extra(value)),
            "id" | "type" => Some(Cow::Borrowed(value)),
            name if name == body => Some(json::only(value, &["name", "arguments", "input"]).finish().into()),
            _ => None,
        });
        return numbered.and(&kept).finish();
    }
    // Clients answer a call by its id.
    let made = || format!("call_inserted_{}", index.unwrap_or(0));
    let id = call.id.as_deref().map(Cow::Borrowed);
    let id = id.or_else(|| (fate == Fate::Inserted).then(|| made().into()));
    let input = if custom { "input" } else { "arguments" };
    let item = object! {
        "id": id.as_deref(),
        "type": call.name.as_ref().map(|_| body),
        body: Raw(function(call, input)),
    };
    let extra = json::member(raw, "extra_content").filter(|extra| is_extra(extra));
    numbered.and(&item).maybe("extra_content", extra).finish()
}

/// The body of a call: its name, if there is one, and its arguments in `field`.
fn function(call: &CallDelta, field: &str) -> String {
    let arguments = call.arguments.as_deref().unwrap_or_default();
    object! { "name": call.name.as_deref(), field: arguments }.finish()
}

fn text(delta: &Delta, channel: Channel, text: &str, raw: &str) -> Members {
    match Field::of(delta) {
        Some(Field::ContentItem) => vec![("content", json::array([content_item(channel, text)]))],
        Some(Field::Reasoning) => vec![("reasoning", json::quote(text))],
        Some(Field::Detail | Field::Summary) => {
            vec![("reasoning_details", json::array([detail(raw, Some(text))]))]
        }
        _ if delta.slot == Slot::Speech => {
            let id = json::member(raw, "id").map(Raw);
            vec![("audio", object! { "id": id, "transcript": text }.finish())]
        }
        _ => vec![(field_of(channel), json::quote(text))],
    }
}

/// A part of a content list with this text.
fn content_item(channel: Channel, text: &str) -> String {
    let plain = text_item(&json::quote(text));
    match channel {
        Channel::Reasoning => object! { "type": "thinking", "thinking": Raw(json::array([plain])) }.finish(),
        _ => plain,
    }
}

/// A part of a content list with this text, which is quoted.
pub(super) fn text_item(quoted: &str) -> String {
    object! { "type": "text", "text": Raw(quoted) }.finish()
}

fn opaque(delta: &Delta, raw: &str) -> Members {
    match Field::of(delta) {
        Some(Field::ContentItem) => vec![("content", json::array([untold(raw)]))],
        Some(Field::ToolCall) => vec![("tool_calls", json::array([raw]))],
        Some(Field::Audio) => vec![("audio", json::only(raw, &["id", "data", "expires_at"]).finish())],
        _ => Members::new(),
    }
}

/// A part of a content list with an unknown type, without its text: the text is a part of its own.
fn untold(raw: &str) -> Cow<'_, str> {
    let says = |name: &str| matches!(name, "text" | "thinking");
    match json::members(raw).is_some_and(|members| members.iter().any(|(name, _)| says(name))) {
        true => json::map(raw, |name, value| (!says(name)).then_some(Cow::Borrowed(value))).finish().into(),
        false => raw.into(),
    }
}

/// Signatures and encrypted reasoning of a delta or message, without the text they may stand beside (rule 22).
pub(super) fn signatures(body: &str) -> Members {
    let said = |raw: &str, name| json::member(raw, name).is_some_and(|raw| !is_void(raw));
    let details = json::member(body, "reasoning_details").and_then(json::items).unwrap_or_default();
    let signed = details.into_iter().filter(|raw| said(raw, "data") || said(raw, "signature"));
    let signed: Vec<String> = signed.map(|raw| detail(raw, None)).collect();
    let details = (!signed.is_empty()).then(|| ("reasoning_details", json::array(signed)));
    let beside = SIGNATURES.into_iter().filter_map(|name| Some((name, json::member(body, name)?)));
    let beside = beside.filter(|(_, raw)| *raw != "null").map(|(name, raw)| (name, raw.to_owned()));
    details.into_iter().chain(beside).collect()
}

/// An item of `reasoning_details` with another text; without one, the text is emptied and the signature is kept.
fn detail(raw: &str, text: Option<&str>) -> String {
    let detail = json::map(raw, |name, value| match (name, text) {
        ("type" | "id" | "format" | "index", _) | ("data" | "signature", None) => Some(Cow::Borrowed(value)),
        ("text" | "summary", _) if value != "null" => Some(json::quote(text.unwrap_or_default()).into()),
        _ => None,
    });
    detail.finish()
}

/// The field that holds the text of a channel.
fn field_of(channel: Channel) -> &'static str {
    match channel {
        Channel::Content => "content",
        Channel::Reasoning => "reasoning_content",
        Channel::Refusal => "refusal",
    }
}

/// An item of `choices` of a chunk; the one that opens its choice carries the role.
pub(super) fn choice(number: u32, opens: bool, members: Members, finish: &Finish) -> String {
    let delta = object! { "role": opens.then_some("assistant") };
    let delta = members.into_iter().fold(delta, |delta, (name, value)| delta.raw(name, &value));
    ending_choice(&number.to_string(), "delta", &delta.finish(), finish)
}

/// An item of `choices`, whose `delta` or `message` has this JSON.
pub(super) fn ending_choice(index: &str, field: &str, body: &str, finish: &Finish) -> String {
    let choice = object! {
        "index": Raw(index),
        field: Raw(body),
        "finish_reason": Raw(finish.reason.as_deref().unwrap_or("null")),
        "native_finish_reason": finish.native.as_ref().map(Raw),
    };
    choice.finish()
}

/// An empty item of `choices`, for clients that go by position.
pub(super) fn no_choice(number: u32) -> String {
    choice(number, false, Members::new(), &Finish::default())
}

/// The notice in place of an answer.
pub(super) fn notice(text: &str) -> Members {
    vec![(field_of(Channel::Content), json::quote(text))]
}

/// The members of a refusal; none where the refusal has no text.
pub(super) fn refusal(text: &str) -> Members {
    let refusal = (field_of(Channel::Refusal), json::quote(text));
    Some(refusal).filter(|_| !text.is_empty()).into_iter().collect()
}

/// The finish reasons of a choice, as raw JSON.
#[derive(Debug, Default)]
pub(super) struct Finish {
    pub(super) reason: Option<String>,
    pub(super) native: Option<String>,
}

impl Finish {
    /// The finish of a refused answer.
    pub(super) fn refused() -> Self {
        Self { reason: Some(json::quote("content_filter")), native: None }
    }
}

/// A chunk with an envelope; `choice` is empty for a chunk without choices.
pub(super) fn chunk(envelope: &Object, choice: &str, usage: Option<&str>) -> String {
    envelope.clone().raw("choices", &json::array([choice])).maybe("usage", usage).finish()
}

/// A whole response with an envelope.
pub(super) fn completion(
    envelope: Object,
    choices: impl Iterator<Item = String>,
    usage: Option<&str>,
) -> String {
    envelope.and(&object! { "choices": Raw(json::array(choices)), "usage": usage.map(Raw) }).finish()
}

/// The error of OpenAI's APIs, as an event or a whole body: SDKs raise on it.
pub(in crate::wire) fn error(ending: &Ending) -> Object {
    let kind = ending.error_type().unwrap_or("server_error");
    let code = ending.code().map_or_else(|| "null".to_owned(), json::quote);
    let message = ending.message();
    object! { "error": object! { "message": message, "type": kind, "param": NULL, "code": Raw(code) } }
}

/// The upstream's envelope, or that of a document with this name where there is none.
pub(super) fn envelope(came: Object, object: &str) -> Object {
    match came.is_empty() {
        true => object! { "id": "chatcmpl-blocked", "object": object, "created": 0_u64, "model": "" },
        false => came,
    }
}

/// The `object` of a chunk, and of a whole response.
pub(super) const CHUNK: &str = "chat.completion.chunk";
pub(super) const COMPLETION: &str = "chat.completion";

impl Templates for ChatWriter {
    const TERMINAL: Option<&'static str> = Some("data: [DONE]\n\n");

    fn error(ending: &Ending) -> MadeEvent {
        MadeEvent::unnamed(error(ending))
    }
}
