//! The places of inserted text and calls (rule 21).

use bytes::Bytes;

use crate::delta::{Channel, DeltaKind};
use crate::wire::template::Made;
use crate::wire::writer::Grammar as _;
use crate::wire::{Fate, Part};

use super::block::CHOICE;
use super::blocks::BlockKind;
use super::templates;
use super::write::MessagesWriter;

impl MessagesWriter {
    /// Writes waiting insertions before a finish, and the notice where the turn is emptied (rule 21).
    pub(super) fn complete(&mut self, out: &mut Vec<Bytes>) {
        if self.state.turns.has_ended() {
            // A second terminal marker.
            return;
        }
        self.settle(true, out);
        let is_open = !self.state.turns.turn(CHOICE).is_finished();
        if let Some(text) = is_open.then(|| self.state.turns.notice(CHOICE)).flatten() {
            self.waiting.push_back(DeltaKind::Text { channel: Channel::Content, text });
            self.settle(true, out);
        }
    }

    /// Writes waiting insertions as far as the blocks on the wire allow: text into an open text block, all else
    /// between blocks. Text behind a call is discarded (rule 21), as is anything behind the finish.
    pub(super) fn settle(&mut self, at_end: bool, out: &mut Vec<Bytes>) {
        let turn = self.state.turns.turn(CHOICE);
        let opened = turn.opened;
        if turn.is_finished() {
            self.state.unplaced += self.waiting.drain(..).map(|kind| text_of(&kind).len()).sum::<usize>();
        }
        while let Some(kind) = self.waiting.front() {
            let between = at_end || (opened && !self.blocks.any_open());
            let into = match kind {
                DeltaKind::Text { .. } if self.blocks.call_left() => Target::Nowhere,
                DeltaKind::Text { .. } => self.blocks.open_text().map_or(Target::Block, Target::OpenText),
                _ => Target::Block,
            };
            if into == Target::Block && !between {
                return;
            }
            let Some(kind) = self.waiting.pop_front() else { return };
            match (kind, into) {
                (DeltaKind::Text { text, .. }, Target::OpenText(number)) => {
                    self.state.turns.turn(CHOICE).answer();
                    self.emit(templates::text_delta(number, Channel::Content, &text), out);
                }
                (kind, Target::Block) => self.own_block(&kind, out),
                (kind, _) => self.state.unplaced += text_of(&kind).len(),
            }
        }
    }

    /// Inserts the inserted parts among these.
    pub(super) fn insert_all(&mut self, parts: &[Part], out: &mut Vec<Bytes>) {
        for part in parts.iter().filter(|part| part.fate == Fate::Inserted) {
            self.insert(&part.delta.kind, out);
        }
    }

    /// Inserts text or a call, now or when the open block has stopped.
    pub(super) fn insert(&mut self, kind: &DeltaKind, out: &mut Vec<Bytes>) {
        match kind {
            DeltaKind::Text { text, .. } if text.is_empty() => {}
            kind if self.state.turns.has_ended() => self.state.unplaced += text_of(kind).len(),
            DeltaKind::Text { .. } | DeltaKind::Call(_) => {
                self.waiting.push_back(kind.clone());
                self.settle(false, out);
            }
            // The end of an inserted call: its block is written whole.
            _ => {}
        }
    }

    /// Writes a block that the upstream did not send.
    fn own_block(&mut self, kind: &DeltaKind, out: &mut Vec<Bytes>) {
        for event in self.made(kind).into_iter().flat_map(|made| made.events) {
            self.emit(event, out);
        }
    }

    /// Inserts text or a call among the blocks of a message that is written whole.
    pub(super) fn insert_whole(&mut self, kind: &DeltaKind, content: &mut Vec<String>) {
        let has_place = match kind {
            DeltaKind::Text { text, .. } => !text.is_empty() && !self.blocks.call_left(),
            _ => true,
        };
        let made = if has_place { self.made(kind) } else { None };
        match made {
            Some(made) => content.push(made.document),
            None => self.state.unplaced += text_of(kind).len(),
        }
    }

    /// The block for inserted text or an inserted call, with the next number.
    fn made(&mut self, kind: &DeltaKind) -> Option<Made> {
        let made = match kind {
            DeltaKind::Text { text, .. } => templates::made_text(self.blocks.insert(BlockKind::Text), text),
            DeltaKind::Call(call) => templates::made_call(self.blocks.insert(BlockKind::Call), call),
            _ => return None,
        };
        self.state.turns.turn(CHOICE).answer();
        Some(made)
    }
}

/// The inserted text; empty for a call.
fn text_of(kind: &DeltaKind) -> &str {
    match kind {
        DeltaKind::Text { text, .. } => text,
        _ => "",
    }
}

/// The place of inserted text or an inserted call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    OpenText(u64),
    Block,
    Nowhere,
}
