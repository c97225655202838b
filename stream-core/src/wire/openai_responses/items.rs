//! The items and their parts on the wire, and their numbers there.

use super::ending::OpenItem;
use super::item::SUMMARY;
use super::kinds::Role;
use crate::block::BlockKey;
use crate::delta::{CallDelta, DeltaKind, Restated, Slot};
use crate::few::Few;
use crate::wire::numbering::WireNumbering;
use crate::wire::turn::{Turn, Weight};
use crate::wire::{Fate, Part};

/// The items of one response, by the upstream's `output_index`.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: Few<Item>,
    numbering: WireNumbering,
}

/// An item of the upstream.
#[derive(Debug)]
pub(super) struct Item {
    /// The role, as far as deltas show it: opaque items are unknown.
    role: Role,
    key: Option<BlockKey>,
    /// The index on the wire; `None` if the item was dropped.
    index: Option<u64>,
    opened: bool,
    open: bool,
    /// The numbers of the parts, by list: the content, or the summary. Few items have both.
    parts: Few<WireNumbering>,
    /// The replacement of the call, if it was replaced.
    replaced: Option<Box<CallDelta>>,
    /// The data for an early end of the item, while it is open on the wire.
    said: Option<Box<OpenItem>>,
}

impl Items {
    /// No items yet; with `dense`, the index of an item is its position.
    pub(super) fn new(dense: bool) -> Self {
        Self { items: Few::default(), numbering: WireNumbering::new(dense) }
    }

    /// Records a part of the upstream, and in its turn whether a call is written in part. Returns the item that the part
    /// completes.
    pub(super) fn note(&mut self, part: &Part, turn: &mut Turn) -> Option<u32> {
        let item = part.item()?;
        let completed = self.book(part);
        let known = self.items.get(item);
        turn.whole_call(item.into());
        if known.is_some_and(|item| item.is_call() && item.open && item.index.is_some()) {
            turn.half_call(item.into());
        }
        completed
    }

    fn book(&mut self, part: &Part) -> Option<u32> {
        let leaves = part.fate != Fate::Dropped;
        let Slot::At { item, part: number } = part.delta.slot else { return None };
        match &part.delta.kind {
            DeltaKind::ItemStart { channel } => {
                self.open(item, Role::of_channel(*channel), part.key, leaves);
            }
            DeltaKind::Call(call) => self.note_call(item, call, part),
            // An unknown event opens no item.
            DeltaKind::Opaque { .. } if number == Slot::ITEM => {}
            DeltaKind::Opaque { .. } => self.note_opaque(item, number, part.key, leaves),
            DeltaKind::Start { channel } | DeltaKind::Text { channel, .. } => {
                self.entry(item, Role::of_channel(*channel), part, leaves).open_part(number, leaves);
            }
            // An empty copy, of which there was nothing to judge.
            DeltaKind::Copy(copy) if part.key.is_none() && is_empty(copy) => {}
            DeltaKind::Copy(copy) => {
                let is_call = copy.name.is_some() && number == 0;
                let role = if is_call { Role::Call(copy.flavor) } else { Role::Message };
                self.entry(item, role, part, leaves).open_part(number, leaves);
                if leaves && !is_call {
                    self.keep(item);
                }
            }
            DeltaKind::Stop => return self.note_stop(item, number, leaves),
            _ => {}
        }
        None
    }

    /// Records a part of an event that is written, for an early end of its item: structure is written with its event.
    pub(super) fn note_open(&mut self, part: &Part, data: &[u8]) {
        let Slot::At { item, part: number } = part.delta.slot else { return };
        let stops = part.delta.kind == DeltaKind::Stop;
        // The id of a call is needed behind the end of the call, too.
        let known = self.items.get_mut(item).filter(|item| !stops || !item.is_call());
        if let Some(known) = known.filter(|_| stops || part.fate != Fate::Dropped) {
            OpenItem::note(&mut known.said, number, &part.delta.kind, data);
        }
    }

    /// Takes the data for an early end of all items that are open on the wire and no calls, with the upstream's indices.
    pub(super) fn take_open(&mut self) -> Vec<(u32, Box<OpenItem>)> {
        let open = self.items.iter_mut().filter(|(_, item)| !item.is_call());
        open.filter_map(|(index, item)| Some((index, item.said.take()?))).collect()
    }

    pub(super) fn item(&self, item: u32) -> Option<&Item> {
        self.items.get(item)
    }

    /// The index of an item on the wire; `None` if the item was dropped.
    pub(super) fn index(&self, item: u32) -> Option<u64> {
        let unknown = || Some(self.numbering.shifted(item.into()));
        self.items.get(item).map_or_else(unknown, |known| known.index)
    }

    /// The number of a part on the wire, less the dropped parts before it.
    pub(super) fn part_number(&self, item: u32, part: u32) -> u64 {
        let (list, number) = list(part);
        let known = self.items.get(item).and_then(|item| item.parts.get(list));
        known.map_or(number, |numbering| numbering.shifted(number))
    }

    /// Takes an index for an inserted item.
    pub(super) fn insert(&mut self) -> u64 {
        self.numbering.insert()
    }

    /// Opens a dropped part of which text is written after all, and its item where that was dropped too. The answer says
    /// whether the item, and whether the part, is new to the client.
    pub(super) fn revive(&mut self, item: u32, part: u32) -> (bool, bool) {
        let Some(known) = self.items.get_mut(item) else { return (false, false) };
        let is_new = known.index.is_none();
        if is_new {
            known.index = Some(self.numbering.insert());
            known.open = true;
        }
        let (list, number) = list(part);
        (is_new, known.parts.get_mut(list).is_some_and(|numbering| numbering.revive(number)))
    }

    /// Whether any item of the upstream's has opened on the wire.
    pub(super) fn has_items(&self) -> bool {
        self.items.values().any(|item| item.opened && item.index.is_some())
    }

    /// The weight of a part in its turn.
    pub(super) fn weight(&self, part: &Part) -> Weight {
        match &part.delta.kind {
            DeltaKind::Opaque { .. } => Weight::Aside,
            // The tool name of an item that the provider runs.
            DeltaKind::Call(_) if self.is_opaque(part) => Weight::Aside,
            DeltaKind::Copy(copy) if copy.is_first && self.is_reasoning(part.delta.slot) => Weight::Thought,
            kind => Weight::of(kind),
        }
    }

    fn is_opaque(&self, part: &Part) -> bool {
        let item = part.item().and_then(|item| self.items.get(item));
        item.is_some_and(|item| item.role == Role::Unknown)
    }

    fn is_reasoning(&self, slot: Slot) -> bool {
        let Slot::At { item, part } = slot else { return false };
        part >= SUMMARY || self.items.get(item).is_some_and(|item| item.role == Role::Reasoning)
    }

    fn note_call(&mut self, item: u32, call: &CallDelta, part: &Part) {
        if !call.starts && self.items.get(item).is_some() {
            return;
        }
        if !call.starts {
            self.numbering.loosen();
        }
        let opened = self.open(item, Role::Call(call.flavor), part.key, part.fate != Fate::Dropped);
        if part.fate == Fate::Edited {
            opened.replaced = Some(Box::new(call.clone()));
        }
    }

    fn note_opaque(&mut self, item: u32, number: u32, key: Option<BlockKey>, leaves: bool) {
        match self.items.get_mut(item) {
            Some(known) if known.role == Role::Unknown && known.key == key => {}
            // An unknown event of a call.
            Some(known) if known.is_call() => {}
            Some(known) if known.has_parts() => known.open_part(number, leaves),
            _ => {
                self.open(item, Role::Unknown, key, leaves);
            }
        }
    }

    fn note_stop(&mut self, item: u32, number: u32, leaves: bool) -> Option<u32> {
        let known = self.items.get_mut(item)?;
        let is_whole = number == Slot::ITEM || !known.has_parts();
        known.open &= !(is_whole && leaves);
        is_whole.then_some(item)
    }

    /// Keeps an item that is known by copies alone, whose parts before this one were dropped.
    fn keep(&mut self, item: u32) {
        if let Some(known) = self.items.get_mut(item).filter(|item| !item.opened && item.index.is_none()) {
            known.index = self.numbering.open(item.into(), true);
        }
    }

    /// Opens an item, whatever item had the index before.
    fn open(&mut self, item: u32, role: Role, key: Option<BlockKey>, leaves: bool) -> &mut Item {
        let index = self.numbering.open(item.into(), leaves);
        self.items.insert(item, Item::new(role, key, index, true))
    }

    /// The item with this index. A new item opens on the wire, unless the part is a copy. What the client knows by its number alone may
    /// have any position: the rest of a stream may have been asked for.
    fn entry(&mut self, item: u32, role: Role, part: &Part, leaves: bool) -> &mut Item {
        let numbering = &mut self.numbering;
        self.items.or_insert_with(item, || {
            numbering.loosen();
            let index = numbering.open(item.into(), leaves);
            let opens = !matches!(part.delta.kind, DeltaKind::Copy(_));
            Item::new(role, part.key, index, opens)
        })
    }
}

/// The list that a part stands in, and its number there.
fn list(part: u32) -> (u32, u64) {
    (u32::from(part >= SUMMARY), u64::from(part % SUMMARY))
}

fn is_empty(copy: &Restated) -> bool {
    copy.name.is_none() && copy.body.as_deref().is_none_or(str::is_empty)
}

impl Item {
    fn new(role: Role, key: Option<BlockKey>, index: Option<u64>, opened: bool) -> Self {
        Self { role, key, index, opened, open: opened, parts: Few::default(), replaced: None, said: None }
    }

    /// Whether the item opened by an event of its own, rather than in a copy.
    pub(super) fn opened(&self) -> bool {
        self.opened
    }

    pub(super) fn replaced(&self) -> Option<&CallDelta> {
        self.replaced.as_deref()
    }

    /// The id that the item opened with, as JSON, if there was one; `None` where the opening is not known.
    pub(super) fn own_id(&self) -> Option<Option<&str>> {
        self.said.as_ref().map(|said| said.id())
    }

    pub(super) fn is_call(&self) -> bool {
        matches!(self.role, Role::Call(_))
    }

    /// Whether a part was written; `None` if the part is not known.
    pub(super) fn part_left(&self, part: u32) -> Option<bool> {
        let (list, number) = list(part);
        self.parts.get(list)?.left(number)
    }

    fn has_parts(&self) -> bool {
        self.role.has_parts()
    }

    fn open_part(&mut self, part: u32, leaves: bool) {
        let (list, number) = list(part);
        // The first delta of a part decides.
        if self.has_parts() && self.part_left(part).is_none() {
            self.parts.or_default(list).open(number, leaves);
        }
    }
}
