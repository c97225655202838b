//! Parts as JSON: the members of a `delta`, the items of `tool_calls`.

use super::place::{self, Field};
use super::raw::RawChoice;
use super::view::{SIGNATURES, is_void};
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind};
use crate::json::{self, Object};
use crate::wire::{Fate, Part};

/// Members of a `delta`, as name and raw value.
pub(super) type Members = Vec<(&'static str, String)>;

/// What a part that leaves adds to a delta; empty if nothing is left of it. `index` is the one a call leaves with.
pub(super) fn members(part: &Part, choice: &RawChoice<'_>, index: Option<u64>) -> Members {
    match &part.delta.kind {
        DeltaKind::Text { text, .. } if text.is_empty() => Members::new(),
        DeltaKind::Text { channel, text } if part.fate == Fate::Inserted => {
            vec![(field_of(*channel), json::quote(text))]
        }
        DeltaKind::Text { text, .. } => self::text(&part.delta, text, choice),
        DeltaKind::Call(call) if call.flavor == CallFlavor::LegacyFunction => {
            vec![("function_call", function(call))]
        }
        DeltaKind::Call(_) => vec![("tool_calls", json::array([self::call(part, choice, index, true)]))],
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
/// `extra_content` (rule 22). Items of whole responses are `numbered` only by some servers.
pub(super) fn call(part: &Part, choice: &RawChoice<'_>, index: Option<u64>, numbered: bool) -> String {
    let DeltaKind::Call(call) = &part.delta.kind else { return String::from("{}") };
    let raw = match part.fate {
        Fate::Inserted => None,
        _ => choice.item("tool_calls", place::item(part.delta.place)),
    };
    let custom = call.flavor == CallFlavor::Custom;
    let body = if custom { "custom" } else { "function" };
    let raw_members = raw.and_then(json::members).unwrap_or_default();
    let mut item = Object::new();
    if let Some(index) = index.filter(|_| numbered) {
        item = item.number("index", index);
    }
    if part.fate == Fate::Kept {
        for (name, value) in &raw_members {
            if matches!(name.as_ref(), "id" | "type" | "extra_content") {
                item = item.raw(name, value);
            } else if name == body {
                item = item.raw(name, &only(value, &["name", "arguments", "input"]));
            }
        }
        return item.finish();
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
    item = item.raw(body, &if custom { custom_body(call) } else { function(call) });
    for (name, value) in raw_members {
        if name == "extra_content" {
            item = item.raw(&name, value);
        }
    }
    item.finish()
}

/// The `function` of a call: whole if it opens the call, else more arguments.
pub(super) fn function(call: &CallDelta) -> String {
    named(call, "arguments")
}

fn custom_body(call: &CallDelta) -> String {
    named(call, "input")
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
pub(super) fn content_item(delta: &Delta, text: &str) -> String {
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
            vec![("audio", only(choice.body("audio").unwrap_or("{}"), &["id", "data", "expires_at"]))]
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
pub(super) fn detail(raw: &str, text: Option<&str>) -> String {
    let mut detail = Object::new();
    for (name, value) in json::members(raw).unwrap_or_default() {
        detail = match (name.as_ref(), text) {
            ("type" | "id" | "format" | "index", _) | ("data" | "signature", None) => {
                detail.raw(&name, value)
            }
            ("text" | "summary", _) if value != "null" => detail.string(&name, text.unwrap_or_default()),
            _ => detail,
        };
    }
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

/// The object with only these members.
fn only(raw: &str, names: &[&str]) -> String {
    let members = json::members(raw).unwrap_or_default();
    members
        .into_iter()
        .filter(|(name, _)| names.contains(&name.as_ref()))
        .fold(Object::new(), |object, (name, value)| object.raw(&name, value))
        .finish()
}
