//! The calls of each choice: the index, the id and the name that a call is written with.

use std::collections::{BTreeMap, BTreeSet};

use super::grammar::Field;
use crate::block::BlockKey;
use crate::delta::{CallDelta, CallFlavor, DeltaKind, Slot, Text};
use crate::json;
use crate::wire::numbering::WireNumbering;
use crate::wire::turn::{Turn, TurnLedger, Weight};
use crate::wire::{Fate, Odd, Part};

/// The turns of the choices, with their calls.
pub(super) type ChoiceLedger = TurnLedger<ChoiceCalls>;

/// The calls of one choice.
#[derive(Debug, Default)]
pub(super) struct ChoiceCalls {
    /// A part was dropped, edited or inserted: copies of the choice's text are stale.
    tainted: bool,
    numbers: CallNumbers,
    /// The shift of the index of each call, fixed when the call opens.
    shifts: BTreeMap<BlockKey, i64>,
    /// The form in which each call is written, where frames that are not plain are written anew.
    written: BTreeMap<BlockKey, Box<Written>>,
    /// The call that the upstream opened last.
    last: Option<BlockKey>,
}

/// The indices and ids of the calls of one choice.
#[derive(Debug, Default)]
struct CallNumbers {
    numbering: WireNumbering,
    /// The number of calls that the upstream has opened.
    came: u64,
    /// The ids of written calls.
    ids: BTreeSet<Text>,
    /// The number below which all made ids are taken.
    own: u64,
}

/// The form in which a call is written: with one index, one id and one name, each written once (rule 28).
#[derive(Debug, Default)]
struct Written {
    /// The index that the upstream opened the call with, and the index on the wire.
    came: Option<u64>,
    index: u64,
    id: Option<Text>,
    /// Whether the upstream has sent the name, and whether the name was written.
    has_name: bool,
    named: bool,
    /// The arguments before the name.
    early: String,
}

impl ChoiceLedger {
    /// Whether copies of the choice's text are stale.
    pub(super) fn is_tainted(&self, number: u32) -> bool {
        self.known(number).is_some_and(|turn| turn.own.tainted)
    }

    pub(super) fn any_tainted(&self) -> bool {
        self.turns().any(|turn| turn.own.tainted)
    }

    /// Fixes the form in which the calls of a frame are written. Returns the reason why a call is not plain, given the calls
    /// before it.
    pub(super) fn settle(&mut self, parts: &[Part]) -> Option<Odd> {
        let mut odd = None;
        for part in parts.iter().filter(|part| part.came()) {
            let (DeltaKind::Call(call), Some(key)) = (&part.delta.kind, part.key) else { continue };
            let Some(number) = part.delta.choice else { continue };
            let choice = &mut self.turn(number).own;
            if call.flavor == CallFlavor::LegacyFunction {
                // A legacy call has neither an index nor an id, and is the only call of its choice.
                let opens = !choice.written.contains_key(&key);
                choice.written.entry(key).or_default();
                if opens != call.name.is_some() && part.fate == Fate::Kept {
                    odd = odd.or(Some(Odd::Identity));
                }
                continue;
            }
            let sent = sent(part);
            let found = match choice.written.get_mut(&key) {
                Some(written) => {
                    if !written.has_name && call.name.is_some() {
                        choice.numbers.claim(written, part.fate != Fate::Dropped);
                    }
                    written.continues(call, sent, choice.last == Some(key))
                }
                None => {
                    let (written, found) = choice.numbers.open(call, sent, part.fate != Fate::Dropped);
                    choice.last = Some(key);
                    choice.written.insert(key, Box::new(written));
                    // Items with nothing but an index would name a call that the client does not have.
                    choice.tainted |= found.is_some();
                    found
                }
            };
            if part.fate == Fate::Kept {
                odd = odd.or(found);
            }
        }
        odd
    }

    /// The form in which the call of a part is written.
    fn written(&mut self, part: &Part) -> Option<&mut Written> {
        self.known_mut(part.delta.choice?)?.own.written.get_mut(&part.key?).map(|written| &mut **written)
    }

    /// Records a call that is written as its bytes.
    pub(super) fn said(&mut self, part: &Part) {
        if let DeltaKind::Call(call) = &part.delta.kind
            && let Some(written) = self.written(part)
        {
            written.named |= call.name.is_some();
        }
    }

    /// The part of a kept or edited call in a frame that is written anew: with the id and the name only where the call
    /// opens, followed by all arguments so far. `None` where nothing of the call is written yet.
    pub(super) fn normal(&mut self, part: &Part) -> Option<Part> {
        let DeltaKind::Call(call) = &part.delta.kind else { return Some(part.clone()) };
        let Some(written) = self.written(part) else { return Some(part.clone()) };
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

    /// The index on the wire of a kept call; `None` if it is that of the upstream.
    pub(super) fn moved(&self, part: &Part) -> Option<u64> {
        let index = sent(part).filter(|_| matches!(part.delta.kind, DeltaKind::Call(_)))?;
        let choice = &self.known(part.delta.choice?)?.own;
        let new = match part.key.map(|key| (choice.written.get(&key), choice.shifts.get(&key))) {
            Some((Some(written), _)) => written.index,
            Some((None, Some(shift))) => index.saturating_add_signed(*shift),
            _ => choice.numbers.numbering.shifted(index),
        };
        (new != index).then_some(new)
    }

    /// Records a part, and returns the index on the wire of a call.
    pub(super) fn track(&mut self, part: &Part) -> Option<u64> {
        let kind = &part.delta.kind;
        let turn = self.note(part, part.fate, weight(part))?;
        if part.fate != Fate::Kept && (kind.is_payload() || matches!(kind, DeltaKind::Copy(_))) {
            turn.own.tainted = true;
        }
        match kind {
            // White space between calls starts nothing (rule 2).
            DeltaKind::Text { text, .. } if text.trim().is_empty() => {}
            DeltaKind::Call(call) => {
                note_half(turn, call, part);
                return match part.key.and_then(|key| turn.own.written.get(&key)) {
                    Some(written) => Some(written.index).filter(|_| part.fate != Fate::Dropped),
                    None => turn.own.index(part),
                };
            }
            DeltaKind::Stop => part.key.into_iter().for_each(|key| turn.whole_call(key.0.into())),
            kind if kind.is_payload() => turn.whole_calls(),
            _ => {}
        }
        None
    }
}

/// The weight of a part. An opaque part in a field that clients do not read is no answer, and is not written anew. Lines that
/// are no event stand in no field.
fn weight(part: &Part) -> Weight {
    let is_read = || match Field::of(&part.delta) {
        Some(field) => matches!(field, Field::ToolCall | Field::ContentItem | Field::Audio),
        None => part.delta.site.element.is_empty(),
    };
    match &part.delta.kind {
        DeltaKind::Opaque { .. } if !is_read() => Weight::Aside,
        kind => Weight::of(kind),
    }
}

/// The index that a call came with.
fn sent(part: &Part) -> Option<u64> {
    match part.delta.slot {
        Slot::Call { index } => index,
        _ => None,
    }
}

/// Records whether a call is written in part.
fn note_half(turn: &mut Turn<ChoiceCalls>, call: &CallDelta, part: &Part) {
    let key = part.key.map(|key| u64::from(key.0)).filter(|key| match part.fate {
        Fate::Inserted => false,
        Fate::Dropped => turn.is_half(*key),
        // A replacement is written whole, with its first part.
        Fate::Edited => !call.arguments.as_deref().is_some_and(json::is_object),
        Fate::Kept => true,
    });
    turn.whole_calls();
    key.into_iter().for_each(|key| turn.half_call(key));
}

impl ChoiceCalls {
    /// The index on the wire of a call.
    fn index(&mut self, part: &Part) -> Option<u64> {
        let Self { numbers: CallNumbers { numbering, .. }, shifts, .. } = self;
        let sent = sent(part);
        let leaves = part.fate != Fate::Dropped;
        let shift = match (sent, part.key.and_then(|key| shifts.get(&key))) {
            _ if part.fate == Fate::Inserted => return Some(numbering.insert()),
            (_, Some(shift)) => *shift,
            (Some(sent), None) => numbering.open(sent, leaves)?.wrapping_sub(sent) as i64,
            (None, None) if leaves => {
                numbering.open_unnumbered();
                0
            }
            (None, None) => return None,
        };
        shifts.extend(part.key.map(|key| (key, shift)));
        sent.filter(|_| leaves).map(|sent| sent.saturating_add_signed(shift))
    }
}

impl CallNumbers {
    /// Opens a call. A plain call opens with the index behind the last, a name, and an id of its own. The first call may lack an
    /// id: clients that go by ids have no other call to assign its parts to.
    fn open(&mut self, call: &CallDelta, sent: Option<u64>, leaves: bool) -> (Written, Option<Odd>) {
        let next = self.came;
        self.came += 1;
        let has_name = call.name.is_some();
        let mut written = Written { came: sent, id: call.id.clone(), has_name, ..Written::default() };
        // A call without a name is written when the upstream sends the name.
        if has_name {
            self.claim(&mut written, leaves);
        }
        let plain = sent == Some(next) && written.id == call.id && has_name;
        (written, (!plain).then_some(Odd::Identity))
    }

    /// Assigns to a call the index behind the last one, and an id of its own.
    fn claim(&mut self, written: &mut Written, leaves: bool) {
        written.index = self.numbering.next();
        written.id = match written.id.take() {
            Some(id) if !self.ids.contains(&id) => Some(id),
            None if written.index == 0 => None,
            _ => Some(self.own_id(written.index)),
        };
        if leaves {
            self.numbering.open_unnumbered();
            self.ids.extend(written.id.clone());
        }
    }

    /// An id that no call of the choice has.
    fn own_id(&mut self, index: u64) -> Text {
        self.own = self.own.max(index);
        loop {
            let id = Text::from(format!("call_{}", self.own));
            if !self.ids.contains(&id) {
                return id;
            }
            self.own += 1;
        }
    }
}

impl Written {
    /// Continues a call. A plain continuation has the index that the call opened with, no name, no other id, and belongs to the
    /// call that opened last.
    fn continues(&mut self, call: &CallDelta, sent: Option<u64>, is_last: bool) -> Option<Odd> {
        let same = sent.is_some() && sent == self.came && (call.id.is_none() || call.id == self.id);
        // The arguments before the name wait for the name.
        let had_name = self.has_name;
        self.has_name |= call.name.is_some();
        if !same || !had_name || call.name.is_some() {
            return Some(Odd::Identity);
        }
        (!is_last).then_some(Odd::Order)
    }
}
