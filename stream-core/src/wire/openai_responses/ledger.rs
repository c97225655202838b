//! What has left: items and their parts, and the numbers they have on the wire.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::indices::Indices;
use super::item::SUMMARY;
use super::parts::Parts;
use crate::block::BlockKey;
use crate::delta::{CallDelta, Channel, DeltaKind, Restated, Slot, Text};
use crate::wire::{Fate, Part};

/// Keeps the books of one response. Items are named by the `output_index` they came with.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    items: HashMap<u32, Item>,
    indices: Indices,
    payload_left: bool,
    payload_dropped: bool,
}

/// An item of the upstream.
#[derive(Debug)]
pub(super) struct Item {
    kind: Kind,
    key: Option<BlockKey>,
    /// Its index on the wire; `None` if it was dropped.
    index: Option<u32>,
    opened: bool,
    open: bool,
    parts: Parts,
    replaced: Option<Replaced>,
}

/// What a replaced call says now.
#[derive(Debug, Clone, Default)]
pub(super) struct Replaced {
    pub(super) id: Option<Text>,
    pub(super) name: Option<Text>,
    pub(super) arguments: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
    Call,
    Opaque,
}

impl Ledger {
    /// Books in which the index of an item is its position, if they are dense.
    pub(super) fn new(dense: bool) -> Self {
        Self { indices: Indices::new(dense), ..Self::default() }
    }

    /// Books a part of the upstream's. Answers with the item that it completes.
    pub(super) fn note(&mut self, part: &Part) -> Option<u32> {
        let leaves = part.fate != Fate::Dropped;
        self.note_payload(part, leaves);
        let Slot::At { item, part: number } = part.delta.slot else { return None };
        match &part.delta.kind {
            DeltaKind::ItemStart { channel } => {
                self.open(item, Kind::of(*channel), part.key, leaves);
            }
            DeltaKind::Call(call) => self.note_call(item, call, part),
            DeltaKind::Opaque { .. } => self.note_opaque(item, number, part.key, leaves),
            DeltaKind::Start { channel } | DeltaKind::Text { channel, .. } => {
                self.entry(item, Kind::of(*channel), part.key, leaves).open_part(number, leaves);
            }
            // Nothing that anybody could have judged.
            DeltaKind::Copy(copy) if part.key.is_none() && is_empty(copy) => {}
            DeltaKind::Copy(copy) => {
                let is_call = copy.name.is_some() && number == 0;
                let kind = if is_call { Kind::Call } else { Kind::Message };
                // Of a message another part may still be kept.
                self.restated(item, kind, part.key, leaves || !is_call).open_part(number, leaves);
            }
            DeltaKind::Stop => return self.note_stop(item, number, leaves),
            _ => {}
        }
        None
    }

    pub(super) fn item(&self, item: u32) -> Option<&Item> {
        self.items.get(&item)
    }

    /// The index of an item on the wire; `None` if it was dropped.
    pub(super) fn index(&self, item: u32) -> Option<u32> {
        self.items.get(&item).map_or_else(|| Some(self.indices.shifted(item)), |known| known.index)
    }

    /// The number of a part on the wire, after the dropped ones before it.
    pub(super) fn part_number(&self, item: u32, part: u32) -> u32 {
        let dropped = self.items.get(&item).map_or(0, |item| item.parts.dropped_before(part));
        let number = if part >= SUMMARY { part - SUMMARY } else { part };
        number.saturating_sub(dropped)
    }

    /// Takes an index for an item made here.
    pub(super) fn insert(&mut self) -> u32 {
        self.payload_left = true;
        self.indices.insert()
    }

    /// Text leaves in a part that was dropped: opens it after all, and its item if need be. Answers which of the two
    /// the wire does not know.
    pub(super) fn revive(&mut self, item: u32, part: u32) -> Revived {
        let mut revived = Revived::default();
        if let Some(known) = self.items.get_mut(&item) {
            if known.index.is_none() {
                known.index = Some(self.indices.insert());
                known.open = true;
                revived.item = true;
            }
            revived.part = known.parts.revive(part);
        }
        revived
    }

    /// Whether a call has opened on the wire and is not complete.
    pub(super) fn has_open_call(&self) -> bool {
        self.items.values().any(|item| item.kind == Kind::Call && item.open && item.index.is_some())
    }

    /// Whether any item of the upstream's has opened on the wire.
    pub(super) fn has_items(&self) -> bool {
        self.items.values().any(|item| item.opened && item.index.is_some())
    }

    /// Whether something was dropped, and nothing that makes an answer has left (rule 21).
    pub(super) fn is_emptied(&self) -> bool {
        self.payload_dropped && !self.payload_left
    }

    fn note_payload(&mut self, part: &Part, leaves: bool) {
        match &part.delta.kind {
            DeltaKind::Text { channel, text } => {
                let emptied = part.fate == Fate::Edited && text.is_empty();
                self.payload_left |= leaves && !emptied && *channel != Channel::Reasoning;
                self.payload_dropped |= !leaves || emptied;
            }
            // The name of a call that the provider runs.
            DeltaKind::Call(_) if self.is_opaque(part.delta.slot) => self.payload_dropped |= !leaves,
            DeltaKind::Call(_) => {
                self.payload_left |= leaves;
                self.payload_dropped |= !leaves;
            }
            DeltaKind::Opaque { .. } => self.payload_dropped |= !leaves,
            DeltaKind::Copy(copy) if copy.is_first => {
                self.payload_left |= leaves && !self.is_reasoning(part.delta.slot);
                self.payload_dropped |= !leaves;
            }
            _ => {}
        }
    }

    fn is_opaque(&self, slot: Slot) -> bool {
        let Slot::At { item, .. } = slot else { return false };
        self.items.get(&item).is_some_and(|item| item.kind == Kind::Opaque)
    }

    fn is_reasoning(&self, slot: Slot) -> bool {
        let Slot::At { item, part } = slot else { return false };
        part >= SUMMARY || self.items.get(&item).is_some_and(|item| item.kind == Kind::Reasoning)
    }

    fn note_call(&mut self, item: u32, call: &CallDelta, part: &Part) {
        if !call.starts && self.items.contains_key(&item) {
            return;
        }
        let opened = self.open(item, Kind::Call, part.key, part.fate != Fate::Dropped);
        if part.fate == Fate::Edited {
            opened.replaced = Some(Replaced {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            });
        }
    }

    fn note_opaque(&mut self, item: u32, number: u32, key: Option<BlockKey>, leaves: bool) {
        match self.items.get_mut(&item) {
            Some(known) if known.kind == Kind::Opaque && known.key == key => {}
            // A call's event of a kind that is not known.
            Some(known) if known.kind == Kind::Call => {}
            Some(known) if known.has_parts() => known.open_part(number, leaves),
            _ => {
                self.open(item, Kind::Opaque, key, leaves);
            }
        }
    }

    fn note_stop(&mut self, item: u32, number: u32, leaves: bool) -> Option<u32> {
        let known = self.items.get_mut(&item)?;
        let is_whole = number == Slot::ITEM || !known.has_parts();
        known.open &= !(is_whole && leaves);
        is_whole.then_some(item)
    }

    /// A new item, whatever had the index before.
    fn open(&mut self, item: u32, kind: Kind, key: Option<BlockKey>, leaves: bool) -> &mut Item {
        // An opening event may list an item before it opens: it is dropped once.
        if self.items.get(&item).is_some_and(|known| !known.opened && known.index.is_none()) {
            self.indices.forget(item);
        }
        let index = self.indices.open(item, leaves);
        self.items.entry(item).insert_entry(Item::new(kind, key, index, true)).into_mut()
    }

    /// The item with this index, opened if it is not known.
    fn entry(&mut self, item: u32, kind: Kind, key: Option<BlockKey>, leaves: bool) -> &mut Item {
        match self.items.entry(item) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let index = self.indices.open(item, leaves);
                vacant.insert(Item::new(kind, key, index, true))
            }
        }
    }

    /// The item that is restated. One that is first seen so never opens on the wire.
    fn restated(&mut self, item: u32, kind: Kind, key: Option<BlockKey>, leaves: bool) -> &mut Item {
        match self.items.entry(item) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(vacant) => {
                let index = self.indices.open(item, leaves);
                vacant.insert(Item::new(kind, key, index, false))
            }
        }
    }
}

fn is_empty(copy: &Restated) -> bool {
    copy.name.is_none() && copy.body.as_deref().is_none_or(str::is_empty)
}

/// What [`Ledger::revive`] opened.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Revived {
    pub(super) item: bool,
    pub(super) part: bool,
}

impl Item {
    fn new(kind: Kind, key: Option<BlockKey>, index: Option<u32>, opened: bool) -> Self {
        Self { kind, key, index, opened, open: opened, parts: Parts::default(), replaced: None }
    }

    /// Whether it opened by an event of its own, rather than in a restatement.
    pub(super) fn opened(&self) -> bool {
        self.opened
    }

    pub(super) fn replaced(&self) -> Option<&Replaced> {
        self.replaced.as_ref()
    }

    pub(super) fn is_call(&self) -> bool {
        self.kind == Kind::Call
    }

    /// Whether a part left; `None` if it is not known.
    pub(super) fn part_left(&self, part: u32) -> Option<bool> {
        self.parts.left(part)
    }

    fn has_parts(&self) -> bool {
        matches!(self.kind, Kind::Message | Kind::Reasoning)
    }

    fn open_part(&mut self, part: u32, leaves: bool) {
        if self.has_parts() {
            self.parts.open(part, leaves);
        }
    }
}

impl Kind {
    fn of(channel: Channel) -> Self {
        match channel {
            Channel::Reasoning => Self::Reasoning,
            Channel::Content | Channel::Refusal => Self::Message,
        }
    }
}
