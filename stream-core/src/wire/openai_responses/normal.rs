//! What an event, an item and a part have by their type, and events written so that every client reads the same
//! (rule 28).
//!
//! Clients go by the type, and some by the keys that are there. Keys that belong to another type make a frame odd, and are
//! left out where it is written anew; keys nobody knows do not.

use std::borrow::Cow;

use super::view::{ContentPart, Event, Item, Raw};
use crate::json::{self, At, Object};

/// Whether an event has what belongs to another one.
pub(super) fn is_foreign(name: &str, event: &Event<'_>) -> bool {
    let Some(own) = event_fields(name) else { return false };
    let fields = [
        ("delta", event.delta),
        ("text", event.text),
        ("refusal", event.refusal),
        ("transcript", event.transcript),
        ("arguments", event.arguments),
        ("input", event.input),
        ("item", event.item),
        ("part", event.part),
        ("response", event.response),
    ];
    fields.iter().any(|(name, field)| says_something(*field) && !own.contains(name))
}

/// Whether an item has what belongs to an item of another type.
pub(super) fn is_foreign_item(kind: &str, item: &Item<'_>) -> bool {
    let Some(own) = item_fields(kind) else { return false };
    let fields = [
        ("name", item.name),
        ("arguments", item.arguments),
        ("input", item.input),
        ("action", item.action),
        ("actions", item.actions),
        ("operation", item.operation),
        ("content", item.content),
        ("summary", item.summary),
    ];
    fields.iter().any(|(name, field)| says_something(*field) && !own.contains(name))
}

/// Whether a part has what belongs to a part of another type.
pub(super) fn is_foreign_part(own: &str, part: &ContentPart<'_>) -> bool {
    let fields = [("text", part.text), ("refusal", part.refusal), ("transcript", part.transcript)];
    fields.iter().any(|(name, field)| says_something(*field) && *name != own)
}

/// The data of an event that is not plain, with nothing but what belongs to it, and its name.
pub(super) fn event<'a>(line: Option<&str>, data: &'a str) -> (Option<String>, Cow<'a, str>) {
    let Some(members) = json::members(data) else { return (line.map(str::to_owned), Cow::Borrowed(data)) };
    let kind = members.iter().find(|(name, _)| name == "type").and_then(|(_, kind)| json::unquote(kind));
    let name = kind.as_deref().and_then(|kind| kind.strip_prefix("response."));
    let Some(own) = name.and_then(event_fields) else { return (kind, Cow::Borrowed(data)) };
    let keeps = |name: &str| own.contains(&name) || !EVENT_BODIES.contains(&name);
    let mut object = Object::new();
    for (name, value) in members.iter().filter(|(name, _)| keeps(name)) {
        object = match name.as_ref() {
            "item" => object.raw(name, &item(value)),
            "part" => object.raw(name, &part(value)),
            "response" => object.raw(name, &response(value)),
            _ => object.raw(name, value),
        };
    }
    for index in name.into_iter().flat_map(indices) {
        if !members.iter().any(|(name, value)| name == index && *value != "null") {
            object = object.number(index, 0);
        }
    }
    (kind, Cow::Owned(object.finish()))
}

/// A response whose items have nothing but what belongs to them.
pub(super) fn response(raw: &str) -> Cow<'_, str> {
    let Some(items) = json::member(raw, "output").and_then(json::items) else { return Cow::Borrowed(raw) };
    let output = json::array(items.into_iter().map(item));
    Cow::Owned(json::patch(raw, &[(&[At::Key("output")], &output)]))
}

fn item(raw: &str) -> Cow<'_, str> {
    let Some(members) = json::members(raw) else { return Cow::Borrowed(raw) };
    let kind = members.iter().find(|(name, _)| name == "type").and_then(|(_, kind)| json::unquote(kind));
    let Some(own) = kind.as_deref().and_then(item_fields) else { return Cow::Borrowed(raw) };
    let keeps = |name: &str| own.contains(&name) || !ITEM_BODIES.contains(&name);
    let mut object = Object::new();
    for (name, value) in members.iter().filter(|(name, _)| keeps(name)) {
        object = match (name.as_ref(), json::items(value)) {
            ("content" | "summary", Some(parts)) => {
                object.raw(name, &json::array(parts.into_iter().map(part)))
            }
            _ => object.raw(name, value),
        };
    }
    Cow::Owned(object.finish())
}

fn part(raw: &str) -> Cow<'_, str> {
    let Some(members) = json::members(raw) else { return Cow::Borrowed(raw) };
    let kind = members.iter().find(|(name, _)| name == "type").and_then(|(_, kind)| json::unquote(kind));
    let Some((_, own)) = kind.as_deref().and_then(super::item::part_text) else { return Cow::Borrowed(raw) };
    let keeps = |name: &str| name == own || !["text", "refusal", "transcript"].contains(&name);
    let kept = members.iter().filter(|(name, _)| keeps(name));
    Cow::Owned(kept.fold(Object::new(), |object, (name, value)| object.raw(name, value)).finish())
}

/// Whether a field is there and not empty: some servers write every field of every type.
fn says_something(field: Raw<'_>) -> bool {
    field.is_some_and(|raw| !matches!(raw.get(), "\"\"" | "[]" | "{}" | "null"))
}

/// Of the fields that carry something, those of an event; `None` where it is not known.
fn event_fields(name: &str) -> Option<&'static [&'static str]> {
    Some(match name {
        "created" | "in_progress" | "queued" | "completed" | "incomplete" | "failed" => &["response"],
        "output_item.added" | "output_item.done" => &["item"],
        "content_part.added"
        | "content_part.done"
        | "reasoning_summary_part.added"
        | "reasoning_summary_part.done" => &["part"],
        "output_text.delta"
        | "refusal.delta"
        | "reasoning_text.delta"
        | "reasoning_summary_text.delta"
        | "audio.transcript.delta"
        | "function_call_arguments.delta"
        | "custom_tool_call_input.delta" => &["delta"],
        "output_text.done" | "reasoning_text.done" | "reasoning_summary_text.done" => &["text"],
        "refusal.done" => &["refusal"],
        "audio.transcript.done" => &["transcript"],
        "function_call_arguments.done" => &["arguments"],
        "custom_tool_call_input.done" => &["input"],
        _ => return None,
    })
}

/// The numbers that an event has to have.
fn indices(name: &str) -> &'static [&'static str] {
    match name {
        "content_part.added"
        | "content_part.done"
        | "output_text.delta"
        | "output_text.done"
        | "refusal.delta"
        | "refusal.done"
        | "reasoning_text.delta"
        | "reasoning_text.done" => &["content_index"],
        "reasoning_summary_part.added"
        | "reasoning_summary_part.done"
        | "reasoning_summary_text.delta"
        | "reasoning_summary_text.done" => &["summary_index"],
        _ => &[],
    }
}

/// Of the fields that carry something, those of an item; `None` where its type is not known.
fn item_fields(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "message" => &["content"],
        "reasoning" => &["content", "summary"],
        "function_call" | "mcp_approval_request" | "mcp_call" => &["name", "arguments"],
        "custom_tool_call" => &["name", "input"],
        "shell_call" | "local_shell_call" | "web_search_call" | "image_generation_call" => &["action"],
        "computer_call" => &["action", "actions"],
        "apply_patch_call" => &["operation"],
        "tool_search_call" => &["arguments"],
        "file_search_call" | "code_interpreter_call" => &[],
        _ => return None,
    })
}

/// The fields of events that carry something.
const EVENT_BODIES: &[&str] =
    &["delta", "text", "refusal", "transcript", "arguments", "input", "item", "part", "response"];

/// The fields of items that carry something.
const ITEM_BODIES: &[&str] =
    &["name", "arguments", "input", "action", "actions", "operation", "content", "summary"];
