//! What is made here: chunks, the members of a `delta`, the items of `tool_calls`, errors.

use std::borrow::Cow;

use super::grammar::{SIGNATURES, is_void};
use super::place::{self, Field};
use super::rebuild::RawChoice;
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind};
use crate::ending::Ending;
use crate::json::{self, Object};
use crate::wire::{Fate, Part};

/// Members of a `delta`, as name and raw value.
pub(super) type Members = Vec<(&'static str, String)>;

/// What a part that leaves adds to a delta; empty if nothing is left of it. `index` is the one a call leaves with; calls of
/// whole responses are `numbered` only by some servers.
pub(super) fn members(part: &Part, choice: &RawChoice<'_>, index: Option<u64>, numbered: bool) -> Members {
    match &part.delta.kind {
        DeltaKind::Text { text, .. } if text.is_empty() => Members::new(),
        DeltaKind::Text { channel, text } if part.fate == Fate::Inserted => {
            vec![(field_of(*channel), json::quote(text))]
        }
        DeltaKind::Text { text, .. } => self::text(&part.delta, text, choice),
        DeltaKind::Call(call) if call.flavor == CallFlavor::LegacyFunction => {
            vec![("function_call", function(call))]
        }
        DeltaKind::Call(_) => vec![("tool_calls", json::array([self::call(part, choice, index, numbered)]))],
        // The only form in which its text came.
        DeltaKind::Copy(copy) if copy.is_first => {
            copy.body.iter().map(|body| ("content", json::quote(body))).collect()
        }
        DeltaKind::Opaque { .. } => self::opaque(&part.delta, choice),
        _ if place::field(part.delta.place) == Some(Field::Signature) => signatures(choice),
        _ => Members::new(),
    }
}

/// An item of `tool_calls`. A kept one has its known fields as they came; signatures of reasoning hide in
/// `extra_content` (rule 22).
fn call(part: &Part, choice: &RawChoice<'_>, index: Option<u64>, numbered: bool) -> String {
    let DeltaKind::Call(call) = &part.delta.kind else { return String::from("{}") };
    let raw = match part.fate {
        Fate::Inserted => None,
        _ => choice.item("tool_calls", place::item(part.delta.place)),
    };
    let custom = call.flavor == CallFlavor::Custom;
    let body = if custom { "custom" } else { "function" };
    let raw = raw.unwrap_or("{}");
    let number = index.filter(|_| numbered).map(|index| index.to_string());
    let mut item = Object::new().maybe("index", number.as_deref());
    if part.fate == Fate::Kept {
        let kept = json::map(raw, |name, value| match name {
            "id" | "type" | "extra_content" => Some(Cow::Borrowed(value)),
            name if name == body => Some(json::only(value, &["name", "arguments", "input"]).finish().into()),
            _ => None,
        });
        return item.and(&kept).finish();
    }
    if let Some(id) = &call.id {
        item = item.string("id", id);
    } else if part.fate == Fate::Inserted {
        // Clients answer a call by its id.
        item = item.string("id", &format!("call_inserted_{}", index.unwrap_or(0)));
    }
    if call.name.is_some() {
        item = item.string("type", body);
    }
    let input = if custom { "input" } else { "arguments" };
    item.raw(body, &named(call, input)).and(&json::only(raw, &["extra_content"])).finish()
}

/// The `function` of a call: whole if it opens the call, else more arguments.
fn function(call: &CallDelta) -> String {
    named(call, "arguments")
}

fn named(call: &CallDelta, field: &str) -> String {
    let arguments = call.arguments.as_deref().unwrap_or_default();
    match &call.name {
        Some(name) => Object::new().string("name", name).string(field, arguments).finish(),
        None => Object::new().string(field, arguments).finish(),
    }
}

fn text(delta: &Delta, text: &str, choice: &RawChoice<'_>) -> Members {
    let item = place::item(delta.place);
    match place::field(delta.place) {
        Some(Field::ContentItem) => vec![("content", json::array([content_item(delta, text)]))],
        Some(Field::Reasoning) => vec![("reasoning", json::quote(text))],
        Some(Field::ReasoningDetail) => {
            let detail = detail(choice.item("reasoning_details", item).unwrap_or("{}"), Some(text));
            vec![("reasoning_details", json::array([detail]))]
        }
        Some(Field::Transcript) => {
            let id = choice.body("audio").and_then(|audio| json::member(audio, "id"));
            let audio = id.map_or_else(Object::new, |id| Object::new().raw("id", id));
            vec![("audio", audio.string("transcript", text).finish())]
        }
        _ => match delta.kind {
            DeltaKind::Text { channel, .. } => vec![(field_of(channel), json::quote(text))],
            _ => Members::new(),
        },
    }
}

/// A part of a content list that says `text`.
fn content_item(delta: &Delta, text: &str) -> String {
    let plain = Object::new().string("type", "text").string("text", text).finish();
    match delta.kind {
        DeltaKind::Text { channel: Channel::Reasoning, .. } => {
            Object::new().string("type", "thinking").raw("thinking", &json::array([plain])).finish()
        }
        _ => plain,
    }
}

fn opaque(delta: &Delta, choice: &RawChoice<'_>) -> Members {
    let item = place::item(delta.place);
    match place::field(delta.place) {
        Some(Field::ContentItem) => match choice.item("content", item) {
            Some(raw) => vec![("content", json::array([raw]))],
            None => Members::new(),
        },
        Some(Field::ToolCall) => match choice.item("tool_calls", item) {
            Some(raw) => vec![("tool_calls", json::array([raw]))],
            None => Members::new(),
        },
        Some(Field::Audio) => {
            vec![(
                "audio",
                json::only(choice.body("audio").unwrap_or("{}"), &["id", "data", "expires_at"]).finish(),
            )]
        }
        _ => Members::new(),
    }
}

/// Signatures and encrypted reasoning, without the text they may stand beside (rule 22).
pub(super) fn signatures(choice: &RawChoice<'_>) -> Members {
    let mut members = Members::new();
    let signed: Vec<String> = choice
        .details()
        .iter()
        .filter(|raw| {
            ["data", "signature"].iter().any(|name| json::member(raw, name).is_some_and(|raw| !is_void(raw)))
        })
        .map(|raw| detail(raw, None))
        .collect();
    if !signed.is_empty() {
        members.push(("reasoning_details", json::array(signed)));
    }
    for name in SIGNATURES {
        if let Some(raw) = choice.body(name) {
            members.push((name, raw.to_owned()));
        }
    }
    members
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
    let role = opens.then(|| json::quote("assistant"));
    let delta = Object::new().maybe("role", role.as_deref());
    let delta = members.into_iter().fold(delta, |delta, (name, value)| delta.raw(name, &value));
    Object::new()
        .number("index", number.into())
        .raw("delta", &delta.finish())
        .raw("finish_reason", &finish.reason)
        .maybe("native_finish_reason", finish.native.as_deref())
        .finish()
}

/// How a choice of a chunk says that it ends, as raw JSON.
pub(super) struct Finish {
    pub(super) reason: String,
    pub(super) native: Option<String>,
}

impl Default for Finish {
    fn default() -> Self {
        Self { reason: String::from("null"), native: None }
    }
}

/// A chunk with an envelope, an object to be continued; `choice` is empty for one without.
pub(super) fn chunk(envelope: &str, choice: &str, usage: Option<&str>) -> String {
    let usage = usage.map(|usage| format!(",\"usage\":{usage}")).unwrap_or_default();
    format!("{envelope},\"choices\":[{choice}]{usage}}}")
}

/// The error of OpenAI's APIs, as an event or a whole body: SDKs raise on it.
pub(in crate::wire) fn error(ending: &Ending) -> String {
    let error = Object::new()
        .string("message", ending.message())
        .string("type", ending.error_type().unwrap_or("server_error"))
        .raw("param", "null")
        .raw("code", &ending.code().map_or_else(|| "null".to_owned(), json::quote));
    Object::new().raw("error", &error.finish()).finish()
}

/// The envelope where no chunk of the upstream has come.
pub(super) const CHUNK: &str =
    r#"{"id":"chatcmpl-blocked","object":"chat.completion.chunk","created":0,"model":"""#;

/// The terminal marker.
pub(super) const DONE: &[u8] = b"data: [DONE]\n\n";
