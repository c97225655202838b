//! Normalisation: events, items and parts without the fields of other types, so that every client reads the same (rule 28).
//!
//! Some clients go by the type, and some by the keys. Keys that belong to another type make a frame odd, and are left out where
//! the frame is written anew; unknown keys do not.

use std::borrow::Cow;

use bytes::Bytes;

use super::grammar::{EVENT, Event, RESPONSE};
use super::items::Item;
use super::kinds::{EventType, ItemType, PartType};
use super::templates;
use super::write::ResponsesWriter;
use crate::delta::{CallFlavor, DeltaKind};
use crate::json;
use crate::sse::Frame;
use crate::wire::document::{self, Of, Rewrite, Spans, Value};
use crate::wire::{Fate, Odd, Part, ping, sink, template, writer};

/// Whether an event has fields of another type of event.
pub(super) fn is_foreign(known: &EventType, event: &Event<'_>) -> bool {
    known.body.is_some_and(|own| has_foreign(EVENT_BODIES, |field| field != own, |field| event.get(field)))
}

/// Whether an event of this type is a keep-alive.
pub(super) fn is_ping(kind: &str) -> bool {
    matches!(kind, "keepalive" | "ping")
}

/// Whether an item has fields of another type of item.
pub(super) fn is_foreign_item(known: &ItemType, item: Value<'_>) -> bool {
    known
        .own
        .is_some_and(|own| has_foreign(ITEM_BODIES, |field| !own.contains(&field), |field| item.get(field)))
}

/// Whether a part has fields of another type of part.
pub(super) fn is_foreign_part(known: &PartType, part: Value<'_>) -> bool {
    has_foreign(PART_BODIES, |field| field != known.field, |field| part.get(field))
}

/// Whether there is a foreign field that is not empty: some servers write every field of every type.
#[inline]
fn has_foreign<'d>(
    bodies: &[&str],
    is_foreign: impl Fn(&str) -> bool,
    get: impl Fn(&str) -> Option<Value<'d>>,
) -> bool {
    let says = |field: Value<'d>| !matches!(field.raw(), "\"\"" | "[]" | "{}" | "null");
    bodies.iter().any(|field| get(field).is_some_and(says) && is_foreign(field))
}

/// Whether a frame is an event whose name stands behind its data, as in all events of the stream since the first one: one
/// provider writes such streams. Clients go by the type in the data, which the name has to repeat.
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

impl ResponsesWriter {
    /// An event of a call, with the id that the call opened with.
    fn with_own_id<'a>(&self, json: Cow<'a, str>, parts: &[Part]) -> Cow<'a, str> {
        let known = parts.iter().find_map(Part::item).and_then(|item| self.items.item(item));
        let Some(id) = known.filter(|known| known.is_call()).and_then(Item::own_id) else { return json };
        let own = json::member(&json, "item_id");
        let is_of_call = own.is_some() || json::member(&json, "output_index").is_some();
        if !is_of_call || json::member(&json, "item").is_some() || own == id {
            return json;
        }
        let event =
            json::map(&json, |name, raw| if name == "item_id" { id } else { Some(raw) }.map(Cow::Borrowed));
        Cow::Owned(event.maybe("item_id", id.filter(|_| own.is_none())).finish())
    }

    /// Deltas for calls that are open on the wire and whose arguments stand only in this copy of the whole item, for clients
    /// that read no copies (rule 28).
    pub(super) fn late_arguments(&self, parts: &[Part], data: &Bytes) -> Vec<template::MadeEvent> {
        let mut late = Vec::new();
        for part in parts.iter().filter(|part| part.fate == Fate::Kept) {
            let (DeltaKind::Copy(copy), Some(item)) = (&part.delta.kind, part.item()) else {
                continue;
            };
            let is_open = self.items.item(item).is_some_and(|item| item.opened() && item.is_call());
            let (Some(body), Some(index)) = (&copy.body, self.items.index(item)) else { continue };
            if !copy.is_first || !is_open || copy.flavor == CallFlavor::Builtin {
                continue;
            }
            let json = std::str::from_utf8(data).unwrap_or_default();
            let listed = || {
                let items = json::items(json::find(json, &["response", "output"])?)?;
                json::member(items.get(item as usize)?, "id")
            };
            // Clients read the `done` event of the arguments like a delta.
            let Some(id) = json::find(json, &["item", "id"]).or_else(listed) else { continue };
            let id = json::unquote(id).unwrap_or_default();
            late.push(templates::arguments(&id, index, copy.flavor, body));
        }
        late
    }

    /// The frame to write: the upstream's if it is plain, else its event, alone and without fields of other types; `None` where
    /// there is no event.
    pub(super) fn normal(&mut self, frame: Frame, parts: &mut Vec<Part>) -> Option<Frame> {
        let late_name = has_late_name(&frame, &mut self.late_names);
        let odd = frame.odd().filter(|odd| *odd != Odd::Lines || !late_name);
        self.state.enter(&frame, odd, parts);
        if self.state.odd.is_none() {
            return Some(frame);
        }
        // From here on numbers may differ from the upstream's.
        self.touched = true;
        // Lines that no client can read.
        if !parts.iter().any(Part::came) {
            return None;
        }
        let data = writer::data(&frame)?;
        let (name, json) = event(frame.event(), std::str::from_utf8(&data).ok()?);
        let json = self.with_own_id(json, parts);
        sink::frame(name.as_deref().filter(|_| self.state.sink.is_named_or(&frame)), &json)
    }
}

/// The name of an event that is not plain, and its data without fields of other types.
pub(super) fn event<'a>(line: Option<&str>, data: &'a str) -> (Option<String>, Cow<'a, str>) {
    let mut spans = Spans::default();
    let Ok(event) = spans.read(data, Of::Object(&EVENT)) else { return (None, Cow::Borrowed(data)) };
    if !event.is_object() {
        return (line.map(str::to_owned), Cow::Borrowed(data));
    }
    let kind = event.word("type").map(Cow::into_owned);
    if let Some(kind) = kind.as_deref().filter(|kind| is_ping(kind)) {
        return (Some(kind.to_owned()), Cow::Owned(ping::bare(kind, event)));
    }
    let known = kind.as_deref().and_then(EventType::of);
    let Some((known, own)) = known.and_then(|known| Some((known, known.body?))) else {
        return (kind, Cow::Borrowed(data));
    };
    let mut rewrite = Rewrite::new(event);
    rewrite.cut_members(event, |name| EVENT_BODIES.contains(&name) && name != own);
    for item in event.get("item").into_iter().chain(event.get("response").into_iter().flat_map(items)) {
        cut_item(item, &mut rewrite);
    }
    if let Some(part) = event.get("part") {
        cut_part(part, &mut rewrite);
    }
    let missing = known.index().filter(|index| event.get(index).is_none());
    rewrite.cut_members(event, |name| Some(name) == missing);
    let mut written = rewrite.finish();
    if let Some(index) = missing {
        let end = written.trim_ascii_end().len() - 1;
        written.replace_range(end.., &templates::first_of(index));
    }
    (kind, Cow::Owned(written))
}

/// A response whose items have no fields of other types.
pub(super) fn response(raw: &str) -> Cow<'_, str> {
    document::rewrite(raw, Of::Object(&RESPONSE), |response, rewrite| {
        items(response).for_each(|item| cut_item(item, rewrite));
    })
}

fn items(response: Value<'_>) -> impl Iterator<Item = Value<'_>> {
    response.get("output").into_iter().flat_map(Value::items)
}

fn cut_item<'d>(item: Value<'d>, rewrite: &mut Rewrite<'d>) {
    let kind = item.word("type");
    let Some(own) = kind.as_deref().and_then(ItemType::of).and_then(|known| known.own) else { return };
    rewrite.cut_members(item, |name| ITEM_BODIES.contains(&name) && !own.contains(&name));
    for list in ["content", "summary"].iter().filter_map(|name| item.get(name)) {
        list.items().for_each(|part| cut_part(part, rewrite));
    }
}

fn cut_part<'d>(part: Value<'d>, rewrite: &mut Rewrite<'d>) {
    let kind = part.word("type");
    if let Some(known) = kind.as_deref().and_then(PartType::of) {
        rewrite.cut_members(part, |name| PART_BODIES.contains(&name) && name != known.field);
    }
}

/// The fields of events with payload.
pub(super) const EVENT_BODIES: &[&str] =
    &["delta", "text", "refusal", "transcript", "arguments", "input", "item", "part", "response"];

/// The fields of items with payload.
const ITEM_BODIES: &[&str] =
    &["name", "arguments", "input", "action", "actions", "operation", "content", "summary"];

/// The fields of parts with payload.
const PART_BODIES: &[&str] = &["text", "refusal", "transcript"];
