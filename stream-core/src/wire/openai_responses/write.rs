//! Writing a stream: which frames leave as they came, which with other numbers, which anew.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;

use super::insert::around;
use super::item::SUMMARY;
use super::items::Items;
use super::made::{self, Event};
use super::normal;
use super::open::Open;
use super::sequence::{EventNumbers, Sequence};
use crate::delta::{CallFlavor, DeltaKind};
use crate::json;
use crate::sse::Frame;
use crate::wire::sink::{self, Sink};
use crate::wire::turn::TurnLedger;
use crate::wire::{self, Ending, Fate, Odd, Outgoing, Part, Writer, WriterOptions};

/// Writes one response.
#[derive(Debug, Default)]
pub(super) struct ResponsesWriter {
    pub(super) turns: TurnLedger,
    pub(super) items: Items,
    pub(super) sequence: Sequence,
    pub(super) sink: Sink,
    pub(super) open: Open,
    /// The data of the last opening event.
    pub(super) opening: Option<Bytes>,
    /// The usage of a terminal event that did not leave.
    pub(super) usage: Option<String>,
    /// The `output_item.done` events that left, by the index they left with.
    pub(super) done: Vec<(u64, Bytes)>,
    /// The items made here, as they stand in `output`, by their index.
    pub(super) inserted: Vec<(u64, String)>,
    /// Inserted beside the opening events, before which and between which there is no place.
    pub(super) waiting: Vec<DeltaKind>,
    /// How many items were made here.
    pub(super) made: u32,
    /// Something was not kept: from here on numbers and copies may have to change.
    pub(super) touched: bool,
    /// Frames that are not plain are written anew (rule 28).
    pub(super) normalise: bool,
    /// Why the last frame was written anew, and whether every part of it was kept.
    pub(super) odd: Option<Odd>,
    pub(super) untouched: bool,
    /// Names stand behind the data in all events of the stream.
    late_names: Option<bool>,
    /// Events that go before the frame that is written.
    late: Vec<Event>,
    /// The ids that calls opened with, by their items.
    ids: HashMap<u32, Option<String>>,
}

impl ResponsesWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self {
            turns: TurnLedger::new(options),
            items: Items::new(options.normalise),
            sequence: Sequence::new(options.normalise),
            normalise: options.normalise,
            ..Self::default()
        }
    }

    /// An event of a call with the id that the call opened with.
    fn with_own_id<'a>(&self, json: Cow<'a, str>, parts: &[Part]) -> Cow<'a, str> {
        let Some(id) = parts.iter().find_map(Part::item).and_then(|item| self.ids.get(&item)) else {
            return json;
        };
        let own = json::member(&json, "item_id");
        let is_of_call = own.is_some() || json::member(&json, "output_index").is_some();
        if !is_of_call || json::member(&json, "item").is_some() || own == id.as_deref() {
            return json;
        }
        let id = id.as_deref();
        let event =
            json::map(&json, |name, raw| if name == "item_id" { id } else { Some(raw) }.map(Cow::Borrowed));
        Cow::Owned(event.maybe("item_id", id.filter(|_| own.is_none())).finish())
    }

    /// Remembers the id that a call opens with, as JSON.
    fn remember_id(&mut self, parts: &[Part], data: &Bytes) {
        for part in parts {
            let (DeltaKind::Call(call), Some(item)) = (&part.delta.kind, part.item()) else {
                continue;
            };
            if call.starts {
                let json = std::str::from_utf8(data).unwrap_or_default();
                let id = json::find(json, &["item", "id"]);
                self.ids.insert(item, id.map(str::to_owned));
            }
        }
    }

    /// The arguments of calls that are open on the wire and that say their arguments only now, in a copy of the whole item:
    /// as deltas, for those who read no copies (rule 28).
    fn late_arguments(&self, parts: &[Part], data: &Bytes) -> Vec<Event> {
        let mut late = Vec::new();
        for part in parts.iter().filter(|part| part.fate == Fate::Kept) {
            let (DeltaKind::Copy(copy), Some(item)) = (&part.delta.kind, part.item()) else {
                continue;
            };
            let is_open = self.items.item(item).is_some_and(|item| item.opened() && item.is_call());
            let (Some(body), Some(index)) = (&copy.body, self.items.index(item)) else { continue };
            if !copy.is_first || !is_open || copy.flavor == CallFlavor::Builtin {
                continue;
            }
            let json = std::str::from_utf8(data).unwrap_or_default();
            let listed = || {
                let items = json::items(json::find(json, &["response", "output"])?)?;
                json::member(items.get(item as usize)?, "id")
            };
            // The event of the arguments alone is read like a delta.
            let Some(id) = json::find(json, &["item", "id"]).or_else(listed) else { continue };
            let id = json::unquote(id).unwrap_or_default();
            late.push(made::arguments(&id, index, copy.flavor, body));
        }
        late
    }

    /// The event of a frame that is not plain, alone and with nothing but what belongs to it; `None` where there is none.
    fn normal(&mut self, frame: &Frame, parts: &mut Vec<Part>) -> Option<Frame> {
        wire::without_stray(frame, parts);
        let data = frame.data().or_else(|| frame.lenient_data())?;
        let (name, json) = normal::event(frame.event(), std::str::from_utf8(&data).ok()?);
        let json = self.with_own_id(json, parts);
        sink::frame(name.as_deref().filter(|_| self.sink.is_named_or(frame)), &json)
    }
}

impl Writer for ResponsesWriter {
    fn frame(&mut self, mut outgoing: Outgoing, out: &mut Vec<Bytes>) {
        self.untouched = outgoing.is_untouched();
        let late_names = &mut self.late_names;
        let late_name = outgoing.frame.as_ref().is_some_and(|frame| normal::has_late_name(frame, late_names));
        let odd = outgoing.frame.as_ref().and_then(Frame::odd).filter(|_| self.normalise);
        self.odd = odd.filter(|odd| *odd != Odd::Lines || !late_name);
        if self.odd.is_some()
            && let Some(frame) = outgoing.frame.take()
        {
            // From here on numbers may differ from the upstream's.
            self.touched = true;
            outgoing.frame = self.normal(&frame, &mut outgoing.parts);
        }
        let parts = &outgoing.parts;
        let Some(frame) = &outgoing.frame else {
            self.insert_alone(parts, out);
            return;
        };
        let Some(data) = frame.data().or_else(|| frame.lenient_data()) else {
            if outgoing.is_untouched() || parts.iter().any(|part| part.fate == Fate::Kept) {
                self.sink.raw(frame, out);
            }
            self.insert_alone(parts, out);
            return;
        };
        self.sink.learn(frame, Some(&data));
        self.touched |= !outgoing.is_untouched();
        if self.normalise {
            self.remember_id(parts, &data);
        }
        let late = if self.normalise { self.late_arguments(parts, &data) } else { Vec::new() };
        if !late.is_empty() {
            self.touched = true;
            self.odd = self.odd.or(Some(Odd::Order));
            self.late = late;
        }
        if self.touched {
            self.write_touched(frame, &data, parts, out);
            return;
        }
        let completes = self.note(parts, &data);
        self.sink.raw(frame, out);
        if let Some(index) = completes.and_then(|item| self.items.index(item)) {
            self.done.push((index, data.clone()));
        }
        self.sequence.pass(data);
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        if self.turns.end() {
            self.write_ending(ending, out);
        }
    }

    fn keep_alive(&self) -> Bytes {
        Bytes::from_static(b": keep-alive\n\n")
    }

    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes {
        self.turns.end();
        self.whole_body(&body, ending)
    }

    fn ended(&self) -> bool {
        self.turns.has_ended()
    }

    fn is_plain(&self) -> bool {
        !self.touched && !self.turns.has_ended() && self.waiting.is_empty() && self.sink.is_at_border()
    }

    fn normalised(&mut self) -> Option<Odd> {
        self.odd.take().filter(|_| self.untouched)
    }
}

/// An event of the upstream's with the fates of its parts.
#[derive(Debug)]
pub(super) struct Source<'a> {
    pub(super) frame: &'a Frame,
    pub(super) json: &'a str,
    pub(super) numbers: EventNumbers,
    pub(super) parts: &'a [&'a Part],
}

impl Source<'_> {
    pub(super) fn has(&self, kind: &DeltaKind) -> bool {
        self.parts.iter().any(|part| part.delta.kind == *kind)
    }

    fn all(&self, fate: Fate) -> bool {
        self.parts.iter().all(|part| part.fate == fate)
    }

    /// The item it speaks of.
    fn item(&self) -> Option<u32> {
        self.parts.iter().find_map(|part| part.item())
    }
}

impl ResponsesWriter {
    /// Books the parts of an event. Answers with the item that it completes.
    fn note(&mut self, parts: &[Part], data: &Bytes) -> Option<u32> {
        let mut completes = None;
        for part in parts.iter().filter(|part| part.came()) {
            completes = self.book(part).or(completes);
            self.note_stream(part, data);
        }
        self.open.note(parts, data);
        completes
    }

    /// Books a part. Answers with the item that it completes.
    pub(super) fn book(&mut self, part: &Part) -> Option<u32> {
        // The terminal event finishes the turn, behind the notice.
        if !matches!(part.delta.kind, DeltaKind::Finish(_)) {
            self.turns.note(part, part.fate, self.items.weight(part));
        }
        self.items.note(part, self.turns.turn(CHOICE))
    }

    /// What a part means for the stream as a whole.
    fn note_stream(&mut self, part: &Part, data: &Bytes) {
        match part.delta.kind {
            DeltaKind::Opening => self.opening = Some(data.clone()),
            DeltaKind::Terminal if part.fate == Fate::Dropped => {
                let json = String::from_utf8_lossy(data);
                self.usage = json::find(&json, &["response", "usage"]).map(str::to_owned);
            }
            _ => {}
        }
    }

    /// Writes a frame after something was touched, in it or before it.
    fn write_touched(&mut self, frame: &Frame, data: &Bytes, parts: &[Part], out: &mut Vec<Bytes>) {
        let json = String::from_utf8_lossy(data);
        let numbers = EventNumbers::read(json.as_bytes());
        self.sequence.enter(numbers.sequence_number);
        let (before, after) = around(parts);
        // What comes before an item takes its index: it has to be there when the item is booked.
        self.insert_before(parts, before, out);
        let completes = self.note(parts, data);
        self.insert_notice(parts, out);
        for event in std::mem::take(&mut self.late) {
            self.make(event, out);
        }
        let own: Vec<&Part> = parts.iter().filter(|part| part.came()).collect();
        let source = Source { frame, json: &json, numbers, parts: &own };
        let written = self.write_own(&source, out);
        let index = completes.and_then(|item| self.items.index(item));
        self.done.extend(index.zip(written));
        self.insert(after, out);
        self.sequence.leave();
    }

    /// Writes what is left of the upstream's event; answers with its data.
    fn write_own(&mut self, source: &Source<'_>, out: &mut Vec<Bytes>) -> Option<Bytes> {
        if !source.parts.is_empty() && source.all(Fate::Dropped) {
            return None;
        }
        // Whatever else is in it, a terminal event ends the stream.
        let ends = |part: &&&Part| part.delta.kind == DeltaKind::Terminal;
        if source.parts.iter().find(ends).is_some_and(|part| part.fate == Fate::Dropped) {
            return None;
        }
        if source.has(&DeltaKind::Opening) || source.has(&DeltaKind::Terminal) {
            return Some(self.rebuild_response(source, out));
        }
        self.revive(source, out);
        let item = source.item();
        if item.is_some_and(|item| self.items.index(item).is_none()) {
            return None;
        }
        match item {
            Some(item) if !source.all(Fate::Kept) => self.rebuild_item_event(item, source, out),
            _ => Some(self.patch(source, out)),
        }
    }

    /// The upstream's event, but for numbers that have changed.
    pub(super) fn patch(&mut self, source: &Source<'_>, out: &mut Vec<Bytes>) -> Bytes {
        let new = self.new_numbers(&source.numbers);
        // Lines that belong to no event are a part of their own, and may be what was dropped.
        let leaves_whole = source.all(Fate::Kept) || !source.frame.is_stray();
        if new.is_empty() && leaves_whole {
            self.sink.raw(source.frame, out);
            return Bytes::copy_from_slice(source.json.as_bytes());
        }
        let new: Vec<(&str, &str)> = new.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let json = json::set(source.json, &new);
        self.sink.event(source.frame.event(), &json, out);
        Bytes::from(json)
    }

    /// Writes an event made here.
    pub(super) fn make(&mut self, (kind, event): Event, out: &mut Vec<Bytes>) {
        let event = match self.sequence.take() {
            Some(number) => event.number("sequence_number", number),
            None => event,
        };
        self.sink.event(Some(kind).filter(|_| self.sink.is_named()), &event.finish(), out);
    }

    /// Those of an event's numbers that differ on the wire.
    pub(super) fn new_numbers(&mut self, old: &EventNumbers) -> Vec<(&'static str, String)> {
        let sequence_number = old.sequence_number.and_then(|_| self.sequence.take());
        let mut new = Vec::new();
        let mut differ = |name, old: u64, now: u64| {
            if old != now {
                new.push((name, now.to_string()));
            }
        };
        if let Some(item) = old.output_index {
            differ("output_index", item.into(), self.items.index(item).unwrap_or(item.into()));
            if let Some(part) = old.content_index.filter(|part| *part < SUMMARY) {
                differ("content_index", part.into(), self.items.part_number(item, part));
            }
            if let Some(part) = old.summary_index.filter(|part| *part < SUMMARY) {
                differ("summary_index", part.into(), self.items.part_number(item, part + SUMMARY));
            }
        }
        if let (Some(number), Some(now)) = (old.sequence_number, sequence_number) {
            differ("sequence_number", number, now);
        }
        new
    }
}

/// The choice of every item: a response has only one.
pub(super) const CHOICE: u32 = 0;
