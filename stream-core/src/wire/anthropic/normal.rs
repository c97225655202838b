//! What an event and a block have by their type, and events written so that every client reads the same (rule 28).
//!
//! Some clients go by the type of a delta and some by the keys it has, so that a text with `partial_json` beside it is two
//! things. Keys that belong to another type make a frame odd, and are left out where it is written anew; keys nobody
//! knows do not.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{self, Object};
use crate::sse::{Frame, Framer};
use crate::wire::{DecodeError, Odd};

use super::block::is_empty_input;
use super::read::EventKind;
use super::render;
use super::view::{Block, BlockDelta, Event, Field};

/// Whether an event has what belongs to another one.
pub(super) fn is_foreign(kind: EventKind, event: &Event<'_>) -> bool {
    let fields = [
        ("message", event.message),
        ("index", event.index),
        ("content_block", event.content_block),
        ("delta", event.delta),
    ];
    // An error may say what it likes.
    kind != EventKind::Error
        && fields.iter().any(|(name, field)| field.is_some() && !own_fields(kind).contains(name))
}

/// Why a block is not plain: it has what belongs to a block of another type, or input that is no object.
pub(super) fn block_oddness(kind: Option<&str>, block: &Block<'_>) -> Option<Odd> {
    let foreign = block_foreign(kind?)?;
    let fields = [
        ("text", block.text),
        ("thinking", block.thinking),
        ("citations", block.citations),
        ("id", block.id),
        ("name", block.name),
        ("input", block.input),
    ];
    if fields.iter().any(|(name, field)| field.is_some() && foreign.contains(name)) {
        return Some(Odd::Foreign);
    }
    let input =
        block.input.map(RawValue::get).filter(|input| !input.starts_with('{') && !is_empty_input(input));
    input.map(|_| Odd::Type)
}

/// Why a delta is not plain: it has what belongs to a delta of another type.
pub(super) fn delta_oddness(kind: Option<&str>, delta: &BlockDelta<'_>) -> Result<Option<Odd>, DecodeError> {
    let fields = [
        ("text", delta.text),
        ("thinking", delta.thinking),
        ("partial_json", delta.partial_json),
        ("signature", delta.signature),
        ("citation", delta.citation),
    ];
    let own = kind.and_then(delta_field);
    let is_foreign = |(name, field): &(&str, Field<'_>)| field.is_some() && own != Some(*name);
    match (own, fields.iter().any(is_foreign)) {
        (Some("partial_json"), false) => {
            Ok(delta.partial_json.filter(|json| !json.get().starts_with('"')).map(|_| Odd::Type))
        }
        (_, false) => Ok(None),
        (Some(_), true) => Ok(Some(Odd::Foreign)),
        // To some clients it is a text or arguments, to others nothing.
        (None, true) => {
            Err(DecodeError::ambiguous("a delta of a known type", "its fields under another type"))
        }
    }
}

/// The event of a frame that is not plain, alone and with nothing but what belongs to it; `None` where there is none.
pub(super) fn frame(frame: &Frame, named: bool) -> Option<Frame> {
    let data = frame.data().or_else(|| frame.lenient_data())?;
    let data = std::str::from_utf8(&data).ok()?;
    let (kind, json) = document(frame.event(), data);
    let mut framer = Framer::new(usize::MAX);
    framer.push(&render::line(kind.as_deref().filter(|_| named), &json));
    framer.next_frame().ok().flatten()
}

/// A block with nothing but what belongs to it.
pub(super) fn block(raw: &str) -> Cow<'_, str> {
    let kind = json::member(raw, "type").and_then(json::unquote);
    match kind.as_deref().and_then(block_foreign) {
        Some(foreign) => without(raw, foreign),
        None => Cow::Borrowed(raw),
    }
}

/// The name and the data of an event.
fn document<'a>(line: Option<&str>, data: &'a str) -> (Option<String>, Cow<'a, str>) {
    let Some(members) = json::members(data) else { return (line.map(str::to_owned), Cow::Borrowed(data)) };
    let word = members.iter().find(|(name, _)| name == "type").and_then(|(_, kind)| json::unquote(kind));
    let Some(word) = word.or_else(|| line.map(str::to_owned)) else { return (None, Cow::Borrowed(data)) };
    let Some(kind) =
        EventKind::named(&word).filter(|kind| !matches!(kind, EventKind::Ping | EventKind::Error))
    else {
        return (Some(word), Cow::Borrowed(data));
    };
    let mut object = Object::new().string("type", &word);
    for (name, value) in members.iter().filter(|(name, _)| own_fields(kind).contains(&name.as_ref())) {
        object = match (kind, name.as_ref()) {
            (EventKind::BlockStart, "content_block") => object.raw(name, &block(value)),
            (EventKind::BlockDelta, "delta") => object.raw(name, &delta(value)),
            (EventKind::MessageStart, "message") => object.raw(name, &message(value)),
            _ => object.raw(name, value),
        };
    }
    (Some(word), Cow::Owned(object.finish()))
}

fn message(raw: &str) -> Cow<'_, str> {
    let Some(blocks) = json::member(raw, "content").and_then(json::items) else { return Cow::Borrowed(raw) };
    let content = json::array(blocks.into_iter().map(block));
    Cow::Owned(json::patch(raw, &[(&[json::At::Key("content")], &content)]))
}

fn delta(raw: &str) -> Cow<'_, str> {
    let kind = json::member(raw, "type").and_then(json::unquote);
    let Some((kind, field)) = kind.and_then(|kind| delta_field(&kind).map(|field| (kind, field))) else {
        return Cow::Borrowed(raw);
    };
    let object = Object::new().string("type", &kind);
    Cow::Owned(match json::member(raw, field) {
        Some(value) if field == "partial_json" && !value.starts_with('"') => {
            object.string(field, value).finish()
        }
        Some(value) => object.raw(field, value).finish(),
        None => object.finish(),
    })
}

fn without<'a>(raw: &'a str, foreign: &[&str]) -> Cow<'a, str> {
    let members = json::members(raw).unwrap_or_default();
    if !members.iter().any(|(name, _)| foreign.contains(&name.as_ref())) {
        return Cow::Borrowed(raw);
    }
    let own = members.iter().filter(|(name, _)| !foreign.contains(&name.as_ref()));
    Cow::Owned(own.fold(Object::new(), |object, (name, value)| object.raw(name, value)).finish())
}

/// The fields of an event beside its type.
fn own_fields(kind: EventKind) -> &'static [&'static str] {
    match kind {
        EventKind::MessageStart => &["message"],
        EventKind::BlockStart => &["index", "content_block"],
        EventKind::BlockDelta => &["index", "delta"],
        EventKind::BlockStop => &["index"],
        EventKind::MessageDelta => &["delta", "usage", "context_management"],
        EventKind::MessageStop | EventKind::Ping | EventKind::Error => &[],
    }
}

/// The known fields that a block of this type does not have; `None` where the type is not known.
fn block_foreign(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "text" => &["thinking", "id", "name", "input"],
        "thinking" => &["text", "citations", "id", "name", "input"],
        "tool_use" | "server_tool_use" | "mcp_tool_use" => &["text", "thinking", "citations"],
        "redacted_thinking" => &["text", "thinking", "citations", "id", "name", "input"],
        _ => return None,
    })
}

/// The field that a delta of this type has.
fn delta_field(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "text_delta" => "text",
        "thinking_delta" => "thinking",
        "input_json_delta" => "partial_json",
        "signature_delta" => "signature",
        "citations_delta" => "citation",
        _ => return None,
    })
}
