//! Rebuilding events, items, parts and responses with dropped or edited parts.
//!
//! An untouched item or part keeps its raw bytes. A touched one keeps only the fields that the grammar lists: an unknown field may
//! hold a copy of dropped payload.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;

use super::grammar::{KEPT_OF_ERROR, KEPT_OF_ITEM, KEPT_OF_PART, KEPT_OF_RESPONSE};
use super::item::SUMMARY;
use super::items::Item;
use super::kinds::{ItemType, PartType, Role};
use super::normal::EVENT_BODIES;
use super::source::Source;
use super::templates;
use super::write::{ListedItem, ResponsesWriter};
use crate::delta::{CallDelta, CallFlavor, Channel, DeltaKind, Slot, Text};
use crate::json::{self, Object};
use crate::wire::template::{object, renewed};
use crate::wire::writer::Grammar as _;
use crate::wire::{Fate, Part};

impl ResponsesWriter {
    /// Writes an event with the response: items of `output` are dropped, changed and added.
    pub(super) fn rebuild_response<'a>(&mut self, source: &Source<'a>, out: &mut Vec<Bytes>) -> Cow<'a, str> {
        let Some(response) = source.member("response") else { return self.patch(source, out) };
        let output = json::member(response, "output").and_then(json::items);
        let items = output.as_deref().unwrap_or_default();
        let spoken = Spoken::new(source.parts);
        let mut changed = false;
        let mut entries: Vec<(u64, Cow<'_, str>)> = Vec::with_capacity(items.len());
        for (at, raw) in (0..).zip(items) {
            let rewritten = self.items.index(at).zip(self.rewritten(at, raw, &spoken, Mode::Streamed));
            changed |= !matches!(rewritten, Some((_, Cow::Borrowed(_))));
            entries.extend(rewritten);
        }
        if source.has(&DeltaKind::Terminal) && output.is_some() && self.lists_inserted(items) {
            changed = true;
            entries.extend(self.made_items().map(|item| (item.index, Cow::Borrowed(&*item.document))));
        }
        changed |= !entries.is_sorted_by_key(|(index, _)| *index);
        if !changed {
            return self.patch(source, out);
        }
        entries.sort_by_key(|(index, _)| *index);
        let output = json::array(entries.iter().map(|(_, item)| item));
        let response = self::response(response, &[("output", output)]);
        self.rebuild(source, &[("response", response)], out).into()
    }

    /// Writes an event of an item, and returns its data; `None` where nothing is left of the event.
    pub(super) fn rebuild_item_event(
        &mut self,
        item: u32,
        source: &Source<'_>,
        out: &mut Vec<Bytes>,
    ) -> Option<String> {
        if let Some(raw) = source.member("item") {
            let spoken = Spoken::new(source.parts);
            let new = self.rewritten(item, raw, &spoken, Mode::Streamed)?.into_owned();
            let written = self.rebuild(source, &[("item", new)], out);
            self.replaced_arguments(item, raw, source, out);
            return Some(written);
        }
        let part = source.parts.iter().find(|part| speaks(part))?;
        let Slot::At { part: number, .. } = part.delta.slot else { return None };
        let now = self.now(item, number, Some(*part), Mode::Whole);
        if let Some(raw) = source.member("part") {
            let new = match now {
                Now::Same => raw.to_owned(),
                Now::Body(body) => self::part(raw, &body)?,
                Now::Gone => return None,
            };
            return Some(self.rebuild(source, &[("part", new)], out));
        }
        let Now::Body(body) = now else { return None };
        let field = EVENT_BODIES.iter().find(|field| source.member(field).is_some())?;
        if *field == "delta" && body.is_empty() {
            return None;
        }
        let mut new = vec![(*field, json::quote(&body))];
        let replaced = self.items.item(item).and_then(Item::replaced);
        if let Some(name) = replaced.and_then(|call| call.name.as_ref()) {
            new.push(("name", json::quote(name)));
        }
        Some(self.rebuild(source, &new, out))
    }

    /// Writes the known fields of the upstream's event, some of them with new values.
    pub(super) fn rebuild(
        &mut self,
        source: &Source<'_>,
        new: &[(&'static str, String)],
        out: &mut Vec<Bytes>,
    ) -> String {
        let mut all = self.new_numbers(source);
        all.extend_from_slice(new);
        let json = source.anew(&all);
        self.state.sink.event(source.frame.event(), &json, out);
        json
    }

    /// Opens the item and the part of text that is written, where their openings were dropped.
    pub(super) fn revive(&mut self, source: &Source<'_>, out: &mut Vec<Bytes>) {
        let Some(id) = source.member("delta").and(source.member("item_id")) else { return };
        for part in source.parts.iter().filter(|part| part.fate != Fate::Dropped) {
            if let (DeltaKind::Text { channel, text }, Slot::At { item, part: number }) =
                (&part.delta.kind, part.delta.slot)
                && !text.is_empty()
            {
                self.revive_part(item, number, *channel, &json::unquote(id).unwrap_or_default(), out);
            }
        }
    }

    /// An item to write; `None` if the item is dropped.
    pub(super) fn rewritten<'a>(
        &self,
        item: u32,
        raw: &'a str,
        spoken: &Spoken<'_>,
        mode: Mode,
    ) -> Option<Cow<'a, str>> {
        let known = self.items.item(item);
        let now = |part| self.now(item, part, spoken.at(item, part), mode);
        let kind = json::member(raw, "type").and_then(json::unquote).unwrap_or_default();
        match Role::of(&kind) {
            // An item that is open on the wire stays, even without parts.
            Role::Message => parts(raw, mode == Mode::Streamed && known.is_some_and(Item::opened), now),
            Role::Reasoning => parts(raw, true, now),
            Role::Call(flavor) => call(raw, &kind, flavor, known.and_then(Item::replaced), now(0)),
            Role::Server | Role::Unknown => (now(0) != Now::Gone).then_some(Cow::Borrowed(raw)),
        }
    }

    /// The new body of a part, or of a call.
    fn now(&self, item: u32, number: u32, spoken: Option<&Part>, mode: Mode) -> Now {
        let known = self.items.item(item);
        let left = known.and_then(|item| item.part_left(number));
        // A part that is open on the wire cannot be dropped, only emptied.
        let empty = || if left == Some(true) { Now::Body("".into()) } else { Now::Gone };
        let body = |text: &Text| match text.is_empty() && !known.is_some_and(Item::is_call) {
            true => empty(),
            false => Now::Body(text.clone()),
        };
        let Some(part) = spoken else {
            return if left == Some(false) { Now::Gone } else { Now::Same };
        };
        match (part.fate, &part.delta.kind) {
            (Fate::Kept | Fate::Inserted, _) => Now::Same,
            (Fate::Dropped, DeltaKind::Text { .. } | DeltaKind::Copy(_)) => empty(),
            (Fate::Dropped, _) => Now::Gone,
            (Fate::Edited, DeltaKind::Text { text, .. }) => body(text),
            (Fate::Edited, DeltaKind::Copy(copy)) => copy.body.as_ref().map_or(Now::Same, body),
            (Fate::Edited, DeltaKind::Call(call)) => match &call.arguments {
                // The arguments follow the opening of a streamed call.
                _ if mode == Mode::Streamed && call.flavor != CallFlavor::Builtin => Now::Body("".into()),
                arguments => arguments.as_ref().map_or(Now::Same, body),
            },
            (Fate::Edited, _) => Now::Same,
        }
    }

    /// Whether a terminal event has to list inserted items. Some upstreams list no items.
    fn lists_inserted(&self, items: &[&str]) -> bool {
        let lists_none = items.is_empty() && self.items.has_items();
        self.made_items().next().is_some() && !lists_none
    }

    fn made_items(&self) -> impl Iterator<Item = &ListedItem> {
        self.listed.iter().filter(|item| item.is_made)
    }

    /// Writes the arguments of a replaced call, in one piece, after its opening.
    fn replaced_arguments(&mut self, item: u32, raw: &str, source: &Source<'_>, out: &mut Vec<Bytes>) {
        let call = source.parts.iter().find_map(|part| match &part.delta.kind {
            DeltaKind::Call(call) if part.fate == Fate::Edited => Some(call),
            _ => None,
        });
        let Some(call) = call.filter(|call| call.flavor != CallFlavor::Builtin) else { return };
        let Some(index) = self.items.index(item) else { return };
        if let Some(arguments) = call.arguments.as_deref().filter(|arguments| !arguments.is_empty()) {
            let id = json::member(raw, "id").and_then(json::unquote).unwrap_or_default();
            self.emit(templates::arguments(&id, index, call.flavor, arguments), out);
        }
    }

    fn revive_part(&mut self, item: u32, part: u32, channel: Channel, id: &str, out: &mut Vec<Bytes>) {
        let (item_is_new, part_is_new) = self.items.revive(item, part);
        let Some(index) = self.items.index(item) else { return };
        if item_is_new {
            self.emit(templates::reopened_item(id, index, channel), out);
        }
        if part_is_new {
            let (number, is_summary) = (self.items.part_number(item, part), part >= SUMMARY);
            self.emit(
                templates::reopened_part(&templates::At { id, index, number, is_summary }, channel),
                out,
            );
        }
    }
}

/// The parts of a document with payload or a copy, by slot.
#[derive(Debug)]
pub(super) struct Spoken<'a>(HashMap<Slot, &'a Part>);

impl<'a> Spoken<'a> {
    pub(super) fn new(parts: &[&'a Part]) -> Self {
        Self(parts.iter().filter(|part| speaks(part)).map(|part| (part.delta.slot, *part)).collect())
    }

    fn at(&self, item: u32, part: u32) -> Option<&'a Part> {
        self.0.get(&Slot::At { item, part }).copied()
    }
}

/// Whether a document is part of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// Items and parts that are open on the wire stay, and arguments follow the opening of their call.
    Streamed,
    Whole,
}

/// Whether a part has payload or a copy.
fn speaks(part: &Part) -> bool {
    matches!(
        part.delta.kind,
        DeltaKind::Text { .. } | DeltaKind::Copy(_) | DeltaKind::Call(_) | DeltaKind::Opaque { .. }
    )
}

/// The new body of a part, or of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Now {
    /// The same body.
    Same,
    Body(Text),
    Gone,
}

/// An item of parts, with their new bodies; `None` if all parts are dropped, unless the item `stays`.
fn parts(raw: &str, stays: bool, now: impl Fn(u32) -> Now) -> Option<Cow<'_, str>> {
    let content = list(raw, "content", 0, &now);
    let summary = list(raw, "summary", SUMMARY, &now);
    let lists = [&content, &summary];
    if lists.iter().all(|list| list.is_none()) {
        return Some(Cow::Borrowed(raw));
    }
    if !stays && lists.into_iter().flatten().all(|list| list == "[]") {
        return None;
    }
    let new = |name: &str| match name {
        "content" => content.clone(),
        "summary" => summary.clone(),
        _ => None,
    };
    Some(Cow::Owned(keep(raw, KEPT_OF_ITEM, new)))
}

/// A list of parts whose numbers start at `base`; `None` if nothing changes.
fn list(raw: &str, name: &str, base: u32, now: impl Fn(u32) -> Now) -> Option<String> {
    let parts = json::items(json::member(raw, name)?)?;
    let mut changed = false;
    let mut kept = Vec::with_capacity(parts.len());
    for (number, raw) in (base..).zip(parts) {
        match now(number) {
            Now::Same => kept.push(Cow::Borrowed(raw)),
            Now::Body(body) => {
                changed = true;
                kept.extend(part(raw, &body).map(Cow::Owned));
            }
            Now::Gone => changed = true,
        }
    }
    changed.then(|| json::array(kept))
}

/// A call, with its new body and its replacement.
fn call<'a>(
    raw: &'a str,
    kind: &str,
    flavor: CallFlavor,
    replaced: Option<&CallDelta>,
    now: Now,
) -> Option<Cow<'a, str>> {
    let body = match (now, replaced.and_then(|replaced| replaced.arguments.clone())) {
        (Now::Body(body), _) => Some(body),
        (Now::Same, None) if replaced.is_none() => return Some(Cow::Borrowed(raw)),
        (Now::Gone, None) => return None,
        (_, arguments) => arguments,
    };
    let id_field = if json::member(raw, "call_id").is_some() { "call_id" } else { "id" };
    let new = |name: &str| {
        let text = |text: &Text| json::quote(text);
        if ItemType::of(kind).is_some_and(|known| known.arguments().any(|field| field == name)) {
            return body.as_ref().map(|body| value(body, flavor, json::member(raw, name)));
        }
        match name {
            "name" => replaced.and_then(|call| call.name.as_ref()).map(text),
            _ if name == id_field => replaced.and_then(|call| call.id.as_ref()).map(text),
            _ => None,
        }
    };
    Some(Cow::Owned(keep(raw, KEPT_OF_ITEM, new)))
}

/// A part with another text; `None` if the part is no text.
fn part(raw: &str, body: &str) -> Option<String> {
    let kind = json::unquote(json::member(raw, "type")?)?;
    let field = PartType::of(&kind)?.field;
    Some(keep(raw, KEPT_OF_PART, |name| match name {
        "annotations" | "logprobs" => Some("[]".to_owned()),
        _ if name == field => Some(json::quote(body)),
        _ => None,
    }))
}

/// A response with new values for some of its fields. Missing fields are added.
pub(super) fn response(raw: &str, new: &[(&str, String)]) -> String {
    let error = json::member(raw, "error").filter(|error| json::is_object(error));
    let error = error.map(|error| ("error", object! { "error": json::only(error, KEPT_OF_ERROR) }));
    let new = new.iter().map(|(name, value)| (*name, Object::new().raw(name, value)));
    renewed(raw, KEPT_OF_RESPONSE, new.chain(error)).finish()
}

/// An object of the known fields of another, in their order, with new values for some.
fn keep(raw: &str, fields: &[&str], new: impl Fn(&str) -> Option<String>) -> String {
    let value = |name: &str, raw| new(name).map_or(Cow::Borrowed(raw), Cow::Owned);
    json::map(raw, |name, raw| fields.contains(&name).then(|| value(name, raw))).finish()
}

/// Arguments in the form of the item's field: a string, or a JSON value for the API's own tools.
fn value(body: &str, flavor: CallFlavor, old: Option<&str>) -> String {
    let was_string = old.is_none_or(|old| old.starts_with('"'));
    let is_value = || json::is_object(body) || json::items(body).is_some();
    match flavor == CallFlavor::Builtin && !was_string && is_value() {
        true => body.to_owned(),
        false => json::quote(body),
    }
}
