//! The templates: chunks, the members of a `delta`, the items of `tool_calls` and errors that are made here.

use std::borrow::Cow;

use super::grammar::{Field, SIGNATURES, is_void};
use super::write::ChatWriter;
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind, Slot};
use crate::ending::Ending;
use crate::json::{self, Object};
use crate::wire::template::{MadeEvent, NULL, Raw, object};
use crate::wire::writer::Templates;
use crate::wire::{Fate, Part};

/// Members of a `delta`, as name and raw value.
pub(super) type Members = Vec<(&'static str, String)>;

/// What a part that leaves adds to a delta; empty if nothing is left of it. `data` is what its site means, and `index` the one a
/// call leaves with; calls of whole responses are `numbered` only by some servers.
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
        // The only form in which its text came.
        DeltaKind::Copy(copy) if copy.is_first => {
            copy.body.iter().map(|body| ("content", json::quote(body))).collect()
        }
        DeltaKind::Opaque { .. } => self::opaque(&part.delta, raw),
        _ if Field::of(&part.delta) == Some(Field::Signature) => signatures(raw),
        _ => Members::new(),
    }
}

/// An item of `tool_calls`. A kept one has its known fields as they came; signatures of reasoning hide in
/// `extra_content` (rule 22).
fn call(call: &CallDelta, fate: Fate, raw: &str, index: Option<u64>, numbered: bool) -> String {
    let custom = call.flavor == CallFlavor::Custom;
    let body = if custom { "custom" } else { "function" };
    let numbered = object! { "index": index.filter(|_| numbered) };
    if fate == Fate::Kept {
        let kept = json::map(raw, |name, value| match name {
            "id" | "type" | "extra_content" => Some(Cow::Borrowed(value)),
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
    numbered.and(&item).and(&json::only(raw, &["extra_content"])).finish()
}

/// The body of a call: whole if it opens the call, else more arguments, which stand in `field`.
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

/// A part of a content list that says `text`.
fn content_item(channel: Channel, text: &str) -> String {
    let plain = text_item(&json::quote(text));
    match channel {
        Channel::Reasoning => object! { "type": "thinking", "thinking": Raw(json::array([plain])) }.finish(),
        _ => plain,
    }
}

/// A part of a content list that says a text, which is quoted.
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

/// A part of a content list whose type nobody knows, without what it says: that leaves as a text, by itself.
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

/// One of `reasoning_details` with other text; without any, its text is emptied and its signature stays.
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

/// One of `choices` of a chunk; the one that opens its choice carries the role.
pub(super) fn choice(number: u32, opens: bool, members: Members, finish: &Finish) -> String {
    let delta = object! { "role": opens.then_some("assistant") };
    let delta = members.into_iter().fold(delta, |delta, (name, value)| delta.raw(name, &value));
    ending_choice(&number.to_string(), "delta", &delta.finish(), finish)
}

/// One of `choices`, whose `delta` or `message` has this JSON.
pub(super) fn ending_choice(index: &str, field: &str, body: &str, finish: &Finish) -> String {
    let choice = object! {
        "index": Raw(index),
        field: Raw(body),
        "finish_reason": Raw(finish.reason.as_deref().unwrap_or("null")),
        "native_finish_reason": finish.native.as_ref().map(Raw),
    };
    choice.finish()
}

/// One of `choices` that says nothing, where a reader by position looks for one.
pub(super) fn no_choice(number: u32) -> String {
    choice(number, false, Members::new(), &Finish::default())
}

/// What a turn says in the place of an answer.
pub(super) fn notice(text: &str) -> Members {
    vec![(field_of(Channel::Content), json::quote(text))]
}

/// What a refusal says, if it says anything.
pub(super) fn refusal(text: &str) -> Members {
    let refusal = (field_of(Channel::Refusal), json::quote(text));
    Some(refusal).filter(|_| !text.is_empty()).into_iter().collect()
}

/// How a choice says that it ends, as raw JSON.
#[derive(Debug, Default)]
pub(super) struct Finish {
    pub(super) reason: Option<String>,
    pub(super) native: Option<String>,
}

impl Finish {
    /// The end of an answer that was refused.
    pub(super) fn refused() -> Self {
        Self { reason: Some(json::quote("content_filter")), native: None }
    }
}

/// A chunk with an envelope; `choice` is empty for one without.
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

/// An envelope as it came, or the one of a document with this name where none did.
pub(super) fn envelope(came: Object, object: &str) -> Object {
    match came.is_empty() {
        true => object! { "id": "chatcmpl-blocked", "object": object, "created": 0_u64, "model": "" },
        false => came,
    }
}

/// What the documents of a stream, and a whole one, call themselves.
pub(super) const CHUNK: &str = "chat.completion.chunk";
pub(super) const COMPLETION: &str = "chat.completion";

impl Templates for ChatWriter {
    const TERMINAL: Option<&'static str> = Some("data: [DONE]\n\n");

    fn error(ending: &Ending) -> MadeEvent {
        MadeEvent::unnamed(error(ending))
    }
}
