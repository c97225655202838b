//! Writing a stream: which frames leave as they came, which with other numbers, which anew.

use std::sync::LazyLock;

use bytes::Bytes;
use memchr::memmem::Finder;

use super::ending::Open;
use super::insert::around;
use super::item::SUMMARY;
use super::items::Items;
use super::{rebuild, templates};
use crate::delta::{Channel, DeltaKind};
use crate::few::Few;
use crate::json;
use crate::sse::Frame;
use crate::wire::document::{Of, Spans, Table};
use crate::wire::numbering::EventNumbering;
use crate::wire::sink::Sink;
use crate::wire::template::MadeEvent;
use crate::wire::turn::RefusalRule;
use crate::wire::writer::{self, Grammar, WireState};
use crate::wire::{Fate, Odd, Outgoing, Part, WriterOptions};

/// Writes one response.
#[derive(Debug, Default)]
pub(super) struct ResponsesWriter {
    pub(super) state: WireState,
    pub(super) items: Items,
    numbering: EventNumbering,
    /// The last numbered event that left as it came: its number is read when it is asked for.
    unread: Option<Bytes>,
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
    /// Names stand behind the data in all events of the stream.
    pub(super) late_names: Option<bool>,
    /// Events that go before the frame that is written.
    late: Vec<MadeEvent>,
    /// The ids that calls opened with, by their items.
    pub(super) ids: Few<Option<String>>,
}

impl ResponsesWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self {
            state: WireState::new(options, Sink::default()),
            items: Items::new(options.normalise),
            numbering: EventNumbering::new(options.normalise),
            ..Self::default()
        }
    }

    /// An event left as it came.
    fn pass(&mut self, data: Bytes) {
        // What is looked for is prepared once: that costs more than to look for it.
        static WORD: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"\"sequence_number\""));
        match WORD.find(&data) {
            Some(_) => self.unread = Some(data),
            None => self.numbering.pass(None),
        }
    }

    /// The numbers of events, up to the last that left.
    fn numbering(&mut self) -> &mut EventNumbering {
        if let Some(data) = self.unread.take() {
            self.numbering.pass(numbers(&data)[0]);
        }
        &mut self.numbering
    }
}

impl Grammar for ResponsesWriter {
    type Own = ();

    const REFUSAL: RefusalRule = RefusalRule::Together;

    fn state(&self) -> &WireState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut WireState {
        &mut self.state
    }

    fn frame(&mut self, mut outgoing: Outgoing, out: &mut Vec<Bytes>) {
        if let Some(frame) = outgoing.frame.take() {
            outgoing.frame = self.normal(frame, &mut outgoing.parts);
        }
        let parts = &outgoing.parts;
        let Some(frame) = &outgoing.frame else { return self.insert_alone(parts, out) };
        let Some(data) = writer::data(frame) else {
            if outgoing.is_untouched() || parts.iter().any(|part| part.fate == Fate::Kept) {
                self.state.sink.raw(frame, out);
            }
            return self.insert_alone(parts, out);
        };
        self.state.sink.learn(frame, Some(&data));
        self.touched |= !outgoing.is_untouched();
        if self.state.normalise {
            self.remember_id(parts, &data);
            self.late = self.late_arguments(parts, &data);
        }
        if !self.late.is_empty() {
            self.touched = true;
            self.state.mark(Some(Odd::Order));
        }
        if self.touched {
            return self.write_touched(frame, &data, parts, out);
        }
        let completes = self.note(parts, &data);
        self.state.sink.raw(frame, out);
        if let Some(index) = completes.and_then(|item| self.items.index(item)) {
            self.done.push((index, data.clone()));
        }
        self.pass(data);
    }

    fn open(&mut self, out: &mut Vec<Bytes>) {
        if !self.state.sink.has_events() {
            let opening = rebuild::response(&self.response(), &[("output", "[]".to_owned())]);
            self.emit(templates::created(&opening), out);
        }
    }

    fn refuse(&mut self, _choices: &[u32], message: &str, out: &mut Vec<Bytes>) {
        self.close_items(out);
        // The event that follows has no place for a sentence.
        self.insert_one(&refusal(message), out);
        self.emit(templates::incomplete(&self.incomplete()), out);
    }

    fn emit(&mut self, event: MadeEvent, out: &mut Vec<Bytes>) {
        let data = match self.numbering().take() {
            Some(number) => event.data.number("sequence_number", number),
            None => event.data,
        };
        let sink = &mut self.state.sink;
        sink.event(event.name.filter(|_| sink.is_named()), &data.finish(), out);
    }

    fn is_idle(&self) -> bool {
        !self.touched && self.waiting.is_empty()
    }
}

/// What an ending says, as a refusal in the model's place.
pub(super) fn refusal(message: &str) -> DeltaKind {
    DeltaKind::Text { channel: Channel::Refusal, text: message.into() }
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
            self.state.turns.note(part, part.fate, self.items.weight(part));
        }
        self.items.note(part, self.state.turns.turn(CHOICE))
    }

    /// What a part means for the stream as a whole.
    fn note_stream(&mut self, part: &Part, data: &Bytes) {
        match part.delta.kind {
            // All of what was read at once would be kept with it.
            DeltaKind::Opening => self.opening = Some(Bytes::copy_from_slice(data)),
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
        let numbers = numbers(json.as_bytes());
        self.numbering().enter(numbers[0]);
        let (before, after) = around(parts);
        // What comes before an item takes its index: it has to be there when the item is booked.
        self.insert_before(parts, before, out);
        let completes = self.note(parts, data);
        if let Some(notice) = self.due_notice(parts) {
            self.insert_one(&notice, out);
        }
        for event in std::mem::take(&mut self.late) {
            self.emit(event, out);
        }
        let own: Vec<&Part> = parts.iter().filter(|part| part.came()).collect();
        let source = Source { frame, json: &json, numbers, parts: &own };
        let written = self.write_own(&source, out);
        let index = completes.and_then(|item| self.items.index(item));
        self.done.extend(index.zip(written));
        self.insert(after, out);
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
        let new = self.new_numbers(source.numbers);
        // Lines that belong to no event are a part of their own, and may be what was dropped.
        let leaves_whole = source.all(Fate::Kept) || !source.frame.is_stray();
        if new.is_empty() && leaves_whole {
            self.state.sink.raw(source.frame, out);
            return Bytes::copy_from_slice(source.json.as_bytes());
        }
        let new: Vec<(&str, &str)> = new.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let json = json::set(source.json, &new);
        self.state.sink.event(source.frame.event(), &json, out);
        Bytes::from(json)
    }

    /// Those of an event's numbers that differ on the wire.
    pub(super) fn new_numbers(&mut self, old: EventNumbers) -> Vec<(&'static str, String)> {
        let [sequence_number, item, content, summary] = old;
        let sequence = sequence_number.and_then(|old| Some((old, self.numbering().take()?)));
        let mut new = Vec::new();
        let mut differ = |name, old: u64, now: u64| {
            if old != now {
                new.push((name, now.to_string()));
            }
        };
        if let Some(item) = item.and_then(|item| u32::try_from(item).ok()) {
            differ("output_index", item.into(), self.items.index(item).unwrap_or(item.into()));
            for (name, part, base) in [("content_index", content, 0), ("summary_index", summary, SUMMARY)] {
                let part = part.and_then(|part| u32::try_from(part).ok()).filter(|part| *part < SUMMARY);
                part.into_iter()
                    .for_each(|part| differ(name, part.into(), self.items.part_number(item, part + base)));
            }
        }
        if let Some((old, now)) = sequence {
            differ("sequence_number", old, now);
        }
        new
    }
}

/// The choice of every item: a response has only one.
pub(super) const CHOICE: u32 = 0;

/// The numbers of an event: its own, that of its item, and those of its part in the content or the summary of the item.
pub(super) type EventNumbers = [Option<u64>; 4];

/// Reads what is a number. Data that is no event has none.
fn numbers(data: &[u8]) -> EventNumbers {
    let mut spans = Spans::default();
    let text = std::str::from_utf8(data).unwrap_or_default();
    let Ok(event) = spans.read(text, Of::Object(&NUMBERS)) else { return [None; 4] };
    let number = |name: &str| event.get(name).and_then(|raw| raw.raw().parse().ok());
    ["sequence_number", "output_index", "content_index", "summary_index"].map(number)
}

static NUMBERS: Table = Table::loose(&[
    ("sequence_number", Of::Leaf),
    ("output_index", Of::Leaf),
    ("content_index", Of::Leaf),
    ("summary_index", Of::Leaf),
]);
