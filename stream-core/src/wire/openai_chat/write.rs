//! Writing a stream: original bytes where nothing changed, patched or rebuilt chunks where something did.

use bytes::Bytes;

use super::calls::ChoiceCalls;
use super::grammar::CHUNK;
use super::interleaved::Interleaved;
use super::place::{self, Field};
use super::rebuild::{RawChunk, error_name};
use super::templates::{self, Finish, Members};
use crate::delta::DeltaKind;
use crate::json;
use crate::sse::Frame;
use crate::wire::document::{Of, Rewrite, Spans, Value};
use crate::wire::sink::Sink;
use crate::wire::turn::RefusalRule;
use crate::wire::writer::{self, Grammar, WireState};
use crate::wire::{Fate, Odd, Outgoing, Part, WriterOptions};

/// Writes one chat response.
#[derive(Debug, Default)]
pub(super) struct ChatWriter {
    pub(super) state: WireState<ChoiceCalls>,
    interleaved: Interleaved,
    /// The data of the chunk whose envelope chunks made here take: the first that has a choice, else the first.
    opening: Option<Bytes>,
    opening_has_choice: bool,
    /// The envelope of that chunk, once it was asked for.
    envelope: Option<String>,
    usage_left: bool,
    /// A finish did not leave: an ending will take its place, and usage comes behind that.
    unfinished: bool,
}

impl ChatWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self { state: WireState::new(options, Sink::default()), ..Self::default() }
    }

    /// Keeps what later chunks made here are built from. Only handles of bytes: nothing is parsed before it is needed.
    fn remember(&mut self, data: &Bytes, parts: &[Part]) {
        let has_choice = parts.iter().any(|part| part.delta.choice.is_some());
        let known = parts.iter().any(|part| {
            !matches!(part.delta.kind, DeltaKind::Opaque { .. } | DeltaKind::Terminal | DeltaKind::Error(_))
        });
        if known && (self.opening.is_none() || (has_choice && !self.opening_has_choice)) {
            // All of what was read at once would be kept with it.
            self.opening = Some(Bytes::copy_from_slice(data));
            self.envelope = None;
            self.opening_has_choice = has_choice;
        }
        self.state.remember_usage(data, parts);
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
        if !self.state.normalise {
            return None;
        }
        let settled = self.state.turns.settle(parts);
        let misplaced = |part: &Part| {
            let number = part.delta.choice.filter(|_| part.fate != Fate::Inserted);
            number.is_some_and(|number| number != part.delta.place.outer)
        };
        let position = || (self.state.by_position() && parts.iter().any(misplaced)).then_some(Odd::Position);
        let lines = frame.has_odd_lines().then_some(Odd::Lines);
        frame.odd().filter(|odd| *odd != Odd::Lines).or(settled).or_else(position).or(lines)
    }

    fn way(&self, data: Option<&Bytes>, parts: &[Part]) -> Way {
        let rebuilt = |part: &Part| match part.fate {
            Fate::Kept => false,
            Fate::Edited => !matches!(part.delta.kind, DeltaKind::Finish(_)),
            Fate::Inserted | Fate::Dropped => true,
        };
        let odd = self.state.odd;
        let odd_data = odd.is_some_and(|odd| odd != Odd::Lines);
        if odd_data || parts.iter().any(rebuilt) || self.has_stale_copies(data, parts) {
            return Way::Rebuild;
        }
        let patched = |part: &Part| part.fate == Fate::Edited || self.state.turns.moved(part).is_some();
        match parts.iter().filter(|part| patched(part)).count() {
            0 if odd.is_some() => Way::OneLine,
            0 => Way::Raw,
            1..=MOST_PATCHES if odd.is_none() => Way::Patch,
            _ => Way::Rebuild,
        }
    }

    /// Whether an untouched chunk says again what the client did not get, or got otherwise.
    fn has_stale_copies(&self, data: Option<&Bytes>, parts: &[Part]) -> bool {
        if !self.state.turns.any_tainted() {
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
        choices.any(|(choice, calls)| {
            self.state.turns.is_tainted(choice.number()) && choice.has_leftovers(calls)
        })
    }

    /// What stands in for emptied turns that this part ends, as items of `choices` (rule 21).
    pub(super) fn notices(&mut self, part: &Part) -> Vec<String> {
        let notices = self.state.turns.notices(part, part.fate).into_iter();
        notices.map(|(number, notice)| self.choice(number, templates::notice(&notice), None)).collect()
    }

    /// Takes note of a frame that leaves with all of its parts, after the notices for turns that it ends. Lines that are no
    /// event open nothing: strict clients skip them, and have yet to read a role.
    fn pass(&mut self, parts: &[Part], is_event: bool, out: &mut Vec<Bytes>) {
        for part in parts {
            for notice in self.notices(part) {
                self.chunk(&notice, None, out);
            }
            self.state.turns.track(part);
            self.state.turns.said(part);
        }
        for number in parts.iter().filter_map(|part| part.delta.choice).filter(|_| is_event) {
            self.state.turns.turn(number).opened = true;
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
            if let Some(index) = self.state.turns.moved(part) {
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
        self.state.sink.event(None, &templates::chunk(&envelope, choice, usage), out);
    }

    /// The envelope of chunks made here, an object to be continued.
    pub(super) fn envelope(&mut self) -> String {
        if let Some(envelope) = &self.envelope {
            return envelope.clone();
        }
        let raw = self.opening.as_deref().and_then(RawChunk::read).unwrap_or_default();
        let envelope = raw.object_text(templates::CHUNK);
        self.envelope.insert(envelope).clone()
    }

    /// Writes a frame behind all that left.
    fn write(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        let Outgoing { frame, mut parts } = outgoing;
        self.withhold_usage(&mut parts);
        let Some(frame) = frame else {
            if self.state.normalise {
                self.state.turns.settle(&parts);
            }
            return self.rebuild(None, None, &parts, out);
        };
        let odd = self.odd(&frame, &parts);
        self.state.enter(&frame, odd, &mut parts);
        if self.state.odd.is_some() && parts.is_empty() {
            return;
        }
        let data = writer::data(&frame);
        if let Some(data) = &data {
            self.remember(data, &parts);
        }
        match self.way(data.as_ref(), &parts) {
            Way::Rebuild => self.rebuild(Some(&frame), data.as_ref(), &parts, out),
            Way::Patch => {
                let patched = data.as_deref().and_then(|data| self.patched(data, &parts));
                self.pass(&parts, true, out);
                match patched {
                    Some(json) => self.state.sink.patched(&frame, &json, out),
                    None => self.state.sink.raw(&frame, out),
                }
            }
            Way::OneLine => {
                // Comments, and lines that say nothing, do not leave.
                if let Some(json) = data.as_deref().and_then(|data| std::str::from_utf8(data).ok()) {
                    self.pass(&parts, true, out);
                    self.state.sink.event(error_name(&frame), json, out);
                }
            }
            Way::Raw => {
                self.pass(&parts, frame.data_bytes().is_some(), out);
                self.state.sink.raw(&frame, out);
            }
        }
    }
}

impl Grammar for ChatWriter {
    type Own = ChoiceCalls;

    const REFUSAL: RefusalRule = RefusalRule::Together;

    fn state(&self) -> &WireState<ChoiceCalls> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut WireState<ChoiceCalls> {
        &mut self.state
    }

    fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        if !self.state.normalise || self.interleaved.passes(&outgoing) {
            return self.write(outgoing, out);
        }
        for outgoing in self.interleaved.take(outgoing) {
            self.write(outgoing, out);
        }
    }

    fn flush(&mut self, out: &mut Vec<Bytes>) {
        for outgoing in self.interleaved.release() {
            self.write(outgoing, out);
        }
    }

    fn refuse(&mut self, choices: &[u32], message: &str, out: &mut Vec<Bytes>) {
        for number in choices {
            let refusal = templates::refusal(message);
            if !refusal.is_empty() {
                let refusal = self.choice(*number, refusal, None);
                self.chunk(&refusal, None, out);
            }
            let last = self.choice(*number, Members::new(), Some(Finish::refused()));
            self.chunk(&last, None, out);
        }
        let usage = self.state.usage.clone().filter(|_| !self.usage_left);
        if let Some(usage) = usage.as_deref().and_then(RawChunk::read).and_then(|chunk| chunk.usage) {
            self.chunk("", Some(usage), out);
        }
    }

    fn is_idle(&self) -> bool {
        self.interleaved.is_idle() && !self.state.turns.any_tainted()
    }

    fn held(&self) -> usize {
        self.interleaved.bytes()
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
