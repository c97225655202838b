//! What has really left, choice by choice: the knowledge that the writer keeps the stream valid with.

use std::collections::{BTreeMap, HashMap};

use crate::block::BlockKey;
use crate::delta::{CallDelta, Channel, DeltaKind, Slot};
use crate::json;
use crate::wire::{Fate, Part};

#[derive(Debug, Default)]
pub(super) struct Ledger {
    choices: BTreeMap<u32, Choice>,
    /// How far the index of each call is shifted; settled when the call opens.
    shifts: HashMap<BlockKey, i64>,
    /// Some choice is tainted.
    tainted: bool,
    /// A terminal marker or an error has left.
    pub(super) ended: bool,
}

/// One choice.
#[derive(Debug, Default)]
pub(super) struct Choice {
    /// Something of it has left, and the role with it.
    pub(super) opened: bool,
    /// Text, a refusal, a call or something opaque has left: the turn is not empty.
    pub(super) has_payload: bool,
    /// Something was dropped.
    pub(super) has_loss: bool,
    /// What left, and what was dropped, of reasoning: a chunk of it that was emptied is no loss if others were not.
    thought: Thought,
    /// Something was dropped, edited or inserted: copies of what it said are stale.
    pub(super) tainted: bool,
    pub(super) finished: bool,
    /// A call has left of which more may come.
    open_call: Option<BlockKey>,
    /// Calls inserted less calls dropped, so far.
    shift: i64,
    /// The index after the highest that has left.
    next_index: u64,
}

impl Ledger {
    pub(super) fn choice(&mut self, number: u32) -> &mut Choice {
        self.choices.entry(number).or_default()
    }

    /// The choices the stream has shown, in their order.
    pub(super) fn choices(&self) -> impl Iterator<Item = (u32, &Choice)> {
        self.choices.iter().map(|(number, choice)| (*number, choice))
    }

    pub(super) fn is_tainted(&self, number: u32) -> bool {
        self.tainted && self.choices.get(&number).is_some_and(|choice| choice.tainted)
    }

    pub(super) fn any_tainted(&self) -> bool {
        self.tainted
    }

    /// Whether a refusal would close a half call, or come after a finish (rule 20).
    pub(super) fn forbids_refusal(&self) -> bool {
        self.choices.values().any(|choice| choice.finished || choice.open_call.is_some())
    }

    /// Whether a choice that ends now would be an empty turn because of what was dropped (rule 21).
    pub(super) fn wants_notice(&self, number: u32) -> bool {
        let is_empty = |choice: &Choice| !choice.has_payload && (choice.has_loss || choice.thought.is_lost());
        !self.ended && self.choices.get(&number).is_some_and(is_empty)
    }

    /// The index a kept call leaves with, by what is known before its frame; `None` if it is the one it came with.
    pub(super) fn moved(&self, part: &Part) -> Option<u64> {
        let (DeltaKind::Call(_), Slot::Call { index: Some(index) }) = (&part.delta.kind, part.delta.slot)
        else {
            return None;
        };
        let known = part.key.and_then(|key| self.shifts.get(&key).copied());
        let choice = part.delta.choice.and_then(|number| self.choices.get(&number));
        let new = shifted(index, known.or(choice.map(|choice| choice.shift)).unwrap_or(0));
        (new != index).then_some(new)
    }

    /// Takes note of a part; for a call, says the index it leaves with.
    pub(super) fn track(&mut self, part: &Part) -> Option<u64> {
        let left = part.fate != Fate::Dropped;
        match &part.delta.kind {
            DeltaKind::Error(_) | DeltaKind::Terminal => self.ended |= left,
            _ => {}
        }
        let number = part.delta.choice?;
        let choice = self.choices.entry(number).or_default();
        let payload = part.delta.kind.is_payload();
        if part.fate != Fate::Kept && (payload || matches!(part.delta.kind, DeltaKind::Copy(_))) {
            choice.tainted = true;
            self.tainted = true;
        }
        match &part.delta.kind {
            DeltaKind::Text { channel, text } => {
                // White space between calls starts nothing (rule 2).
                if !text.trim().is_empty() {
                    choice.open_call = None;
                }
                let left = left && !text.is_empty();
                match channel {
                    Channel::Reasoning => choice.thought.note(left),
                    _ => choice.note(left),
                }
            }
            DeltaKind::Call(call) => {
                choice.note(left);
                return choice.call(call, part, &mut self.shifts);
            }
            DeltaKind::Finish(_) if left => {
                choice.finished = true;
                choice.open_call = None;
            }
            DeltaKind::Stop if part.key == choice.open_call => choice.open_call = None,
            _ if payload => {
                choice.open_call = None;
                choice.note(left);
            }
            _ => {}
        }
        None
    }
}

/// What became of a choice's reasoning.
#[derive(Debug, Default)]
struct Thought {
    left: bool,
    dropped: bool,
}

impl Thought {
    fn note(&mut self, left: bool) {
        self.left |= left;
        self.dropped |= !left;
    }

    fn is_lost(&self) -> bool {
        self.dropped && !self.left
    }
}

impl Choice {
    fn note(&mut self, left: bool) {
        self.has_payload |= left;
        self.has_loss |= !left;
    }

    fn call(&mut self, call: &CallDelta, part: &Part, shifts: &mut HashMap<BlockKey, i64>) -> Option<u64> {
        let sent = match part.delta.slot {
            Slot::Call { index } => index,
            _ => None,
        };
        let known = part.key.and_then(|key| shifts.get(&key).copied());
        let shift = known.unwrap_or(self.shift);
        if known.is_none() {
            if let Some(key) = part.key {
                shifts.insert(key, shift);
            }
            match part.fate {
                Fate::Dropped => self.shift -= 1,
                Fate::Inserted => self.shift += 1,
                Fate::Kept | Fate::Edited => {}
            }
        }
        self.open_call = match part.fate {
            Fate::Dropped if self.open_call == part.key => self.open_call,
            Fate::Inserted | Fate::Dropped => None,
            // A replacement comes whole, in its first part.
            Fate::Edited if call.arguments.as_deref().is_some_and(json::is_object) => None,
            Fate::Edited | Fate::Kept => part.key,
        };
        let index = match part.fate {
            Fate::Dropped => return None,
            Fate::Inserted => Some(self.next_index),
            Fate::Kept | Fate::Edited => sent.map(|index| shifted(index, shift)),
        };
        match index {
            Some(index) => self.next_index = self.next_index.max(index.saturating_add(1)),
            None if known.is_none() => self.next_index += 1,
            None => {}
        }
        index
    }
}

/// Never below the first: an upstream may give all calls the same index.
fn shifted(index: u64, shift: i64) -> u64 {
    index.saturating_add_signed(shift)
}
