//! Inserted text and calls: where they may stand, and when (rule 21).

use bytes::Bytes;

use crate::delta::{CallDelta, Channel, DeltaKind};
use crate::wire::writer::Grammar as _;
use crate::wire::{Fate, Part};

use super::block::CHOICE;
use super::blocks::BlockKind;
use super::templates;
use super::write::MessagesWriter;

impl MessagesWriter {
    /// What waits leaves before a finish, and where everything was dropped the notice does (rule 21).
    pub(super) fn complete(&mut self, out: &mut Vec<Bytes>) {
        self.settle(true, out);
        let is_open = !self.state.turns.turn(CHOICE).is_finished();
        if let Some(text) = is_open.then(|| self.state.turns.notice(CHOICE)).flatten() {
            self.waiting.push_back(DeltaKind::Text { channel: Channel::Content, text });
            self.settle(true, out);
        }
    }

    /// Writes what waits, as far as the blocks on the wire allow: text goes into an open text block, all else
    /// between blocks. Text after a call is no place (rule 21), nor is anything after the finish.
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

    /// Puts the inserted ones of these parts in.
    pub(super) fn insert_all(&mut self, parts: &[Part], out: &mut Vec<Bytes>) {
        for part in parts.iter().filter(|part| part.fate == Fate::Inserted) {
            self.insert(&part.delta.kind, out);
        }
    }

    /// Puts text or a call in, or lets it wait.
    pub(super) fn insert(&mut self, kind: &DeltaKind, out: &mut Vec<Bytes>) {
        match kind {
            DeltaKind::Text { text, .. } if text.is_empty() => {}
            DeltaKind::Text { .. } | DeltaKind::Call(_) => {
                self.waiting.push_back(kind.clone());
                self.settle(false, out);
            }
            // The end of an inserted call: its block is written whole.
            _ => {}
        }
    }

    /// A block that the upstream did not send: start, one delta, stop.
    fn own_block(&mut self, kind: &DeltaKind, out: &mut Vec<Bytes>) {
        let (number, block, delta) = match kind {
            DeltaKind::Text { text, .. } => {
                let number = self.blocks.insert(BlockKind::Text);
                (
                    number,
                    templates::text_block(""),
                    Some(templates::text_delta(number, Channel::Content, text)),
                )
            }
            DeltaKind::Call(call) => {
                let number = self.blocks.insert(BlockKind::Call);
                let arguments = call.arguments.as_deref().filter(|arguments| !arguments.is_empty());
                let delta = arguments.map(|arguments| templates::input_delta(number, arguments));
                (number, templates::call_block("{}", &named(call, number), "{}"), delta)
            }
            _ => return,
        };
        self.state.turns.turn(CHOICE).answer();
        self.emit(templates::block_start(number, &block), out);
        if let Some(delta) = delta {
            self.emit(delta, out);
        }
        self.emit(templates::block_stop(number), out);
    }

    /// Puts text or a call among the blocks of a message that is written whole.
    pub(super) fn insert_whole(&mut self, kind: &DeltaKind, content: &mut Vec<String>) {
        match kind {
            DeltaKind::Text { text, .. } if !text.is_empty() && !self.blocks.call_left() => {
                self.blocks.insert(BlockKind::Text);
                content.push(templates::text_block(text));
            }
            DeltaKind::Call(call) => {
                let number = self.blocks.insert(BlockKind::Call);
                let input = templates::whole_input(call.arguments.as_deref());
                content.push(templates::call_block("{}", &named(call, number), &input));
            }
            kind => {
                self.state.unplaced += text_of(kind).len();
                return;
            }
        }
        self.state.turns.turn(CHOICE).answer();
    }
}

/// The text that is inserted; empty for a call.
fn text_of(kind: &DeltaKind) -> &str {
    match kind {
        DeltaKind::Text { text, .. } => text,
        _ => "",
    }
}

/// Where inserted text or an inserted call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    OpenText(u64),
    Block,
    Nowhere,
}

/// A call with an id: a client's answer has to name it.
fn named(call: &CallDelta, number: u64) -> CallDelta {
    let id = call.id.clone().unwrap_or_else(|| format!("toolu_inserted_{number}").into());
    CallDelta { id: Some(id), ..call.clone() }
}
