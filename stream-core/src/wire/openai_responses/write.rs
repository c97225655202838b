//! Writing a stream: which frames leave as they came, which with other numbers, which anew.

use std::borrow::Cow;
use std::collections::HashMap;

use bytes::Bytes;

use super::document::{self, EVENT_FIELDS};
use super::insert::around;
use super::item::SUMMARY;
use super::ledger::Ledger;
use super::made::{self, Event};
use super::normal;
use super::open::Open;
use super::sequence::{Numbers, Sequence};
use super::sink::Sink;
use crate::delta::{CallFlavor, DeltaKind, Slot, Text};
use crate::json::{self, At, Object};
use crate::sse::{Frame, Framer};
use crate::wire::{self, Ending, Fate, Odd, Outgoing, Part, Writer, WriterOptions};

/// Writes one response.
#[derive(Debug)]
pub(super) struct ResponsesWriter {
    pub(super) notice: Option<Text>,
    pub(super) ledger: Ledger,
    pub(super) sequence: Sequence,
    pub(super) sink: Sink,
    pub(super) open: Open,
    /// The data of the last opening event.
    pub(super) opening: Option<Bytes>,
    /// The usage of a terminal event that did not leave.
    pub(super) usage: Option<String>,
    /// The `output_item.done` events that left, by the index they left with.
    pub(super) done: Vec<(u32, Bytes)>,
    /// The items made here, as they stand in `output`, by their index.
    pub(super) inserted: Vec<(u32, String)>,
    /// Inserted beside the opening events, before which and between which there is no place.
    pub(super) waiting: Vec<DeltaKind>,
    /// How many items were made here.
    pub(super) made: u32,
    /// Something was not kept: from here on numbers and copies may have to change.
    pub(super) touched: bool,
    pub(super) ended: bool,
    /// Frames that are not plain are written anew (rule 28).
    pub(super) normalise: bool,
    /// Why the last frame was written anew, and whether every part of it was kept.
    pub(super) odd: Option<Odd>,
    pub(super) untouched: bool,
    /// Events that go before the frame that is written.
    late: Vec<Event>,
    /// The ids that calls opened with, by their items.
    ids: HashMap<u32, Option<String>>,
}

impl ResponsesWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self {
            notice: options.empty_notice.clone(),
            ledger: Ledger::new(options.normalise),
            sequence: Sequence::new(options.normalise),
            sink: Sink::default(),
            open: Open::default(),
            opening: None,
            usage: None,
            done: Vec::new(),
            inserted: Vec::new(),
            waiting: Vec::new(),
            made: 0,
            touched: false,
            ended: false,
            normalise: options.normalise,
            odd: None,
            untouched: false,
            late: Vec::new(),
            ids: HashMap::new(),
        }
    }

    /// An event of a call with the id that the call opened with.
    fn with_own_id<'a>(&self, json: Cow<'a, str>, parts: &[Part]) -> Cow<'a, str> {
        let item = parts.iter().find_map(|part| match part.delta.slot {
            Slot::At { item, .. } => Some(item),
            _ => None,
        });
        let Some(id) = item.and_then(|item| self.ids.get(&item)) else { return json };
        let is_of_call = |name: &str| name == "item_id" || name == "output_index";
        let Some(members) = json::members(&json).filter(|all| all.iter().any(|(name, _)| is_of_call(name)))
        else {
            return json;
        };
        if json::member(&json, "item").is_some() || json::member(&json, "item_id") == id.as_deref() {
            return json;
        }
        let mut object = Object::new();
        for (name, value) in &members {
            object = match id {
                _ if name != "item_id" => object.raw(name, value),
                Some(id) => object.raw(name, id),
                None => object,
            };
        }
        if let (Some(id), None) = (id, json::member(&json, "item_id")) {
            object = object.raw("item_id", id);
        }
        Cow::Owned(object.finish())
    }

    /// Remembers the id that a call opens with, as JSON.
    fn remember_id(&mut self, parts: &[Part], data: &Bytes) {
        for part in parts {
            let (DeltaKind::Call(call), Slot::At { item, .. }) = (&part.delta.kind, part.delta.slot) else {
                continue;
            };
            if call.starts {
                let json = std::str::from_utf8(data).unwrap_or_default();
                let id = json::find(json, &[At::Key("item"), At::Key("id")]);
                self.ids.insert(item, id.map(str::to_owned));
            }
        }
    }

    /// The arguments of calls that are open on the wire and that say their arguments only now, in a copy of the whole item:
    /// as deltas, for those who read no copies (rule 28).
    fn late_arguments(&self, parts: &[Part], data: &Bytes) -> Vec<Event> {
        let mut late = Vec::new();
        for part in parts.iter().filter(|part| part.fate == Fate::Kept) {
            let (DeltaKind::Copy(copy), Slot::At { item, .. }) = (&part.delta.kind, part.delta.slot) else {
                continue;
            };
            let is_open = self.ledger.item(item).is_some_and(|item| item.opened() && item.is_call());
            let (Some(body), Some(index)) = (&copy.body, self.ledger.index(item)) else { continue };
            if !copy.is_first || !is_open || copy.flavor == CallFlavor::Builtin {
                continue;
            }
            let json = std::str::from_utf8(data).unwrap_or_default();
            let paths: [&[At<'_>]; 2] = [
                &[At::Key("item"), At::Key("id")],
                &[At::Key("response"), At::Key("output"), At::Item(item as usize), At::Key("id")],
            ];
            // The event of the arguments alone is read like a delta.
            let Some(id) = paths.iter().find_map(|path| json::find(json, path)) else { continue };
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
        let mut framer = Framer::new(usize::MAX);
        framer.push(&Sink::line(name.as_deref().filter(|_| self.sink.names_or(frame)), &json));
        framer.next_frame().ok().flatten()
    }
}

impl Writer for ResponsesWriter {
    fn frame(&mut self, mut outgoing: Outgoing, out: &mut Vec<Bytes>) {
        self.untouched = outgoing.is_untouched();
        let late_name = outgoing.frame.as_ref().is_some_and(|frame| self.sink.has_late_name(frame));
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
        self.sink.learn(frame, &data);
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
        self.sink.event(frame, out);
        if let Some(index) = completes.and_then(|item| self.ledger.index(item)) {
            self.done.push((index, data.clone()));
        }
        self.sequence.pass(data);
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        if !std::mem::replace(&mut self.ended, true) {
            self.write_ending(ending, out);
        }
    }

    fn keep_alive(&self) -> Bytes {
        Bytes::from_static(b": keep-alive\n\n")
    }

    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes {
        self.ended = true;
        self.whole_body(&body, ending)
    }

    fn ended(&self) -> bool {
        self.ended
    }

    fn normalised(&mut self) -> Option<Odd> {
        self.odd.take().filter(|_| self.untouched)
    }
}

/// An event of the upstream's with the fates of its parts.
#[derive(Debug)]
pub(super) struct Source<'a> {
    frame: &'a Frame,
    pub(super) json: &'a str,
    numbers: Numbers,
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
        self.parts.iter().find_map(|part| match part.delta.slot {
            Slot::At { item, .. } => Some(item),
            _ => None,
        })
    }
}

impl ResponsesWriter {
    /// Books the parts of an event. Answers with the item that it completes.
    fn note(&mut self, parts: &[Part], data: &Bytes) -> Option<u32> {
        let mut completes = None;
        for part in parts.iter().filter(|part| part.fate != Fate::Inserted) {
            completes = self.ledger.note(part).or(completes);
            self.note_stream(part, data);
        }
        self.open.note(parts, data);
        completes
    }

    /// What a part means for the stream as a whole.
    fn note_stream(&mut self, part: &Part, data: &Bytes) {
        let leaves = part.fate != Fate::Dropped;
        match part.delta.kind {
            DeltaKind::Opening => self.opening = Some(data.clone()),
            DeltaKind::Error(_) => self.ended |= leaves,
            DeltaKind::Terminal if leaves => self.ended = true,
            DeltaKind::Terminal => {
                let json = String::from_utf8_lossy(data);
                self.usage = json::find(&json, &[At::Key("response"), At::Key("usage")]).map(str::to_owned);
            }
            _ => {}
        }
    }

    /// Writes a frame after something was touched, in it or before it.
    fn write_touched(&mut self, frame: &Frame, data: &Bytes, parts: &[Part], out: &mut Vec<Bytes>) {
        let json = String::from_utf8_lossy(data);
        let numbers = Numbers::read(json.as_bytes());
        self.sequence.enter(numbers.sequence_number);
        let (before, after) = around(parts);
        // What comes before an item takes its index: it has to be there when the item is booked.
        self.insert_before(parts, before, out);
        let completes = self.note(parts, data);
        self.insert_notice(parts, out);
        for event in std::mem::take(&mut self.late) {
            self.make(event, out);
        }
        let own: Vec<&Part> = parts.iter().filter(|part| part.fate != Fate::Inserted).collect();
        let source = Source { frame, json: &json, numbers, parts: &own };
        let written = self.write_own(&source, out);
        let index = completes.and_then(|item| self.ledger.index(item));
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
        if item.is_some_and(|item| self.ledger.index(item).is_none()) {
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
            self.sink.event(source.frame, out);
            return Bytes::copy_from_slice(source.json.as_bytes());
        }
        let paths: Vec<[At<'_>; 1]> = new.iter().map(|(name, _)| [At::Key(name)]).collect();
        let edits: Vec<(&[At<'_>], &str)> =
            paths.iter().zip(&new).map(|(path, (_, value))| (&path[..], value.as_str())).collect();
        let json = json::patch(source.json, &edits);
        self.sink.write(source.frame.event(), &json, out);
        Bytes::from(json)
    }

    /// The known fields of the upstream's event, some of them new.
    pub(super) fn rebuild(
        &mut self,
        source: &Source<'_>,
        new: &[(&str, String)],
        out: &mut Vec<Bytes>,
    ) -> Bytes {
        let numbers = self.new_numbers(&source.numbers);
        let json = document::keep(source.json, EVENT_FIELDS, |name| {
            let mut all = new.iter().chain(&numbers);
            let found = all.find(|(field, _)| *field == name).map(|(_, value)| value.clone());
            found.or_else(|| (name == "logprobs").then(|| "[]".to_owned()))
        });
        self.sink.write(source.frame.event(), &json, out);
        Bytes::from(json)
    }

    /// Writes an event made here.
    pub(super) fn make(&mut self, (kind, event): Event, out: &mut Vec<Bytes>) {
        let event = match self.sequence.take() {
            Some(number) => event.number("sequence_number", number),
            None => event,
        };
        self.sink.write(self.sink.has_names().then_some(kind), &event.finish(), out);
    }

    /// Those of an event's numbers that differ on the wire.
    fn new_numbers(&mut self, old: &Numbers) -> Vec<(&'static str, String)> {
        let sequence_number = old.sequence_number.and_then(|_| self.sequence.take());
        let mut new = Vec::new();
        let mut differ = |name, old: u64, now: u64| {
            if old != now {
                new.push((name, now.to_string()));
            }
        };
        if let Some(item) = old.output_index {
            differ("output_index", item.into(), self.ledger.index(item).unwrap_or(item).into());
            if let Some(part) = old.content_index.filter(|part| *part < SUMMARY) {
                differ("content_index", part.into(), self.ledger.part_number(item, part).into());
            }
            if let Some(part) = old.summary_index.filter(|part| *part < SUMMARY) {
                differ("summary_index", part.into(), self.ledger.part_number(item, part + SUMMARY).into());
            }
        }
        if let (Some(number), Some(now)) = (old.sequence_number, sequence_number) {
            differ("sequence_number", number, now);
        }
        new
    }
}
