//! What has really left, choice by choice: the knowledge that the writer keeps the stream valid with.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::block::BlockKey;
use crate::delta::{CallDelta, CallFlavor, Channel, DeltaKind, Slot, Text};
use crate::json;
use crate::wire::{Fate, Odd, Part};

#[derive(Debug, Default)]
pub(super) struct Ledger {
    choices: BTreeMap<u32, Choice>,
    /// How far the index of each call is shifted; settled when the call opens.
    shifts: HashMap<BlockKey, i64>,
    /// How each call leaves, where frames that are not plain are written anew.
    written: HashMap<BlockKey, Written>,
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
    /// How many calls the upstream has opened, and the one it opened last.
    came: u64,
    last: Option<BlockKey>,
    /// The ids that calls have left with.
    ids: HashSet<Text>,
}

/// How a call leaves: with one index, one id and one name, each said once (rule 28).
#[derive(Debug, Default)]
struct Written {
    /// The index that the upstream opened the call with, and the one that leaves.
    came: Option<u64>,
    index: u64,
    id: Option<Text>,
    /// Whether the name has come, and whether it has left.
    has_name: bool,
    named: bool,
    /// Arguments that came before the name.
    early: String,
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

    /// Settles how the calls of a frame leave. Says what is not plain about them, given what left before.
    pub(super) fn settle(&mut self, parts: &[Part]) -> Option<Odd> {
        let mut odd = None;
        for part in parts.iter().filter(|part| part.fate != Fate::Inserted) {
            let (DeltaKind::Call(call), Some(key)) = (&part.delta.kind, part.key) else { continue };
            let Some(number) = part.delta.choice else { continue };
            if call.flavor == CallFlavor::LegacyFunction {
                // It has neither an index nor an id, and is the only one of its choice.
                let opens = !self.written.contains_key(&key);
                if opens {
                    self.written.insert(key, Written::default());
                }
                if opens != call.name.is_some() && part.fate == Fate::Kept {
                    odd = odd.or(Some(Odd::Identity));
                }
                continue;
            }
            let sent = match part.delta.slot {
                Slot::Call { index } => index,
                _ => None,
            };
            let choice = self.choices.entry(number).or_default();
            let found = match self.written.get_mut(&key) {
                Some(written) => {
                    if !written.has_name && call.name.is_some() {
                        choice.claim(written, part.fate != Fate::Dropped);
                    }
                    written.continues(call, sent, choice.last == Some(key))
                }
                None => {
                    let (written, found) = choice.open(call, sent, part.fate != Fate::Dropped);
                    choice.last = Some(key);
                    self.written.insert(key, written);
                    // Items that say nothing but an index would name a call that the client does not have.
                    choice.tainted |= found.is_some();
                    self.tainted |= found.is_some();
                    found
                }
            };
            if part.fate == Fate::Kept {
                odd = odd.or(found);
            }
        }
        odd
    }

    /// Takes note that a call has left as it came.
    pub(super) fn said(&mut self, part: &Part) {
        if let (DeltaKind::Call(call), Some(key)) = (&part.delta.kind, part.key)
            && let Some(written) = self.written.get_mut(&key)
        {
            written.named |= call.name.is_some();
        }
    }

    /// A kept or edited call as it leaves, where its frame is written anew: with the id and the name only where the
    /// call opens, and behind them all arguments that came by then. `None` where nothing of it is to be said yet.
    pub(super) fn normal(&mut self, part: &Part) -> Option<Part> {
        let (DeltaKind::Call(call), Some(key)) = (&part.delta.kind, part.key) else {
            return Some(part.clone());
        };
        let Some(written) = self.written.get_mut(&key) else { return Some(part.clone()) };
        let mut call = call.clone();
        if written.named {
            (call.id, call.name) = (None, None);
            call.arguments.as_ref()?;
        } else if call.name.is_none() {
            written.early.push_str(call.arguments.as_deref().unwrap_or_default());
            return None;
        } else {
            written.named = true;
            call.id.clone_from(&written.id);
            let early = std::mem::take(&mut written.early);
            call.arguments = Some((early + call.arguments.as_deref().unwrap_or_default()).into());
        }
        let mut part = part.clone();
        part.delta.kind = DeltaKind::Call(call);
        part.fate = Fate::Edited;
        Some(part)
    }

    /// The index a kept call leaves with, by what is known before its frame; `None` if it is the one it came with.
    pub(super) fn moved(&self, part: &Part) -> Option<u64> {
        let (DeltaKind::Call(_), Slot::Call { index: Some(index) }) = (&part.delta.kind, part.delta.slot)
        else {
            return None;
        };
        if let Some(written) = part.key.and_then(|key| self.written.get(&key)) {
            return (written.index != index).then_some(written.index);
        }
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
                if let Some(written) = part.key.and_then(|key| self.written.get(&key)) {
                    choice.note_open(call, part);
                    return left.then_some(written.index);
                }
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
        self.note_open(call, part);
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

impl Choice {
    /// Whether more of a call may come that has left.
    fn note_open(&mut self, call: &CallDelta, part: &Part) {
        self.open_call = match part.fate {
            Fate::Dropped if self.open_call == part.key => self.open_call,
            Fate::Inserted | Fate::Dropped => None,
            // A replacement comes whole, in its first part.
            Fate::Edited if call.arguments.as_deref().is_some_and(json::is_object) => None,
            Fate::Edited | Fate::Kept => part.key,
        };
    }

    /// A call opens: with the index behind the last, a name, and an id of its own. The first may lack an id: those who
    /// go by ids have nothing else to give its parts to.
    fn open(&mut self, call: &CallDelta, sent: Option<u64>, leaves: bool) -> (Written, Option<Odd>) {
        let next = self.came;
        self.came += 1;
        let has_name = call.name.is_some();
        let mut written = Written { came: sent, id: call.id.clone(), has_name, ..Written::default() };
        // One without a name leaves when the name comes, if ever.
        if has_name {
            self.claim(&mut written, leaves);
        }
        let plain = sent == Some(next) && written.id == call.id && has_name;
        (written, (!plain).then_some(Odd::Identity))
    }

    /// Gives a call the index behind the last one, and an id of its own.
    fn claim(&mut self, written: &mut Written, leaves: bool) {
        written.index = self.next_index;
        written.id = match written.id.take() {
            Some(id) if !self.ids.contains(&id) => Some(id),
            None if written.index == 0 => None,
            _ => Some(self.own_id(written.index)),
        };
        if leaves {
            self.next_index += 1;
            self.ids.extend(written.id.clone());
        }
    }

    /// An id that no call of the choice has.
    fn own_id(&self, index: u64) -> Text {
        let ids = (index..).map(|number| Text::from(format!("call_{number}")));
        ids.into_iter().find(|id| !self.ids.contains(id)).unwrap_or_default()
    }
}

impl Written {
    /// A call goes on: with the index that it opened with, without a name, with no other id, and as the call that opened last.
    fn continues(&mut self, call: &CallDelta, sent: Option<u64>, is_last: bool) -> Option<Odd> {
        let same = sent.is_some() && sent == self.came && (call.id.is_none() || call.id == self.id);
        // Until the name comes, what there is of the arguments waits for it.
        let had_name = self.has_name;
        self.has_name |= call.name.is_some();
        if !same || !had_name || call.name.is_some() {
            return Some(Odd::Identity);
        }
        (!is_last).then_some(Odd::Order)
    }
}

/// Never below the first: an upstream may give all calls the same index.
fn shifted(index: u64, shift: i64) -> u64 {
    index.saturating_add_signed(shift)
}
