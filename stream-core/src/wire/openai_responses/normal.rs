//! What an event, an item and a part have by their type, and events written so that every client reads the same
//! (rule 28).
//!
//! Clients go by the type, and some by the keys that are there. Keys that belong to another type make a frame odd, and are
//! left out where it is written anew; keys nobody knows do not.

use std::borrow::Cow;

use super::grammar::{self, EVENT, Event, RESPONSE};
use crate::json;
use crate::sse::Frame;
use crate::wire::document::{self, Of, Rewrite, Spans, Value};

/// Whether an event has what belongs to another one.
pub(super) fn is_foreign(name: &str, event: Event<'_>) -> bool {
    event_fields(name).is_some_and(|own| {
        EVENT_BODIES.iter().any(|name| !own.contains(name) && says_something(event.get(name)))
    })
}

/// Whether an item has what belongs to an item of another type.
pub(super) fn is_foreign_item(kind: &str, item: Value<'_>) -> bool {
    item_fields(kind).is_some_and(|own| {
        ITEM_BODIES.iter().any(|name| !own.contains(name) && says_something(item.get(name)))
    })
}

/// Whether a part has what belongs to a part of another type.
pub(super) fn is_foreign_part(own: &str, part: Value<'_>) -> bool {
    PART_BODIES.iter().any(|name| *name != own && says_something(part.get(name)))
}

/// Whether a frame is an event whose name stands behind its data, as it does in all events of the stream, which the first one
/// tells: one provider writes them so. Clients go by the type in the data, which the name has to repeat.
pub(super) fn has_late_name(frame: &Frame, of_stream: &mut Option<bool>) -> bool {
    let (Some(data), Some(name)) = (frame.data_bytes(), frame.event()) else { return false };
    if !frame.has_odd_lines() {
        of_stream.get_or_insert(false);
        return false;
    }
    let Ok(data) = std::str::from_utf8(data) else { return false };
    let is_late = frame.raw()[..] == *format!("data: {data}\nevent: {name}\n\n").as_bytes();
    let stays = *of_stream.get_or_insert(is_late) == is_late;
    let kind = || json::member(data, "type").and_then(json::unquote);
    let separates = ['\u{85}', '\u{2028}', '\u{2029}'];
    is_late && stays && !data.contains(separates) && kind().as_deref() == Some(name)
}

/// The data of an event that is not plain, with nothing but what belongs to it, and its name.
pub(super) fn event<'a>(line: Option<&str>, data: &'a str) -> (Option<String>, Cow<'a, str>) {
    let mut spans = Spans::default();
    let Ok(event) = spans.read(data, Of::Object(&EVENT)) else { return (None, Cow::Borrowed(data)) };
    if !event.is_object() {
        return (line.map(str::to_owned), Cow::Borrowed(data));
    }
    let kind = grammar::string(event.get("type")).map(Cow::into_owned);
    let name = kind.as_deref().and_then(|kind| kind.strip_prefix("response."));
    let Some(own) = name.and_then(event_fields) else { return (kind, Cow::Borrowed(data)) };
    let mut rewrite = Rewrite::new(event);
    rewrite.cut_members(event, |name| EVENT_BODIES.contains(&name) && !own.contains(&name));
    for item in event.get("item").into_iter().chain(event.get("response").into_iter().flat_map(items)) {
        cut_item(item, &mut rewrite);
    }
    if let Some(part) = event.get("part") {
        cut_part(part, &mut rewrite);
    }
    let missing = name.into_iter().flat_map(indices).filter(|index| event.get(index).is_none());
    let missing: Vec<&str> = missing.copied().collect();
    rewrite.cut_members(event, |name| missing.contains(&name));
    let mut written = rewrite.finish();
    for index in missing {
        let end = written.trim_ascii_end().len() - 1;
        written.replace_range(end.., &format!(",\"{index}\":0}}"));
    }
    (kind, Cow::Owned(written))
}

/// A response whose items have nothing but what belongs to them.
pub(super) fn response(raw: &str) -> Cow<'_, str> {
    document::rewrite(raw, Of::Object(&RESPONSE), |response, rewrite| {
        items(response).for_each(|item| cut_item(item, rewrite));
    })
}

fn items(response: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    response.get("output").into_iter().flat_map(Value::items)
}

fn cut_item<'d>(item: Value<'d>, rewrite: &mut Rewrite<'d>) {
    let kind = grammar::string(item.get("type"));
    let Some(own) = kind.as_deref().and_then(item_fields) else { return };
    rewrite.cut_members(item, |name| ITEM_BODIES.contains(&name) && !own.contains(&name));
    for list in ["content", "summary"].iter().filter_map(|name| item.get(name)) {
        list.items().for_each(|part| cut_part(part, rewrite));
    }
}

fn cut_part<'d>(part: Value<'d>, rewrite: &mut Rewrite<'d>) {
    let kind = grammar::string(part.get("type"));
    if let Some((_, own)) = kind.as_deref().and_then(super::item::part_text) {
        rewrite.cut_members(part, |name| PART_BODIES.contains(&name) && name != own);
    }
}

/// Whether a field is there and not empty: some servers write every field of every type.
fn says_something(field: Option<Value<'_>>) -> bool {
    field.is_some_and(|field| !matches!(field.raw(), "\"\"" | "[]" | "{}" | "null"))
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

/// The fields of parts that carry something.
const PART_BODIES: &[&str] = &["text", "refusal", "transcript"];
