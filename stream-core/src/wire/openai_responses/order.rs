//! The order of items and parts: whether every client assigns an event to the item that this reader assigns it to (rule 28).
//!
//! The official SDKs append an item when it opens and take `output_index` as a position; others go by `output_index`,
//! others by `item_id`; their helpers run the calls that the last event lists. All of them read the same where items and parts
//! open once, in the order of their numbers, where an id belongs to one item, and where every copy has the type of its
//! original.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::action::ToolAction;
use super::grammar::{self, Event};
use super::item::{self, ItemReader, PartBody, SUMMARY};
use super::kinds::{Act, EventType, ItemType, PartType, Role, Subject};
use crate::delta::{Slot, Text};
use crate::few::Few;
use crate::json;
use crate::wire::document::Value;
use crate::wire::memory::odd_name;
use crate::wire::{DecodeError, Odd};

/// The items of an upstream response.
#[derive(Debug, Default)]
pub(crate) struct ResponseOrder {
    /// Whether events have an `event` line. One provider writes none.
    named: Option<bool>,
    sequence: Option<u64>,
    ended: bool,
    /// The number of items that have opened, which is the index of the next one.
    count: u32,
    items: Few<KnownItem>,
    /// An item had deltas without an opening: clients that append items when they open count one item less from here on.
    unopened: bool,
    /// The items by their ids. One provider gives every event of an item another id.
    ids: ItemIds,
}

/// The items by their ids. Most responses have one item, which needs no map.
#[derive(Debug, Default)]
struct ItemIds {
    first: Option<(Text, u32)>,
    more: BTreeMap<Text, u32>,
}

impl ItemIds {
    fn owner(&self, id: &str) -> Option<u32> {
        match &self.first {
            Some((first, owner)) if **first == *id => Some(*owner),
            _ => self.more.get(id).copied(),
        }
    }

    fn claim(&mut self, id: Text, owner: u32) {
        match self.first {
            None => self.first = Some((id, owner)),
            Some(_) => {
                self.more.insert(id, owner);
            }
        }
    }
}

#[derive(Debug, Default)]
struct KnownItem {
    /// The type, where it is known.
    kind: Option<Cow<'static, str>>,
    name: Option<Text>,
    /// The id that the item opened with.
    id: Option<Text>,
    /// The action of a call of the API's own tools, as far as it is known.
    action: Option<Box<ToolAction>>,
    /// Whether the item is done.
    done: bool,
    /// The types of the parts, where they are known, by the numbers of the parts.
    parts: Few<Option<Cow<'static, str>>>,
}

impl ResponseOrder {
    /// Records an event, and returns the reason why the event is not plain.
    pub(super) fn see(
        &mut self,
        line: Option<&str>,
        kind: &str,
        event: &Event<'_>,
    ) -> Result<Option<Odd>, DecodeError> {
        // The fold closes the stream on a delta after the end.
        if self.ended {
            return Ok(None);
        }
        let named = odd_name(&mut self.named, line, kind);
        let sequence = self.number(event.get("sequence_number"));
        let odd = match event.name() {
            Some(name) => self.response_event(name, event)?,
            None => None,
        };
        Ok(odd.or(sequence).or(named))
    }

    /// The highest `sequence_number` so far.
    pub(crate) fn count(&self) -> Option<u64> {
        self.sequence
    }

    /// Records a `sequence_number`.
    pub(crate) fn counted(&mut self, number: u64) {
        self.sequence = Some(self.sequence.map_or(number, |last| last.max(number)));
    }

    fn number(&mut self, number: Option<Value<'_>>) -> Option<Odd> {
        let Some(number) = json::count(number?.raw()) else { return Some(Odd::Number) };
        let grows = self.sequence.is_none_or(|last| number > last);
        self.counted(number);
        (!grows).then_some(Odd::Order)
    }

    fn response_event(&mut self, name: &str, event: &Event<'_>) -> Result<Option<Odd>, DecodeError> {
        match event.known {
            Some(EventType { act, subject: Subject::Response, .. }) => {
                self.ended = *act == Act::Ends;
                let Some(response) = event.get("response") else { return Ok(None) };
                if self.ended { self.terminal(response) } else { self.opening(response) }?;
                Ok(None)
            }
            Some(EventType { act, subject: Subject::Item, .. }) => {
                let Some(item) = event.get("item") else { return Ok(None) };
                if *act == Act::Added {
                    return self.added(item, event);
                }
                let index = self.speaks_of(event)?;
                self.restated(&ItemReader::read(item, index)?)?;
                // Some clients concatenate the strings of both copies, others run a call whenever it is done.
                match std::mem::replace(&mut self.known(index).done, true) {
                    true => {
                        Err(DecodeError::ambiguous("an item that is done once", "one that is done again"))
                    }
                    false => Ok(None),
                }
            }
            // Speech, and events that nobody knows, may be of no item.
            Some(EventType { subject: Subject::Speech, .. }) | None
                if event.output_index.is_none() && event.get("item_id").is_none() =>
            {
                Ok(None)
            }
            Some(known) => self.of_item(known, event),
            None => self.of_tool(name, event),
        }
    }

    /// Records an opening, which may list only open items: some clients would append items that open later behind those listed.
    fn opening(&mut self, response: Value<'_>) -> Result<(), DecodeError> {
        for item in item::listed(response)? {
            let item = item?;
            if self.items.get(item.index).is_none() {
                return Err(DecodeError::ambiguous("a response that opens without items", "one with items"));
            }
            self.restated(&item)?;
        }
        Ok(())
    }

    fn terminal(&mut self, response: Value<'_>) -> Result<(), DecodeError> {
        for item in item::listed(response)? {
            self.restated(&item?)?;
        }
        let is_owed = |known: &KnownItem| known.action.as_ref().is_some_and(|action| action.is_owed());
        match self.items.values().any(is_owed) {
            true => Err(DecodeError::ambiguous("the action that was written", "none")),
            false => Ok(()),
        }
    }

    fn added(&mut self, item: Value<'_>, event: &Event<'_>) -> Result<Option<Odd>, DecodeError> {
        let Some(index) = event.output_index else { return Err(no_index()) };
        if self.items.get(index).is_some() {
            return Err(DecodeError::ambiguous("an item that opens once", "one that opens again"));
        }
        if self.unopened {
            return Err(DecodeError::ambiguous(
                "items that open before they speak",
                "one that opens behind another",
            ));
        }
        let odd = (index != self.count).then_some(Odd::Order);
        self.count = self.count.saturating_add(1);
        let item = ItemReader::read(item, index)?;
        let id = item.item_id().map(Text::from);
        self.claim(id.clone(), index)?;
        let mut known = KnownItem {
            kind: Some(ItemType::name(item.kind())),
            name: item.own_name(),
            id,
            action: item.action().map(ToolAction::opening),
            ..KnownItem::default()
        };
        item.each_part(|number, part| known.part(number, Some(&kind_of(part)?), true))?;
        self.items.insert(index, known);
        Ok(odd)
    }

    /// Records an event of an item: open, or never opened where the rest of a stream is asked for.
    fn of_item(&mut self, event_type: &EventType, event: &Event<'_>) -> Result<Option<Odd>, DecodeError> {
        let index = self.speaks_of(event)?;
        if self.items.get(index).is_none()
            && let Some(part) = event.get("part")
            && matches!(item::part_body(part)?, PartBody::Opaque(..))
        {
            return Err(no_item());
        }
        let known = self.known(index);
        // The fold refuses a copy that differs from an opaque block.
        let is_copy = |kind: &str| {
            matches!(event_type.act, Act::Restates | Act::Done)
                && matches!(Role::of(kind), Role::Server | Role::Unknown)
        };
        if let Some(kind) = &known.kind
            && !event_type.items().contains(&&**kind)
            && !is_copy(kind)
        {
            return Err(other_type());
        }
        let kind = match event_type.subject {
            Subject::Call(_) => {
                // Clients that go by ids would assign the arguments to no call.
                let id = grammar::id_text(event.get("item_id"));
                let is_other = known.kind.is_some() && id.as_deref() != known.id.as_deref();
                return Ok(is_other.then_some(Odd::Identity));
            }
            Subject::Content(_, Some(kind)) => Some(Cow::Borrowed(kind)),
            Subject::Content(_, None) => event.get("part").map(item::part_kind).transpose()?.flatten(),
            Subject::Summary => match event.get("part") {
                Some(part) => item::part_kind(part)?,
                None => Some(Cow::Borrowed("summary_text")),
            },
            Subject::Response | Subject::Item | Subject::Speech => return Ok(None),
        };
        if let Slot::At { part, .. } = event_type.slot(event)? {
            let opens = event_type.act == Act::Added;
            known.part(part, kind.as_deref(), opens)?;
        }
        let has_number = event_type.index().is_some_and(|index| event.get(index).is_some());
        Ok((!has_number).then_some(Odd::Number))
    }

    /// Records an event of one of the API's own tools, or an unknown event.
    fn of_tool(&mut self, name: &str, event: &Event<'_>) -> Result<Option<Odd>, DecodeError> {
        let role = Role::of_event(name);
        if !matches!(role, Role::Call(_) | Role::Server) {
            return self.of_nothing(event);
        }
        let index = self.speaks_of(event)?;
        let Some(known) = self.items.get_mut(index) else { return Err(no_item()) };
        // Some clients assign the code or the arguments of a server's tool to the call at the same index.
        if known.kind.as_deref().is_some_and(|kind| !name.starts_with(kind)) {
            return Err(other_type());
        }
        if matches!(role, Role::Call(_)) {
            known.action.get_or_insert_default().writes(name, event)?;
        }
        Ok(None)
    }

    /// Records an unknown event, which opens no item: to all clients, its number and its id are free.
    fn of_nothing(&self, event: &Event<'_>) -> Result<Option<Odd>, DecodeError> {
        let Some(index) = event.output_index else { return Err(no_index()) };
        let owner = grammar::id_text(event.get("item_id")).and_then(|id| self.ids.owner(&id));
        if owner.is_some_and(|owner| owner != index) { Err(other_id()) } else { Ok(None) }
    }

    /// The item of an event, by its index; its id has to belong to the same item.
    fn speaks_of(&mut self, event: &Event<'_>) -> Result<u32, DecodeError> {
        let Some(index) = event.output_index else { return Err(no_index()) };
        self.claim(grammar::id_text(event.get("item_id")), index)?;
        Ok(index)
    }

    /// Records a copy of an item, which has to have the type and the name of the item.
    fn restated(&mut self, item: &ItemReader<'_>) -> Result<(), DecodeError> {
        self.claim(item.item_id(), item.index)?;
        let known = self.known(item.index);
        match &known.kind {
            Some(kind) if is_other(kind, item.kind()) => {
                return Err(DecodeError::ambiguous("an item of the type it had", "one of another type"));
            }
            Some(_) => {}
            None => known.kind = Some(ItemType::name(item.kind())),
        }
        if let (Some(name), Some(again)) = (&known.name, item.own_name())
            && **name != *again
            && Role::of(item.kind()) == Role::Server
        {
            return Err(DecodeError::ambiguous("an item of the name it had", "one of another name"));
        }
        if let (Some(known), Some(action)) = (&mut known.action, item.action()) {
            known.check(action)?;
        }
        known.name = known.name.take().or_else(|| item.own_name());
        item.each_part(|number, part| known.part(number, Some(&kind_of(part)?), false))
    }

    fn known(&mut self, index: u32) -> &mut KnownItem {
        let (count, unopened) = (&mut self.count, &mut self.unopened);
        self.items.or_insert_with(index, || {
            *count = count.saturating_add(1);
            *unopened = true;
            KnownItem::default()
        })
    }

    fn claim<I: AsRef<str>>(&mut self, id: Option<I>, index: u32) -> Result<(), DecodeError> {
        let Some(id) = id else { return Ok(()) };
        match self.ids.owner(id.as_ref()) {
            Some(owner) if owner != index => Err(other_id()),
            Some(_) => Ok(()),
            None => {
                let id = id.as_ref();
                let base = id.strip_suffix(OF_CALL).and_then(|base| self.ids.owner(base));
                let call = self.ids.owner(&format!("{id}{OF_CALL}"));
                if base.or(call).is_some_and(|owner| owner != index) {
                    return Err(DecodeError::ambiguous("ids of their own", "one that is made from another"));
                }
                self.ids.claim(id.into(), index);
                Ok(())
            }
        }
    }
}

impl KnownItem {
    /// Records a part that goes on, or opens: once, in the order of the numbers, with one type.
    fn part(&mut self, number: u32, kind: Option<&str>, opens: bool) -> Result<(), DecodeError> {
        let is_next = number.is_multiple_of(SUMMARY) || self.parts.get(number - 1).is_some();
        let kind = kind.map(PartType::name);
        match self.parts.get_mut(number) {
            Some(_) if opens => Err(DecodeError::ambiguous("a part that opens once", "one that opens again")),
            Some(Some(known)) if kind.as_ref().is_some_and(|kind| kind != known) => {
                Err(DecodeError::ambiguous("a part of the type it had", "one of another type"))
            }
            Some(Some(_)) => Ok(()),
            Some(known) => {
                *known = kind;
                Ok(())
            }
            None if is_next => {
                self.parts.insert(number, kind);
                Ok(())
            }
            None => Err(DecodeError::ambiguous("parts that open in order", "another order")),
        }
    }
}

/// Whether a copy of an item has another type. The fold itself refuses a call or a text for a block of another kind.
fn is_other(kind: &str, again: &str) -> bool {
    kind != again
        && match (Role::of(kind), Role::of(again)) {
            (Role::Call(_), Role::Call(_)) | (_, Role::Server | Role::Unknown) => true,
            (one, other) => one.has_parts() && other.has_parts(),
        }
}

/// What pydantic-ai puts behind the id of a server's tool to name its call.
const OF_CALL: &str = "-call";

/// The type of a part within its item.
fn kind_of(part: Value<'_>) -> Result<Cow<'_, str>, DecodeError> {
    Ok(item::part_kind(part)?.unwrap_or(Cow::Borrowed("unknown")))
}

fn no_item() -> DecodeError {
    DecodeError::ambiguous("an item before its events", "no item")
}

fn no_index() -> DecodeError {
    DecodeError::ambiguous("the `output_index` of an item", "none")
}

fn other_id() -> DecodeError {
    DecodeError::ambiguous("one id for each item", "the id of another item")
}

fn other_type() -> DecodeError {
    DecodeError::ambiguous("an event of the item's type", "one of another type")
}
