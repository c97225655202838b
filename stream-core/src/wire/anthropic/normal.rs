//! Normalisation: events and blocks without the fields of other types, so that every client reads the same (rule 28).
//!
//! Some clients go by the type of a delta and some by its keys, so that a text with `partial_json` beside it has two
//! meanings. Keys that belong to another type make a frame odd, and are left out where the frame is written anew; unknown
//! keys do not.

use std::borrow::Cow;

use crate::json::{self, Object};
use crate::sse::Frame;
use crate::wire::document::{self, Of, Rewrite, Value};
use crate::wire::{DecodeError, Odd, ping, sink, writer};

use super::block::is_empty_input;
use super::grammar::{BLOCK, MESSAGE};
use super::kinds::{DELTA_FIELDS, EventKind, delta_field, foreign_fields};

/// Whether an event has fields of another type of event.
pub(super) fn is_foreign(kind: EventKind, event: Value<'_>) -> bool {
    let is_foreign = |name: &&str| !kind.own_fields().contains(name) && event.get(name).is_some();
    let says = |delta: Value<'_>| DELTA_FIELDS.iter().any(|name| delta.get(name).is_some());
    match kind {
        // An error may have any field.
        EventKind::Error => false,
        EventKind::Ping => !ping::is_bare(event),
        // Fields of the delta of a block in the delta of a message.
        EventKind::MessageDelta if event.get("delta").is_some_and(says) => true,
        _ => ["message", "index", "content_block", "delta"].iter().any(is_foreign),
    }
}

/// The reason why a block is not plain: fields of another type of block, or input that is no object.
pub(super) fn block_oddness(kind: Option<&str>, block: Value<'_>) -> Option<Odd> {
    let foreign = foreign_fields(kind?)?;
    if foreign.iter().any(|name| block.get(name).is_some()) {
        return Some(Odd::Foreign);
    }
    let input = block.get("input").map(Value::raw);
    input.filter(|input| !input.starts_with('{') && !is_empty_input(input)).map(|_| Odd::Type)
}

/// The reason why a delta is not plain: fields of another type of delta.
pub(super) fn delta_oddness(kind: Option<&str>, delta: Value<'_>) -> Result<Option<Odd>, DecodeError> {
    let own = kind.and_then(delta_field);
    let is_foreign = DELTA_FIELDS.iter().any(|name| own != Some(*name) && delta.get(name).is_some());
    match (own, is_foreign) {
        (Some("partial_json"), false) => {
            Ok(delta.get("partial_json").filter(|json| !json.is_string()).map(|_| Odd::Type))
        }
        (_, false) => Ok(None),
        (Some(_), true) => Ok(Some(Odd::Foreign)),
        // Some clients read a text or arguments, others nothing.
        (None, true) => {
            Err(DecodeError::ambiguous("a delta of a known type", "its fields under another type"))
        }
    }
}

/// The event of a frame that is not plain, alone and without fields of other types; `None` where there is no event.
pub(super) fn frame(frame: &Frame, named: bool) -> Option<Frame> {
    let data = writer::data(frame)?;
    let data = std::str::from_utf8(&data).ok()?;
    // A line that only lenient clients read is judged by itself: an `event` line beside it gives it no type.
    let line = frame.event().filter(|_| frame.data_bytes().is_some());
    let (kind, json) = event(line, data);
    sink::frame(kind.as_deref().filter(|_| named), &json)
}

/// A block without fields of other types.
pub(super) fn block(raw: &str) -> Cow<'_, str> {
    document::rewrite(raw, Of::Object(&BLOCK), cut_foreign)
}

fn cut_foreign<'d>(block: Value<'d>, rewrite: &mut Rewrite<'d>) {
    let foreign = block.word("type").and_then(|kind| foreign_fields(&kind)).unwrap_or_default();
    rewrite.cut_members(block, |name| foreign.contains(&name));
}

/// The name and the data of an event.
fn event<'a>(line: Option<&str>, data: &'a str) -> (Option<String>, Cow<'a, str>) {
    let Some(members) = json::members(data) else { return (line.map(str::to_owned), Cow::Borrowed(data)) };
    let word = members.iter().find(|(name, _)| name == "type").and_then(|(_, kind)| json::unquote(kind));
    let Some(word) = word.or_else(|| line.map(str::to_owned)) else { return (None, Cow::Borrowed(data)) };
    let Some(kind) = EventKind::named(&word).filter(|kind| *kind != EventKind::Error) else {
        return (Some(word), Cow::Borrowed(data));
    };
    let mut object = Object::new().string("type", &word);
    for (name, value) in members.iter().filter(|(name, _)| kind.own_fields().contains(&name.as_ref())) {
        object = match (kind, name.as_ref()) {
            (EventKind::BlockStart, "content_block") => object.raw(name, &block(value)),
            (EventKind::BlockDelta, "delta") => object.raw(name, &delta(value)),
            (EventKind::MessageDelta, "delta") => object.raw(name, &message_delta(value)),
            (EventKind::MessageStart, "message") => object.raw(name, &message(value)),
            _ => object.raw(name, value),
        };
    }
    (Some(word), Cow::Owned(object.finish()))
}

/// A message whose blocks have no fields of other types.
fn message(raw: &str) -> Cow<'_, str> {
    document::rewrite(raw, Of::Object(&MESSAGE), |message, rewrite| {
        for block in message.get("content").into_iter().flat_map(Value::items) {
            cut_foreign(block, rewrite);
        }
    })
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

/// The delta of a message without the fields of the delta of a block.
fn message_delta(raw: &str) -> String {
    let own = |name: &str| !DELTA_FIELDS.contains(&name);
    json::map(raw, |name, value| own(name).then_some(Cow::Borrowed(value))).finish()
}
