//! The order of items and parts: whether every client finds an event's item where this reader does (rule 28).
//!
//! The official SDKs append an item where it opens and take `output_index` as a position; others go by `output_index`,
//! others by `item_id`; helpers run what the last event lists. All of them read the same where items and parts open in the
//! order of their numbers, once, where an id belongs to one item, and where everything that is said again is of the
//! same kind.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::action::ToolAction;
use super::grammar::{self, Event};
use super::item::{self, SUMMARY, Told};
use super::kinds::{Act, EventType, ItemType, PartType, Role, Subject};
use crate::delta::{Slot, Text};
use crate::few::Few;
use crate::json;
use crate::wire::document::Value;
use crate::wire::memory::odd_name;
use crate::wire::{DecodeError, Odd};

/// The items of a response as they came.
#[derive(Debug, Default)]
pub(crate) struct ResponseOrder {
    /// Whether events have an `event` line. One provider writes none.
    named: Option<bool>,
    sequence: Option<u64>,
    ended: bool,
    /// How many items have opened: the index of the next one.
    count: u32,
    items: Few<KnownItem>,
    /// An item spoke that had not opened: those who append items as they open count one less from here on.
    unopened: bool,
    /// Whose id is whose. One provider gives every event of an item another one.
    ids: ItemIds,
}

/// The ids of items, and the items that have them: nearly always one at a time.
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
    /// The type, where it was said.
    kind: Option<Cow<'static, str>>,
    name: Option<Text>,
    /// The id that the item opened with.
    id: Option<Text>,
    /// What a call of the API's own tools asks for, as far as it has.
    action: Option<Box<ToolAction>>,
    /// Whether the item was said to be done.
    done: bool,
    /// The types of the parts, where they were said, by their numbers.
    parts: Few<Option<Cow<'static, str>>>,
}

impl ResponseOrder {
    /// Takes in an event. Answers why it is not plain.
    pub(super) fn see(
        &mut self,
        line: Option<&str>,
        kind: &str,
        event: &Event<'_>,
    ) -> Result<Option<Odd>, DecodeError> {
        // What comes after the end closes the stream, if it says anything.
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

    /// Takes note of a `sequence_number`.
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
                let Some(told) = event.get("item") else { return Ok(None) };
                if *act == Act::Added {
                    return self.added(told, event);
                }
                let index = self.speaks_of(event)?;
                self.restated(&Told::read(told, index)?)?;
                // Some clients put the strings of both together, others run a call whenever it is done.
                match std::mem::replace(&mut self.known(index).done, true) {
                    true => {
                        Err(DecodeError::ambiguous("an item that is done once", "one that is done again"))
                    }
                    false => Ok(None),
                }
            }
            _ if event.output_index.is_none() && event.get("item_id").is_none() => Ok(None),
            Some(known) => self.of_item(known, event),
            None => self.of_tool(name, event),
        }
    }

    /// An opening lists nothing but what has opened: some clients would put the items that open behind what it lists.
    fn opening(&mut self, response: Value<'_>) -> Result<(), DecodeError> {
        for told in item::listed(response)? {
            let told = told?;
            if self.items.get(told.index).is_none() {
                return Err(DecodeError::ambiguous("a response that opens without items", "one with items"));
            }
            self.restated(&told)?;
        }
        Ok(())
    }

    fn terminal(&mut self, response: Value<'_>) -> Result<(), DecodeError> {
        for told in item::listed(response)? {
            self.restated(&told?)?;
        }
        let is_owed = |known: &KnownItem| known.action.as_ref().is_some_and(|action| action.is_owed());
        match self.items.values().any(is_owed) {
            true => Err(DecodeError::ambiguous("the action that was written", "none")),
            false => Ok(()),
        }
    }

    fn added(&mut self, told: Value<'_>, event: &Event<'_>) -> Result<Option<Odd>, DecodeError> {
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
        let told = Told::read(told, index)?;
        let id = told.item_id().map(Text::from);
        self.claim(id.clone(), index)?;
        let mut known = KnownItem {
            kind: Some(ItemType::name(told.kind())),
            name: told.own_name(),
            id,
            action: told.action().map(ToolAction::opening),
            ..KnownItem::default()
        };
        told.each_part(|number, part| known.part(number, Some(&kind_of(part)?), true))?;
        self.items.insert(index, known);
        Ok(odd)
    }

    /// An event of an item that is open, or of one that never opened.
    fn of_item(&mut self, event_type: &EventType, event: &Event<'_>) -> Result<Option<Odd>, DecodeError> {
        let index = self.speaks_of(event)?;
        let known = self.known(index);
        // A copy of what is neither call nor text disagrees with it in the fold.
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
                // Those who go by ids would find the arguments of no call.
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

    /// An event of a tool of the API's own, or one that nobody knows.
    fn of_tool(&mut self, name: &str, event: &Event<'_>) -> Result<Option<Odd>, DecodeError> {
        let index = self.speaks_of(event)?;
        let known = self.known(index);
        if matches!(Role::of_event(name), Role::Call(_)) {
            if known.kind.as_deref().is_some_and(|kind| !name.starts_with(kind)) {
                return Err(other_type());
            }
            known.action.get_or_insert_default().writes(name, event)?;
        }
        Ok(None)
    }

    /// The item that an event speaks of by its index, and by its id.
    fn speaks_of(&mut self, event: &Event<'_>) -> Result<u32, DecodeError> {
        let Some(index) = event.output_index else { return Err(no_index()) };
        self.claim(grammar::id_text(event.get("item_id")), index)?;
        Ok(index)
    }

    /// What an item says again is of the kind, and has the name, that it had.
    fn restated(&mut self, told: &Told<'_>) -> Result<(), DecodeError> {
        self.claim(told.item_id(), told.index)?;
        let known = self.known(told.index);
        match &known.kind {
            Some(kind) if is_other(kind, told.kind()) => {
                return Err(DecodeError::ambiguous("an item of the type it had", "one of another type"));
            }
            Some(_) => {}
            None => known.kind = Some(ItemType::name(told.kind())),
        }
        if let (Some(name), Some(again)) = (&known.name, told.own_name())
            && **name != *again
            && Role::of(told.kind()) == Role::Server
        {
            return Err(DecodeError::ambiguous("an item of the name it had", "one of another name"));
        }
        if let (Some(known), Some(told)) = (&mut known.action, told.action()) {
            known.said(told)?;
        }
        known.name = known.name.take().or_else(|| told.own_name());
        told.each_part(|number, part| known.part(number, Some(&kind_of(part)?), false))
    }

    fn known(&mut self, index: u32) -> &mut KnownItem {
        let (count, unopened) = (&mut self.count, &mut self.unopened);
        self.items.or_insert_with(index, || {
            *count = count.saturating_add(1);
            *unopened = true;
            KnownItem::default()
        })
    }

    fn claim<I: AsRef<str> + Into<Text>>(&mut self, id: Option<I>, index: u32) -> Result<(), DecodeError> {
        let Some(id) = id else { return Ok(()) };
        match self.ids.owner(id.as_ref()) {
            Some(owner) if owner != index => {
                Err(DecodeError::ambiguous("one id for each item", "the id of another item"))
            }
            Some(_) => Ok(()),
            None => {
                self.ids.claim(id.into(), index);
                Ok(())
            }
        }
    }
}

impl KnownItem {
    /// A part goes on, or opens: in the order of its number, once, with one kind.
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

/// Whether an item is said again as another type. Where one of the two is a call, a text or neither, the fold finds that
/// the copy disagrees.
fn is_other(kind: &str, again: &str) -> bool {
    kind != again
        && match (Role::of(kind), Role::of(again)) {
            (Role::Call(_), Role::Call(_)) => true,
            (one, other) => one.has_parts() && other.has_parts(),
        }
}

/// The type of a part that stands in its item.
fn kind_of(part: Value<'_>) -> Result<Cow<'_, str>, DecodeError> {
    Ok(item::part_kind(part)?.unwrap_or(Cow::Borrowed("unknown")))
}

fn no_index() -> DecodeError {
    DecodeError::ambiguous("the `output_index` of an item", "none")
}

fn other_type() -> DecodeError {
    DecodeError::ambiguous("an event of the item's type", "one of another type")
}
