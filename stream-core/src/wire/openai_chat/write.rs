//! Writing a stream: original bytes where nothing changed, patched or rebuilt chunks where something did.

use bytes::Bytes;

use super::calls::ChoiceLedger;
use super::grammar::CHUNK;
use super::interleaved::Interleaved;
use super::made::{self, Finish, Members};
use super::place::{self, Field};
use super::rebuild::{RawChunk, error_name};
use super::whole;
use crate::delta::DeltaKind;
use crate::json;
use crate::sse::Frame;
use crate::wire::document::{Of, Rewrite, Spans, Value};
use crate::wire::sink::Sink;
use crate::wire::{Ending, EndingKind, Fate, Odd, Outgoing, Part, Writer, WriterOptions, without_stray};

/// Writes one chat response.
#[derive(Debug, Default)]
pub(super) struct ChatWriter {
    pub(super) options: WriterOptions,
    pub(super) ledger: ChoiceLedger,
    pub(super) sink: Sink,
    interleaved: Interleaved,
    /// The data of the chunk whose envelope chunks made here take: the first that has a choice, else the first.
    opening: Option<Bytes>,
    opening_has_choice: bool,
    /// The envelope of that chunk, once it was asked for.
    envelope: Option<String>,
    /// The data of the last chunk with token counts, whether it left or not.
    usage: Option<Bytes>,
    usage_left: bool,
    /// A finish did not leave: an ending will take its place, and usage comes behind that.
    unfinished: bool,
    /// Why the frame that was written last was normalised.
    normalised: Option<Odd>,
}

impl ChatWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self { options: options.clone(), ledger: ChoiceLedger::new(options), ..Self::default() }
    }

    /// Keeps what later chunks made here are built from. Only handles of bytes: nothing is parsed before it is needed.
    fn remember(&mut self, data: &Bytes, parts: &[Part]) {
        let has_choice = parts.iter().any(|part| part.delta.choice.is_some());
        let known = parts.iter().any(|part| {
            !matches!(part.delta.kind, DeltaKind::Opaque { .. } | DeltaKind::Terminal | DeltaKind::Error(_))
        });
        if known && (self.opening.is_none() || (has_choice && !self.opening_has_choice)) {
            self.opening = Some(data.clone());
            self.envelope = None;
            self.opening_has_choice = has_choice;
        }
        if parts.iter().any(|part| matches!(part.delta.kind, DeltaKind::Usage(_))) {
            self.usage = Some(data.clone());
        }
    }

    /// Usage behind a finish that did not leave waits for the ending.
    fn withhold_usage(&mut self, parts: &mut [Part]) {
        let dropped =
            |part: &Part| part.fate == Fate::Dropped && matches!(part.delta.kind, DeltaKind::Finish(_));
        self.unfinished |= parts.iter().any(dropped);
        for part in parts.iter_mut().filter(|part| matches!(part.delta.kind, DeltaKind::Usage(_))) {
            if self.unfinished {
                part.fate = Fate::Dropped;
            }
            self.usage_left = part.fate != Fate::Dropped;
        }
    }

    /// What is not plain about a frame, given what left before it.
    fn odd(&mut self, frame: &Frame, parts: &[Part]) -> Option<Odd> {
        if !self.options.normalise {
            return None;
        }
        let settled = self.ledger.settle(parts);
        let misplaced = |part: &Part| {
            let number = part.delta.choice.filter(|_| part.fate != Fate::Inserted);
            number.is_some_and(|number| number != part.delta.place.outer)
        };
        let position = || (!self.options.several && parts.iter().any(misplaced)).then_some(Odd::Position);
        let lines = frame.has_odd_lines().then_some(Odd::Lines);
        frame.odd().filter(|odd| *odd != Odd::Lines).or(settled).or_else(position).or(lines)
    }

    fn way(&self, odd: Option<Odd>, data: Option<&Bytes>, parts: &[Part]) -> Way {
        let rebuilt = |part: &Part| match part.fate {
            Fate::Kept => false,
            Fate::Edited => !matches!(part.delta.kind, DeltaKind::Finish(_)),
            Fate::Inserted | Fate::Dropped => true,
        };
        let odd_data = odd.is_some_and(|odd| odd != Odd::Lines);
        if odd_data || parts.iter().any(rebuilt) || self.has_stale_copies(data, parts) {
            return Way::Rebuild;
        }
        let patched = |part: &Part| part.fate == Fate::Edited || self.ledger.moved(part).is_some();
        match parts.iter().filter(|part| patched(part)).count() {
            0 if odd.is_some() => Way::OneLine,
            0 => Way::Raw,
            1..=MOST_PATCHES if odd.is_none() => Way::Patch,
            _ => Way::Rebuild,
        }
    }

    /// Whether an untouched chunk says again what the client did not get, or got otherwise.
    fn has_stale_copies(&self, data: Option<&Bytes>, parts: &[Part]) -> bool {
        if !self.ledger.any_tainted() {
            return false;
        }
        let Some(chunk) = data.and_then(|data| RawChunk::read(data)) else { return false };
        let mut calls = vec![0; chunk.choices.len()];
        for place in parts.iter().filter(|part| part.delta.kind.is_payload()).map(|part| part.delta.place) {
            let is_call = matches!(place::field(place), Some(Field::ToolCall | Field::FunctionCall));
            if let Some(count) = calls.get_mut(place.outer as usize).filter(|_| is_call) {
                *count += 1;
            }
        }
        let mut choices = chunk.choices.iter().zip(calls);
        choices.any(|(choice, calls)| self.ledger.is_tainted(choice.number()) && choice.has_leftovers(calls))
    }

    /// What stands in for emptied turns that this part ends, as items of `choices` (rule 21).
    pub(super) fn notices(&mut self, part: &Part) -> Vec<String> {
        let notices = self.ledger.turns.notices(part, part.fate).into_iter();
        notices
            .map(|(number, notice)| self.choice(number, vec![("content", json::quote(&notice))], None))
            .collect()
    }

    /// Takes note of a frame that leaves with all of its parts, after the notices for turns that it ends.
    fn pass(&mut self, parts: &[Part], out: &mut Vec<Bytes>) {
        for part in parts {
            for notice in self.notices(part) {
                self.chunk(&notice, None, out);
            }
            self.ledger.track(part);
            self.ledger.said(part);
        }
        for number in parts.iter().filter_map(|part| part.delta.choice) {
            self.ledger.turns.turn(number).opened = true;
        }
    }

    /// The chunk with other indices and finish reasons; all other bytes stay.
    fn patched(&self, data: &[u8], parts: &[Part]) -> Option<String> {
        let mut spans = Spans::default();
        let chunk = spans.read(std::str::from_utf8(data).ok()?, Of::Object(&CHUNK)).ok()?;
        let choices: Vec<Value<'_>> = chunk.get("choices").into_iter().flat_map(Value::items).collect();
        let mut rewrite = Rewrite::new(chunk);
        for part in parts {
            let Some(choice) = choices.get(part.delta.place.outer as usize) else { continue };
            if let Some(index) = self.ledger.moved(part) {
                let calls = choice.get("delta").and_then(|delta| delta.get("tool_calls"));
                let call = calls.and_then(|calls| calls.items().nth(place::item(part.delta.place)));
                if let Some(came) = call.and_then(|call| call.get("index")) {
                    rewrite.set(came, index.to_string());
                }
            }
            if let (DeltaKind::Finish(reason), Fate::Edited) = (&part.delta.kind, part.fate) {
                let native = choice.unknown().find(|(name, _)| name == "native_finish_reason");
                let native = native.map(|(_, value)| value).filter(|value| !value.is_null());
                for came in choice.get("finish_reason").into_iter().chain(native) {
                    rewrite.set(came, json::quote(reason.raw()));
                }
            }
        }
        Some(rewrite.finish())
    }

    /// Writes a chunk made here; `choice` is empty for one without.
    fn chunk(&mut self, choice: &str, usage: Option<&str>, out: &mut Vec<Bytes>) {
        let envelope = self.envelope();
        self.sink.event(None, &made::chunk(&envelope, choice, usage), out);
    }

    /// The envelope of chunks made here, an object to be continued.
    pub(super) fn envelope(&mut self) -> String {
        if let Some(envelope) = &self.envelope {
            return envelope.clone();
        }
        let raw = self.opening.as_deref().and_then(RawChunk::read).unwrap_or_default();
        let envelope = if raw.envelope.is_empty() { made::CHUNK.to_owned() } else { raw.object_text() };
        self.envelope.insert(envelope).clone()
    }

    fn refuse(&mut self, choices: Vec<u32>, message: &str, out: &mut Vec<Bytes>) {
        for number in choices {
            if !message.is_empty() {
                let refusal = self.choice(number, vec![("refusal", json::quote(message))], None);
                self.chunk(&refusal, None, out);
            }
            let finish = Finish { reason: json::quote("content_filter"), native: None };
            let last = self.choice(number, Members::new(), Some(finish));
            self.chunk(&last, None, out);
        }
        let usage = self.usage.clone().filter(|_| !self.usage_left);
        if let Some(usage) = usage.as_deref().and_then(RawChunk::read).and_then(|chunk| chunk.usage) {
            self.chunk("", Some(usage), out);
        }
    }

    /// Writes a frame behind all that left.
    fn write(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        let Outgoing { frame, mut parts } = outgoing;
        self.withhold_usage(&mut parts);
        let Some(frame) = frame else {
            if self.options.normalise {
                self.ledger.settle(&parts);
            }
            return self.rebuild(None, None, &parts, out);
        };
        let odd = self.odd(&frame, &parts);
        if parts.iter().all(|part| part.fate == Fate::Kept) {
            self.normalised = self.normalised.or(odd);
        }
        if odd.is_some() {
            without_stray(&frame, &mut parts);
            if parts.is_empty() {
                return;
            }
        }
        let data = frame.data().or_else(|| frame.lenient_data());
        if let Some(data) = &data {
            self.remember(data, &parts);
        }
        match self.way(odd, data.as_ref(), &parts) {
            Way::Rebuild => self.rebuild(Some(&frame), data.as_ref(), &parts, out),
            Way::Patch => {
                let patched = data.as_deref().and_then(|data| self.patched(data, &parts));
                self.pass(&parts, out);
                match patched {
                    Some(json) => self.sink.patched(&frame, &json, out),
                    None => self.sink.raw(&frame, out),
                }
            }
            Way::OneLine => {
                // Comments, and lines that say nothing, do not leave.
                if let Some(json) = data.as_deref().and_then(|data| std::str::from_utf8(data).ok()) {
                    self.pass(&parts, out);
                    self.sink.event(error_name(&frame), json, out);
                }
            }
            Way::Raw => {
                self.pass(&parts, out);
                self.sink.raw(&frame, out);
            }
        }
    }
}

impl Writer for ChatWriter {
    fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        if !self.options.normalise {
            return self.write(outgoing, out);
        }
        for outgoing in self.interleaved.take(outgoing) {
            self.write(outgoing, out);
        }
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        for outgoing in self.interleaved.release() {
            self.write(outgoing, out);
        }
        if !self.ledger.turns.end() {
            return;
        }
        let refusable = self.ledger.turns.refusable(true).filter(|_| ending.kind == EndingKind::Refuse);
        match refusable {
            Some(choices) => self.refuse(choices, &ending.message, out),
            None => self.sink.event(None, &made::error(ending), out),
        }
        self.sink.put(Bytes::from_static(made::DONE), out);
    }

    fn keep_alive(&self) -> Bytes {
        Bytes::from_static(b": keep-alive\n\n")
    }

    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes {
        let odd = body.frame.as_ref().and_then(Frame::odd).filter(|_| self.options.normalise);
        self.normalised = odd.filter(|_| ending.is_none() && body.is_untouched());
        let bytes = whole::write(&mut self.ledger, &self.options, &body, ending);
        self.ledger.turns.end();
        bytes
    }

    fn ended(&self) -> bool {
        self.ledger.turns.has_ended()
    }

    fn held(&self) -> usize {
        self.interleaved.bytes()
    }

    fn is_plain(&self) -> bool {
        let ended = self.ledger.turns.has_ended();
        self.interleaved.is_idle() && self.sink.is_at_border() && !ended && !self.ledger.any_tainted()
    }

    fn normalised(&mut self) -> Option<Odd> {
        self.normalised.take()
    }
}

/// How a frame is written.
enum Way {
    Raw,
    /// The data as it came, in one line.
    OneLine,
    Patch,
    Rebuild,
}

/// Every patch looks for its call from the start of the list; beyond a handful a rebuild is cheaper.
const MOST_PATCHES: usize = 16;
