//! The order of items and parts: whether every client finds an event's item where this reader does (rule 28).
//!
//! The official SDKs append an item where it opens and take `output_index` as a position; others go by `output_index`,
//! others by `item_id`; helpers run what the last event lists. All of them read the same where items and parts open in the
//! order of their numbers, once, where an id belongs to one item, and where everything that is said again is of the
//! same kind.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::grammar::{self, Event};
use super::item::{self, Role, Told};
use crate::delta::Text;
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
    kind: Option<Text>,
    name: Option<Text>,
    /// The id and the action that a call opened with, as JSON.
    id: Option<Text>,
    action: Option<Text>,
    /// The commands of the item, or its diff, as events write them before the item says them.
    written: BTreeMap<usize, String>,
    written_bytes: usize,
    content: Vec<Option<Text>>,
    summary: Vec<Option<Text>>,
}

impl ResponseOrder {
    /// Takes in an event. Answers why it is not plain.
    pub(super) fn see(
        &mut self,
        line: Option<&str>,
        kind: &str,
        event: Event<'_>,
    ) -> Result<Option<Odd>, DecodeError> {
        // What comes after the end closes the stream, if it says anything.
        if self.ended {
            return Ok(None);
        }
        let named = odd_name(&mut self.named, line, kind);
        let sequence = self.number(event.get("sequence_number"));
        let odd = match kind.strip_prefix("response.") {
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

    fn response_event(&mut self, name: &str, event: Event<'_>) -> Result<Option<Odd>, DecodeError> {
        match name {
            "created" | "in_progress" | "queued" => self.opening(event.get("response")),
            "completed" | "incomplete" | "failed" => self.terminal(event.get("response")),
            "output_item.added" => self.added(event),
            "output_item.done" => {
                let Some(told) = event.get("item") else { return Ok(None) };
                let item = self.speaks_of(event)?;
                self.restated(item, &Told::read(told, item)?)?;
                Ok(None)
            }
            _ if event.output_index.is_none() && event.get("item_id").is_none() => Ok(None),
            _ => self.of_item(name, event),
        }
    }

    /// An opening lists nothing but what has opened: some clients would put the items that open behind what it lists.
    fn opening(&mut self, response: Option<Value<'_>>) -> Result<Option<Odd>, DecodeError> {
        let Some(response) = response else { return Ok(None) };
        for (at, told) in grammar::output(response)?.enumerate() {
            let item = item::part_number(at)?;
            if self.items.get(item).is_none() {
                return Err(DecodeError::ambiguous("a response that opens without items", "one with items"));
            }
            self.restated(item, &Told::read(told, item)?)?;
        }
        Ok(None)
    }

    fn terminal(&mut self, response: Option<Value<'_>>) -> Result<Option<Odd>, DecodeError> {
        self.ended = true;
        let Some(response) = response else { return Ok(None) };
        for (at, told) in grammar::output(response)?.enumerate() {
            let item = item::part_number(at)?;
            self.restated(item, &Told::read(told, item)?)?;
        }
        match self.items.values().any(|known| !known.written.is_empty()) {
            true => Err(DecodeError::ambiguous("the action that was written", "none")),
            false => Ok(None),
        }
    }

    fn added(&mut self, event: Event<'_>) -> Result<Option<Odd>, DecodeError> {
        let Some(told) = event.get("item") else { return Ok(None) };
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
        self.claim(told.item_id().as_deref(), index)?;
        let mut known = KnownItem {
            kind: Some(told.kind().into()),
            name: told.own_name(),
            id: told.item_id(),
            action: told.action().map(Into::into),
            ..KnownItem::default()
        };
        told.part_kinds(|is_summary, kind| known.open_part(is_summary, kind))?;
        self.items.insert(index, known);
        Ok(odd)
    }

    /// An event of an item that is open, or of one that never opened.
    fn of_item(&mut self, name: &str, event: Event<'_>) -> Result<Option<Odd>, DecodeError> {
        let index = self.speaks_of(event)?;
        let fits = fit(name);
        let known = self.known(index);
        // A copy of what is neither call nor text disagrees with it in the fold.
        let is_copy =
            |kind: &str| name.ends_with(".done") && matches!(Role::of(kind), Role::Server | Role::Unknown);
        if let (Some(kind), Some(fits)) = (&known.kind, fits.item)
            && !fits.contains(&&**kind)
            && !is_copy(kind)
        {
            return Err(DecodeError::ambiguous("an event of the item's type", "one of another type"));
        }
        if let (Some(kind), None) = (&known.kind, fits.item)
            && matches!(Role::of_event(name), Role::Call(..))
            && !name.starts_with(&**kind)
        {
            return Err(DecodeError::ambiguous("an event of the item's type", "one of another type"));
        }
        let Some(part) = fits.part else {
            if fits.item.is_none() && matches!(Role::of_event(name), Role::Call(..)) {
                known.writes(name, event)?;
            }
            // Those who go by ids would find the arguments of no call.
            let opened = known.kind.is_some() && fits.item.is_some();
            let other = opened && grammar::id_text(event.get("item_id")).as_deref() != known.id.as_deref();
            let is_call = other && matches!(Role::of_event(name), Role::Call(..));
            return Ok(is_call.then_some(Odd::Identity));
        };
        let (number, is_summary) = match part {
            "summary_text" => (event.summary_index, true),
            _ => (event.content_index, false),
        };
        let at = number.unwrap_or(0) as usize;
        let kind = match event.get("part").filter(|_| part == ANY_PART || part == "summary_text") {
            Some(part) => item::part_kind(part)?,
            None => Some(Cow::Borrowed(part)),
        };
        known.part(is_summary, at, kind.as_deref(), name.ends_with("part.added"))?;
        Ok(number.is_none().then_some(Odd::Number))
    }

    /// The item that an event speaks of by its index, and by its id.
    fn speaks_of(&mut self, event: Event<'_>) -> Result<u32, DecodeError> {
        let Some(index) = event.output_index else { return Err(no_index()) };
        let id = grammar::id_text(event.get("item_id"));
        self.claim(id.as_deref(), index)?;
        Ok(index)
    }

    /// What an item says again is of the kind, and has the name, that it had.
    fn restated(&mut self, index: u32, told: &Told<'_>) -> Result<(), DecodeError> {
        self.claim(told.item_id().as_deref(), index)?;
        let known = self.known(index);
        match &known.kind {
            Some(kind) if is_other(kind, told.kind()) => {
                return Err(DecodeError::ambiguous("an item of the type it had", "one of another type"));
            }
            Some(_) => {}
            None => known.kind = Some(told.kind().into()),
        }
        if let (Some(name), Some(again)) = (&known.name, told.own_name())
            && **name != *again
            && Role::of(told.kind()) == Role::Server
        {
            return Err(DecodeError::ambiguous("an item of the name it had", "one of another name"));
        }
        if let (Some(known), Some(told)) = (&known.action, told.action())
            && !begins(known, told)
        {
            return Err(DecodeError::ambiguous("the action that the item opened with", "another one"));
        }
        if let Some(action) = told.action() {
            known.wrote(action)?;
        }
        known.name = known.name.take().or_else(|| told.own_name());
        let (mut content, mut summary) = (0, 0);
        let mut result = Ok(());
        told.part_kinds(|is_summary, kind| {
            let at = if is_summary { &mut summary } else { &mut content };
            if result.is_ok() {
                result = known.part(is_summary, *at, Some(kind), false);
            }
            *at += 1;
        })?;
        result
    }

    fn known(&mut self, index: u32) -> &mut KnownItem {
        let (count, unopened) = (&mut self.count, &mut self.unopened);
        self.items.or_insert_with(index, || {
            *count = count.saturating_add(1);
            *unopened = true;
            KnownItem::default()
        })
    }

    fn claim(&mut self, id: Option<&str>, index: u32) -> Result<(), DecodeError> {
        let Some(id) = id else { return Ok(()) };
        match self.ids.owner(id) {
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
    fn list(&mut self, is_summary: bool) -> &mut Vec<Option<Text>> {
        if is_summary { &mut self.summary } else { &mut self.content }
    }

    fn open_part(&mut self, is_summary: bool, kind: &str) {
        let list = self.list(is_summary);
        list.reserve_exact(usize::from(list.is_empty()));
        list.push(Some(known_as(kind).into()));
    }

    /// A command or a diff is written: some clients show it, or run it, as it comes.
    fn writes(&mut self, name: &str, event: Event<'_>) -> Result<(), DecodeError> {
        let Some(said) =
            ["delta", "command", "diff"].iter().find_map(|field| grammar::string(event.get(field)))
        else {
            return Ok(());
        };
        let at = event.get("command_index").map_or(Some(0), |at| json::count(at.raw()));
        let Some(at) = at.and_then(|at| usize::try_from(at).ok()) else {
            return Err(DecodeError::ambiguous("a plain number of a command", "another one"));
        };
        if said.is_empty() {
            return Ok(());
        }
        self.written_bytes += said.len();
        if self.written_bytes > MOST_WRITTEN {
            return Err(DecodeError::new(
                format!("an action of at most {MOST_WRITTEN} bytes"),
                "a longer one",
            ));
        }
        let written = self.written.entry(at).or_default();
        if name.ends_with(".delta") || written.is_empty() {
            written.push_str(&said);
            return Ok(());
        }
        match *written == *said {
            true => Ok(()),
            false => Err(DecodeError::ambiguous("the command that was written", "another one")),
        }
    }

    /// The item says its action: it is what was written.
    fn wrote(&mut self, action: &str) -> Result<(), DecodeError> {
        let written = std::mem::take(&mut self.written);
        if written.is_empty() {
            return Ok(());
        }
        let action: Json = serde_json::from_str(action).unwrap_or_default();
        let says = |at: usize| match action.get("commands") {
            Some(commands) => commands.get(at),
            None => action.get("diff").filter(|_| at == 0),
        };
        match written.iter().all(|(at, text)| says(*at).and_then(Json::as_str) == Some(text)) {
            true => Ok(()),
            false => Err(DecodeError::ambiguous("the action that was written", "another one")),
        }
    }

    /// A part goes on, or opens: in the order of its number, once, with one kind.
    fn part(
        &mut self,
        is_summary: bool,
        at: usize,
        kind: Option<&str>,
        opens: bool,
    ) -> Result<(), DecodeError> {
        let kind = kind.map(known_as);
        let list = self.list(is_summary);
        let next = list.len();
        match list.get_mut(at) {
            Some(_) if opens => Err(DecodeError::ambiguous("a part that opens once", "one that opens again")),
            Some(Some(known)) if kind.is_some_and(|kind| kind != ANY_PART && *kind != **known) => {
                Err(DecodeError::ambiguous("a part of the type it had", "one of another type"))
            }
            Some(Some(_)) => Ok(()),
            Some(known) => {
                *known = kind.filter(|kind| *kind != ANY_PART).map(Into::into);
                Ok(())
            }
            None if at == next => {
                list.reserve_exact(usize::from(next == 0));
                list.push(kind.filter(|kind| *kind != ANY_PART).map(Into::into));
                Ok(())
            }
            None => Err(DecodeError::ambiguous("parts that open in order", "another order")),
        }
    }
}

/// What an event belongs to: the types of items, and the type of the part.
struct EventFit {
    item: Option<&'static [&'static str]>,
    part: Option<&'static str>,
}

fn fit(name: &str) -> EventFit {
    const PARTS: Option<&[&str]> = Some(&["message", "reasoning"]);
    let (item, part) = match name {
        "output_text.delta" | "output_text.done" => (Some(&["message"][..]), Some("output_text")),
        "output_text.annotation.added" | "output_text_annotation.added" => {
            (Some(&["message"][..]), Some("output_text"))
        }
        "refusal.delta" | "refusal.done" => (Some(&["message"][..]), Some("refusal")),
        "audio.transcript.delta" | "audio.transcript.done" => (Some(&["message"][..]), None),
        "reasoning_text.delta" | "reasoning_text.done" => (Some(&["reasoning"][..]), Some("reasoning_text")),
        "reasoning_summary_text.delta"
        | "reasoning_summary_text.done"
        | "reasoning_summary_part.added"
        | "reasoning_summary_part.done" => (Some(&["reasoning"][..]), Some("summary_text")),
        "content_part.added" | "content_part.done" => (PARTS, Some(ANY_PART)),
        "function_call_arguments.delta" | "function_call_arguments.done" => {
            (Some(&["function_call"][..]), None)
        }
        "custom_tool_call_input.delta" | "custom_tool_call_input.done" => {
            (Some(&["custom_tool_call"][..]), None)
        }
        _ => (None, None),
    };
    EventFit { item, part }
}

/// Whether an item is said again as another type. Where one of the two is a call, a text or neither, the fold finds that
/// the copy disagrees.
fn is_other(kind: &str, again: &str) -> bool {
    let has_parts = |role| matches!(role, Role::Message | Role::Reasoning);
    kind != again
        && match (Role::of(kind), Role::of(again)) {
            (Role::Call(..), Role::Call(..)) => true,
            (one, other) => has_parts(one) && has_parts(other),
        }
}

/// The type of a part, in its one spelling.
fn known_as(kind: &str) -> &str {
    if kind == "text" { "output_text" } else { kind }
}

/// Whether an action may become another one: what an item opens with lacks what is not there yet.
fn begins(action: &str, whole: &str) -> bool {
    let parse = |raw| serde_json::from_str::<Json>(raw).unwrap_or_default();
    is_start(&parse(action), &parse(whole))
}

fn is_start(start: &Json, whole: &Json) -> bool {
    match (start, whole) {
        (Json::Null, _) => true,
        (Json::String(start), Json::String(whole)) => whole.starts_with(start.as_str()),
        (Json::Array(start), Json::Array(whole)) => {
            start.len() <= whole.len() && start.iter().zip(whole).all(|(start, whole)| is_start(start, whole))
        }
        (Json::Object(start), Json::Object(whole)) => {
            start.iter().all(|(name, start)| is_start(start, whole.get(name).unwrap_or(&Json::Null)))
        }
        _ => start == whole,
    }
}

fn no_index() -> DecodeError {
    DecodeError::ambiguous("the `output_index` of an item", "none")
}

/// How much of an action is kept before the item says it, in bytes.
const MOST_WRITTEN: usize = 16 << 20;

/// A part whose type the event itself says.
const ANY_PART: &str = "*";
