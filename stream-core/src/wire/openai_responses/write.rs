//! Writing a stream: frames are written as their bytes, with other numbers, or anew.

use std::borrow::Cow;

use bytes::Bytes;

use super::insert::around;
use super::item::SUMMARY;
use super::items::Items;
use super::source::{self, Source};
use super::{rebuild, templates};
use crate::delta::{Channel, DeltaKind};
use crate::json;
use crate::sse::Frame;
use crate::wire::document::Spans;
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
    /// The response of the last opening event.
    pub(super) response: Option<Box<str>>,
    /// The items that were written whole.
    pub(super) listed: Vec<ListedItem>,
    /// Insertions that wait for the end of the opening events.
    pub(super) waiting: Vec<DeltaKind>,
    /// The number of inserted items.
    pub(super) made: u32,
    /// A part was not kept: from here on numbers and copies may have to change.
    pub(super) touched: bool,
    /// Whether names stand behind the data in all events of the stream.
    pub(super) late_names: Option<bool>,
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
        let late = if self.state.normalise { self.late_arguments(parts, &data) } else { Vec::new() };
        if !late.is_empty() {
            self.touched = true;
            self.state.mark(Some(Odd::Order));
        }
        if self.touched {
            return self.write_touched(frame, &data, parts, late, out);
        }
        let completes = self.note(parts, &data);
        self.state.sink.raw(frame, out);
        self.numbering.pass(source::sequence_number(&data));
        if completes.is_some() {
            self.list(completes, std::str::from_utf8(&data).unwrap_or_default());
        }
    }

    fn open(&mut self, out: &mut Vec<Bytes>) {
        if !self.state.sink.has_events() {
            let opening = rebuild::response(&self.opening(), &[("output", "[]".to_owned())]);
            self.emit(templates::created(&opening), out);
        }
    }

    fn refuse(&mut self, _choices: &[u32], message: &str, out: &mut Vec<Bytes>) {
        self.close_items(out);
        // The event that follows has no field for the message.
        self.insert_one(&refusal(message), out);
        let response = self.incomplete();
        self.emit(templates::incomplete(&response), out);
    }

    fn emit(&mut self, event: MadeEvent, out: &mut Vec<Bytes>) {
        let data = match self.numbering.take() {
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

/// An item that was written whole, as it stands in `output`.
#[derive(Debug)]
pub(super) struct ListedItem {
    /// The index on the wire.
    pub(super) index: u64,
    pub(super) document: Box<str>,
    /// The item was inserted: the upstream does not list it.
    pub(super) is_made: bool,
}

impl ListedItem {
    pub(super) fn made(index: u64, document: String) -> Self {
        Self { index, document: document.into(), is_made: true }
    }
}

/// The message of an ending, as a refusal of the model.
pub(super) fn refusal(message: &str) -> DeltaKind {
    DeltaKind::Text { channel: Channel::Refusal, text: message.into() }
}

impl ResponsesWriter {
    /// Records the parts of an event, and returns the item that the event completes.
    fn note(&mut self, parts: &[Part], data: &Bytes) -> Option<u32> {
        let own = || parts.iter().filter(|part| part.came());
        let leaves = own().any(|part| part.fate != Fate::Dropped);
        let mut completes = None;
        for part in own() {
            completes = self.book(part).or(completes);
            if leaves {
                self.items.note_open(part, data);
            }
            if part.delta.kind == DeltaKind::Opening {
                let json = std::str::from_utf8(data).unwrap_or_default();
                self.response = json::member(json, "response").map(Into::into);
            }
        }
        self.state.remember_usage(data, parts);
        completes
    }

    /// Records a part, and returns the item that the part completes.
    pub(super) fn book(&mut self, part: &Part) -> Option<u32> {
        // The terminal delta finishes the turn, after the notice.
        if !matches!(part.delta.kind, DeltaKind::Finish(_)) {
            self.state.turns.note(part, part.fate, self.items.weight(part));
        }
        self.items.note(part, self.state.turns.turn(CHOICE))
    }

    /// Keeps an item that an event completes on the wire: an ending lists the item.
    fn list(&mut self, completes: Option<u32>, json: &str) {
        let index = completes.and_then(|item| self.items.index(item));
        if let (Some(index), Some(item)) = (index, index.and_then(|_| json::member(json, "item"))) {
            self.listed.push(ListedItem { index, document: item.into(), is_made: false });
        }
    }

    /// Writes a frame once a part was touched, in this frame or before it.
    fn write_touched(
        &mut self,
        frame: &Frame,
        data: &Bytes,
        parts: &[Part],
        late: Vec<MadeEvent>,
        out: &mut Vec<Bytes>,
    ) {
        let json = String::from_utf8_lossy(data);
        let own: Vec<&Part> = parts.iter().filter(|part| part.came()).collect();
        let mut spans = Spans::default();
        let source = Source::read(frame, &json, &own, &mut spans);
        self.numbering.enter(source.number("sequence_number"));
        let (before, after) = around(parts);
        // An insertion before an item takes an index before the item does.
        self.insert_before(parts, before, out);
        let completes = self.note(parts, data);
        if let Some(notice) = self.due_notice(parts) {
            self.insert_one(&notice, out);
        }
        for event in late {
            self.emit(event, out);
        }
        if let Some(written) = self.write_own(&source, out) {
            self.list(completes, &written);
        }
        self.insert(after, out);
    }

    /// Writes what is left of the upstream's event, and returns its data.
    fn write_own<'a>(&mut self, source: &Source<'a>, out: &mut Vec<Bytes>) -> Option<Cow<'a, str>> {
        if !source.parts.is_empty() && source.all(Fate::Dropped) {
            return None;
        }
        // A terminal event ends the stream, whatever its other parts are.
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
            Some(item) if !source.all(Fate::Kept) => {
                self.rebuild_item_event(item, source, out).map(Cow::Owned)
            }
            _ => Some(self.patch(source, out)),
        }
    }

    /// Writes the upstream's event, with new numbers where they differ.
    pub(super) fn patch<'a>(&mut self, source: &Source<'a>, out: &mut Vec<Bytes>) -> Cow<'a, str> {
        let new = self.new_numbers(source);
        // The dropped part may be one of the lines that belong to no event.
        let leaves_whole = source.all(Fate::Kept) || !source.frame.is_stray();
        if new.is_empty() && leaves_whole {
            self.state.sink.raw(source.frame, out);
            return Cow::Borrowed(source.json);
        }
        let json = source.with(&new);
        self.state.sink.event(source.frame.event(), &json, out);
        Cow::Owned(json)
    }

    /// The numbers of an event that differ on the wire.
    pub(super) fn new_numbers(&mut self, source: &Source<'_>) -> Vec<(&'static str, String)> {
        let mut new = Vec::new();
        let mut differ = |name, old: u64, now: u64| {
            if old != now {
                new.push((name, now.to_string()));
            }
        };
        if let Some(item) = source.small_number("output_index") {
            differ("output_index", item.into(), self.items.index(item).unwrap_or(item.into()));
            for (name, base) in [("content_index", 0), ("summary_index", SUMMARY)] {
                if let Some(part) = source.small_number(name).filter(|part| *part < SUMMARY) {
                    differ(name, part.into(), self.items.part_number(item, part + base));
                }
            }
        }
        if let Some(old) = source.number("sequence_number")
            && let Some(now) = self.numbering.take()
        {
            differ("sequence_number", old, now);
        }
        new
    }
}

/// The choice of every item: a response has only one.
pub(super) const CHOICE: u32 = 0;
