//! Writing a touched chunk anew, as one chunk for each of its parts.

use std::borrow::Cow;

use bytes::Bytes;

use super::grammar::{self, FAILED, Field, KEPT_OF_ERROR};
use super::passed_over;
use super::templates::{self, Finish, Members};
use super::write::ChatWriter;
use crate::delta::DeltaKind;
use crate::json;
use crate::sse::Frame;
use crate::wire::document::Value;
use crate::wire::{Fate, Part};

/// A chunk of the upstream: the data that the spans of its deltas refer to, and the document, if it was read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CameChunk<'d> {
    pub(super) data: &'d str,
    pub(super) chunk: Option<Value<'d>>,
}

impl<'d> CameChunk<'d> {
    pub(super) fn choices(self) -> impl Iterator<Item = Value<'d>> {
        self.chunk.and_then(|chunk| chunk.get("choices")).into_iter().flat_map(Value::items)
    }
}

impl ChatWriter {
    /// Writes the parts of a chunk that are not dropped, one by one.
    pub(super) fn rebuild(
        &mut self,
        frame: Option<&Frame>,
        came: CameChunk<'_>,
        parts: &[Part],
        out: &mut Vec<Bytes>,
    ) {
        let mut events = Vec::new();
        let mut usage = None;
        let mut error = None;
        for part in parts {
            let left = part.fate != Fate::Dropped;
            events.extend(self.notices(part));
            let index = self.state.turns.track(part);
            let normal = match (self.state.normalise, part.fate) {
                (true, Fate::Kept | Fate::Edited) => self.state.turns.normal(part),
                _ => Some(part.clone()),
            };
            let Some(part) = &normal else { continue };
            match &part.delta.kind {
                _ if !left => {}
                DeltaKind::Usage(_) => {
                    let raw = part.delta.site.element.slice(came.data);
                    usage = Some(raw).filter(|raw| passed_over::are_counts(raw));
                }
                DeltaKind::Error(_) => error = Some(self::error(part, parts, came.data)),
                _ => events.extend(self.rebuilt_part(part, came.data, index)),
            }
        }
        for choice in came.choices() {
            // The role is written even if everything beside it is dropped.
            let number = grammar::number(choice);
            let has_role = choice.get("delta").is_some_and(|delta| delta.get("role").is_some());
            if has_role && !self.state.turns.turn(number).opened {
                events.push(self.choice(number, Members::new(), None));
            }
        }
        let name = frame.and_then(error_name);
        let mut known = grammar::envelope(came.chunk);
        if self.state.odd.is_some() {
            known = self.like_others(known);
        }
        let envelope = if known.is_empty() { self.envelope() } else { known.clone() };
        if events.is_empty() && usage.is_some() {
            events.push(String::new());
        }
        let last = events.len().saturating_sub(1);
        for (position, choice) in events.iter().enumerate() {
            let usage = usage.filter(|_| position == last);
            self.state.sink.event(name, &templates::chunk(&envelope, choice, usage), out);
        }
        if let Some(error) = error {
            self.state.sink.event(name, &known.raw("error", &error).finish(), out);
        }
    }

    /// The item of `choices` for a part.
    fn rebuilt_part(&mut self, part: &Part, data: &str, index: Option<u64>) -> Option<String> {
        let number = part.delta.choice?;
        match &part.delta.kind {
            DeltaKind::Finish(reason) => {
                let native = grammar::native_finish(part.delta.site.holder.slice(data));
                let native = native.map(|native| match part.fate {
                    Fate::Edited => json::quote(reason.raw()),
                    _ => native.to_owned(),
                });
                let finish = Finish { reason: Some(json::quote(reason.raw())), native };
                Some(self.choice(number, Members::new(), Some(finish)))
            }
            _ => {
                let members = templates::members(part, data, index, true);
                let apart = self.state.is_apart(part);
                (!members.is_empty()).then(|| self.choice_at(number, members, None, apart))
            }
        }
    }

    /// An item of `choices`; the first one of its number carries the role.
    pub(super) fn choice(&mut self, number: u32, members: Members, finish: Option<Finish>) -> String {
        self.choice_at(number, members, finish, false)
    }

    /// As [`choice`](Self::choice), which stands `apart` from those of other choices at its position.
    fn choice_at(&mut self, number: u32, members: Members, finish: Option<Finish>, apart: bool) -> String {
        let turn = self.state.turns.turn(number);
        let opens = !std::mem::replace(&mut turn.opened, true);
        let choice = templates::choice(number, opens, members, &finish.unwrap_or_default());
        if !apart && !self.state.by_position() {
            self.positions.add_one(number);
            return choice;
        }
        self.positions.add_behind(number);
        behind_others(number, choice)
    }
}

/// A choice at the position of its number: clients that go by position find the choice as do clients that go by number.
fn behind_others(number: u32, choice: String) -> String {
    (0..number).map(templates::no_choice).chain([choice]).collect::<Vec<_>>().join(",")
}

/// The error of a part, with its known fields, and with the call that the provider refused only if the call is kept.
pub(super) fn error(part: &Part, parts: &[Part], data: &str) -> String {
    let is_generation =
        |part: &Part| part.fate == Fate::Kept && Field::of(&part.delta) == Some(Field::FailedGeneration);
    let with_generation = parts.iter().any(is_generation);
    let is_kept = |name: &str| KEPT_OF_ERROR.contains(&name) || (with_generation && name == FAILED);
    let error = part.delta.site.element.slice(data);
    match json::is_object(error) {
        true => json::map(error, |name, raw| is_kept(name).then_some(Cow::Borrowed(raw))).finish(),
        false => error.to_owned(),
    }
}

/// The name that an event keeps: clients read an error by it.
pub(super) fn error_name(frame: &Frame) -> Option<&str> {
    frame.event().filter(|name| *name == "error")
}
