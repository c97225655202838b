//! Inserting text and calls into a stream.
//!
//! Each insertion is an item of its own, with the next free index: another item may be open, and text within a message would
//! have to stand in every copy of the message.

use bytes::Bytes;

use super::templates;
use super::write::{CHOICE, ListedItem, ResponsesWriter};
use crate::delta::{Channel, DeltaKind, FinishKind};
use crate::wire::template::Made;
use crate::wire::writer::Grammar as _;
use crate::wire::{Fate, Part};

impl ResponsesWriter {
    /// Writes the inserted parts among parts without an event.
    pub(super) fn insert_alone(&mut self, parts: &[Part], out: &mut Vec<Bytes>) {
        if parts.iter().any(|part| part.fate == Fate::Inserted) {
            self.touched = true;
            self.insert(parts, out);
        }
    }

    /// Writes the insertions that waited for the end of the opening events, and the inserted parts before this event.
    pub(super) fn insert_before(&mut self, event: &[Part], before: &[Part], out: &mut Vec<Bytes>) {
        if event.iter().any(|part| part.delta.kind == DeltaKind::Opening) {
            self.waiting.extend(joined(before));
            return;
        }
        for inserted in std::mem::take(&mut self.waiting) {
            self.insert_one(&inserted, out);
        }
        self.insert(before, out);
    }

    /// Writes the inserted parts among these.
    pub(super) fn insert(&mut self, parts: &[Part], out: &mut Vec<Bytes>) {
        for inserted in joined(parts) {
            self.insert_one(&inserted, out);
        }
    }

    /// The notice (rule 21), if the response ends with these parts and its turn is emptied. A failure needs no notice.
    pub(super) fn due_notice(&mut self, parts: &[Part]) -> Option<DeltaKind> {
        let leaves = |part: &&Part| part.fate != Fate::Dropped;
        let ends = parts.iter().filter(leaves).any(|part| part.delta.kind == DeltaKind::Terminal);
        let fails = parts.iter().any(|part| match &part.delta.kind {
            DeltaKind::Finish(reason) => reason.kind() == FinishKind::Error,
            DeltaKind::Error(_) => true,
            _ => false,
        });
        let text = (ends && !fails).then(|| self.state.turns.notice(CHOICE)).flatten()?;
        Some(DeltaKind::Text { channel: Channel::Content, text })
    }

    /// The item for inserted text or an inserted call, with the next index.
    pub(super) fn made(&mut self, inserted: &DeltaKind) -> Option<(u64, Made)> {
        let index = self.items.insert();
        self.state.turns.turn(CHOICE).answer();
        self.made += 1;
        let made = match inserted {
            DeltaKind::Call(call) => templates::call(self.made, index, call),
            DeltaKind::Text { channel, text } => templates::message(self.made, index, *channel, text),
            _ => return None,
        };
        Some((index, made))
    }

    pub(super) fn insert_one(&mut self, inserted: &DeltaKind, out: &mut Vec<Bytes>) {
        let Some((index, made)) = self.made(inserted) else { return };
        for event in made.events {
            self.emit(event, out);
        }
        self.listed.push(ListedItem::made(index, made.document));
    }
}

/// The parts before an event, and those after it, for insertions. Nothing is inserted after the last event.
pub(super) fn around(parts: &[Part]) -> (&[Part], &[Part]) {
    if parts.iter().any(|part| matches!(part.delta.kind, DeltaKind::Opening | DeltaKind::Terminal)) {
        return (parts, &[]);
    }
    let own = parts.iter().position(Part::came).unwrap_or(parts.len());
    parts.split_at(own)
}

/// Inserted texts and calls; pieces of one text joined.
pub(super) fn joined(parts: &[Part]) -> Vec<DeltaKind> {
    let mut joined: Vec<DeltaKind> = Vec::new();
    let mut last_key = None;
    for part in parts.iter().filter(|part| part.fate == Fate::Inserted) {
        match (&part.delta.kind, joined.last_mut()) {
            (DeltaKind::Text { text, .. }, _) if text.is_empty() => {}
            (DeltaKind::Text { text, .. }, Some(DeltaKind::Text { text: before, .. }))
                if part.key.is_some() && part.key == last_key =>
            {
                *before = format!("{before}{text}").into();
            }
            (kind @ (DeltaKind::Text { .. } | DeltaKind::Call(_)), _) => joined.push(kind.clone()),
            _ => {}
        }
        last_key = part.key;
    }
    joined
}
