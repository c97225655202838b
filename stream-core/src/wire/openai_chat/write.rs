//! Writing a stream: original bytes where nothing changed, patched or rebuilt chunks where something did.

use bytes::Bytes;

use super::fragment::{self, Members};
use super::place::{self, Field};
use super::raw::{RawChoice, RawChunk, event};
use super::state::Ledger;
use super::turns::Turns;
use super::whole;
use crate::delta::DeltaKind;
use crate::json::{self, At, Object};
use crate::sse::Frame;
use crate::wire::{Ending, EndingKind, Fate, Odd, Outgoing, Part, Writer, WriterOptions, without_stray};

/// Writes one chat response.
#[derive(Debug)]
pub(super) struct ChatWriter {
    options: WriterOptions,
    ledger: Ledger,
    turns: Turns,
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
    /// What the last bytes written lack to end with an event border.
    border: &'static [u8],
    /// Why the frame that was written last was normalised.
    normalised: Option<Odd>,
}

impl ChatWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self {
            options: options.clone(),
            ledger: Ledger::default(),
            turns: Turns::default(),
            opening: None,
            opening_has_choice: false,
            envelope: None,
            usage: None,
            usage_left: false,
            unfinished: false,
            border: b"",
            normalised: None,
        }
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

    fn way(&self, frame: &Frame, odd: Option<Odd>, data: Option<&Bytes>, parts: &[Part]) -> Way {
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
            0 => Way::Raw(frame.raw().clone()),
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
    fn notices(&mut self, part: &Part) -> Vec<String> {
        let ends: Vec<u32> = match part.delta.kind {
            _ if part.fate == Fate::Dropped => return Vec::new(),
            DeltaKind::Finish(_) => part.delta.choice.into_iter().collect(),
            DeltaKind::Terminal => self
                .ledger
                .choices()
                .filter(|(_, choice)| !choice.finished)
                .map(|(number, _)| number)
                .collect(),
            _ => return Vec::new(),
        };
        let Some(notice) = self.options.empty_notice.clone() else { return Vec::new() };
        let mut notices = Vec::new();
        for number in ends {
            if self.ledger.wants_notice(number) {
                notices.push(self.choice(number, vec![("content", json::quote(&notice))], None));
                self.ledger.choice(number).has_payload = true;
            }
        }
        notices
    }

    /// Writes a frame as these bytes, which say all of its parts.
    fn raw(&mut self, raw: Bytes, parts: &[Part], out: &mut Vec<Bytes>) {
        for part in parts {
            for notice in self.notices(part) {
                self.chunk(&notice, None, out);
            }
            self.ledger.track(part);
            self.ledger.said(part);
        }
        for number in parts.iter().filter_map(|part| part.delta.choice) {
            self.ledger.choice(number).opened = true;
        }
        self.border(out);
        out.push(raw);
    }

    /// The chunk with other indices and finish reasons; all other bytes stay.
    fn patched(&mut self, frame: &Frame, data: &Bytes, parts: &[Part]) -> Bytes {
        let mut edits: Vec<(Vec<At<'static>>, String)> = Vec::new();
        for part in parts {
            let outer = part.delta.place.outer as usize;
            let of_choice = |path: &[At<'static>]| [&[At::Key("choices"), At::Item(outer)], path].concat();
            if let Some(index) = self.ledger.moved(part) {
                let item = At::Item(place::item(part.delta.place));
                let path = [At::Key("delta"), At::Key("tool_calls"), item, At::Key("index")];
                edits.push((of_choice(&path), index.to_string()));
            }
            if let (DeltaKind::Finish(reason), Fate::Edited) = (&part.delta.kind, part.fate) {
                edits.push((of_choice(&[At::Key("finish_reason")]), json::quote(reason.raw())));
                edits.push((of_choice(&[At::Key("native_finish_reason")]), json::quote(reason.raw())));
            }
        }
        let document = std::str::from_utf8(data).unwrap_or_default();
        let is_null = |path: &[At<'_>]| json::find(document, path) == Some("null");
        let edits: Vec<(&[At<'_>], &str)> = edits
            .iter()
            .map(|(path, new)| (path.as_slice(), new.as_str()))
            .filter(|(path, _)| !is_null(path))
            .collect();
        splice(frame, data, &json::patch(document, &edits))
    }

    fn rebuild(&mut self, frame: Option<&Frame>, data: Option<&Bytes>, parts: &[Part], out: &mut Vec<Bytes>) {
        let raw = data.and_then(|data| RawChunk::read(data)).unwrap_or_default();
        let mut events = Vec::new();
        let mut usage = None;
        let mut error = None;
        let mut with_generation = false;
        for part in parts {
            let left = part.fate != Fate::Dropped;
            events.extend(self.notices(part));
            let index = self.ledger.track(part);
            let normal = match (self.options.normalise, part.fate) {
                (true, Fate::Kept | Fate::Edited) => self.ledger.normal(part),
                _ => Some(part.clone()),
            };
            let Some(part) = &normal else { continue };
            match &part.delta.kind {
                _ if !left => {}
                DeltaKind::Usage(_) => usage = raw.usage,
                DeltaKind::Error(_) => error = Some(raw.error(with_generation)),
                DeltaKind::Opaque { .. }
                    if place::field(part.delta.place) == Some(Field::FailedGeneration) =>
                {
                    with_generation |= part.fate == Fate::Kept;
                }
                _ => events.extend(self.rebuilt_part(part, &raw, index)),
            }
        }
        for choice in &raw.choices {
            // The role survives the loss of everything beside it.
            let number = choice.number();
            if choice.body("role").is_some() && !self.ledger.choice(number).opened {
                events.push(self.choice(number, Members::new(), None));
            }
        }
        let name = frame.and_then(Frame::event).filter(|name| *name == "error");
        let envelope = if raw.envelope.is_empty() { self.envelope() } else { raw.object_text() };
        if events.is_empty() && usage.is_some() {
            events.push(String::new());
        }
        let last = events.len().saturating_sub(1);
        for (position, choice) in events.iter().enumerate() {
            let usage = usage.filter(|_| position == last);
            self.push(event(name, &chunk(&envelope, choice, usage)), out);
        }
        if let Some(error) = error {
            let document = raw.object().raw("error", &error).finish();
            self.push(event(name, &document), out);
        }
    }

    /// One of `choices`, with what a part says.
    fn rebuilt_part(&mut self, part: &Part, raw: &RawChunk<'_>, index: Option<u64>) -> Option<String> {
        let number = part.delta.choice?;
        let nothing = RawChoice::default();
        let choice = match part.fate {
            Fate::Inserted => raw.choices.iter().find(|choice| choice.number() == number),
            _ => raw.choices.get(part.delta.place.outer as usize),
        };
        let choice = choice.unwrap_or(&nothing);
        match &part.delta.kind {
            DeltaKind::Finish(reason) => {
                let native = choice.get("native_finish_reason").map(|native| match part.fate {
                    Fate::Edited => json::quote(reason.raw()),
                    _ => native.to_owned(),
                });
                let finish = Finish { reason: json::quote(reason.raw()), native };
                Some(self.choice(number, Members::new(), Some(finish)))
            }
            _ => {
                let members = fragment::members(part, choice, index);
                (!members.is_empty()).then(|| self.choice(number, members, None))
            }
        }
    }

    /// One of `choices`; the first of its number carries the role.
    fn choice(&mut self, number: u32, members: Members, finish: Option<Finish>) -> String {
        let mut delta = Object::new();
        let state = self.ledger.choice(number);
        if !std::mem::replace(&mut state.opened, true) {
            delta = delta.string("role", "assistant");
        }
        for (name, value) in members {
            delta = delta.raw(name, &value);
        }
        let finish = finish.unwrap_or_default();
        let mut choice = Object::new()
            .number("index", number.into())
            .raw("delta", &delta.finish())
            .raw("finish_reason", &finish.reason);
        if let Some(native) = finish.native {
            choice = choice.raw("native_finish_reason", &native);
        }
        let choice = choice.finish();
        if number == 0 || self.options.several || !self.options.normalise {
            return choice;
        }
        // Where a reader by position and a reader by number both find it.
        let empty = |number: u32| format!(r#"{{"index":{number},"delta":{{}},"finish_reason":null}}"#);
        (0..number).map(empty).chain([choice]).collect::<Vec<_>>().join(",")
    }

    /// Writes a chunk made here; `choice` is empty for one without.
    fn chunk(&mut self, choice: &str, usage: Option<&str>, out: &mut Vec<Bytes>) {
        let envelope = self.envelope();
        self.push(event(None, &chunk(&envelope, choice, usage)), out);
    }

    /// The envelope of chunks made here, an object to be continued.
    fn envelope(&mut self) -> String {
        if let Some(envelope) = &self.envelope {
            return envelope.clone();
        }
        let raw = self.opening.as_deref().and_then(RawChunk::read).unwrap_or_default();
        let envelope = if raw.envelope.is_empty() { MADE.to_owned() } else { raw.object_text() };
        self.envelope.insert(envelope).clone()
    }

    fn refuse(&mut self, message: &str, out: &mut Vec<Bytes>) {
        let mut open: Vec<u32> = self.ledger.choices().map(|(number, _)| number).collect();
        if open.is_empty() {
            open.push(0);
        }
        for number in open {
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
        match self.way(&frame, odd, data.as_ref(), &parts) {
            Way::Rebuild => self.rebuild(Some(&frame), data.as_ref(), &parts, out),
            Way::Patch => {
                let data = data.unwrap_or_default();
                let bytes = self.patched(&frame, &data, &parts);
                self.raw(bytes, &parts, out);
                self.border = missing_border(&frame);
            }
            Way::OneLine => {
                // Comments, and lines that say nothing, do not leave.
                if let Some(json) = data.as_deref().and_then(|data| std::str::from_utf8(data).ok()) {
                    let bytes = event(frame.event().filter(|name| *name == "error"), json);
                    self.raw(bytes, &parts, out);
                }
            }
            Way::Raw(raw) => {
                self.raw(raw, &parts, out);
                self.border = missing_border(&frame);
            }
        }
    }

    fn push(&mut self, event: Bytes, out: &mut Vec<Bytes>) {
        self.border(out);
        out.push(event);
    }

    fn border(&mut self, out: &mut Vec<Bytes>) {
        if !self.border.is_empty() {
            out.push(Bytes::from_static(std::mem::take(&mut self.border)));
        }
    }
}

impl Writer for ChatWriter {
    fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        if !self.options.normalise {
            return self.write(outgoing, out);
        }
        for outgoing in self.turns.take(outgoing) {
            self.write(outgoing, out);
        }
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        for outgoing in self.turns.release() {
            self.write(outgoing, out);
        }
        if std::mem::replace(&mut self.ledger.ended, true) {
            return;
        }
        if ending.kind == EndingKind::Refuse && !self.ledger.forbids_refusal() {
            self.refuse(&ending.message, out);
        } else {
            self.push(event(None, &error_document(&ending.message)), out);
        }
        self.push(Bytes::from_static(DONE), out);
    }

    fn keep_alive(&self) -> Bytes {
        Bytes::from_static(b": keep-alive\n\n")
    }

    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes {
        let odd = body.frame.as_ref().and_then(Frame::odd).filter(|_| self.options.normalise);
        self.normalised = odd.filter(|_| ending.is_none() && body.is_untouched());
        let bytes = whole::write(&mut self.ledger, &self.options, &body, ending);
        self.ledger.ended = true;
        bytes
    }

    fn ended(&self) -> bool {
        self.ledger.ended
    }

    fn held(&self) -> usize {
        self.turns.bytes()
    }

    fn normalised(&mut self) -> Option<Odd> {
        self.normalised.take()
    }
}

/// How a frame is written.
enum Way {
    Raw(Bytes),
    /// The data as it came, in one line.
    OneLine,
    Patch,
    Rebuild,
}

/// How a choice of a chunk says that it ends, as raw JSON.
struct Finish {
    reason: String,
    native: Option<String>,
}

impl Default for Finish {
    fn default() -> Self {
        Self { reason: String::from("null"), native: None }
    }
}

/// The error event's document: SDKs raise on it.
pub(super) fn error_document(message: &str) -> String {
    let error = Object::new()
        .string("message", message)
        .string("type", "policy_error")
        .raw("param", "null")
        .string("code", "blocked");
    Object::new().raw("error", &error.finish()).finish()
}

fn chunk(envelope: &str, choice: &str, usage: Option<&str>) -> String {
    let mut chunk = format!("{envelope},\"choices\":[{choice}]");
    if let Some(usage) = usage {
        chunk.push_str(",\"usage\":");
        chunk.push_str(usage);
    }
    chunk.push('}');
    chunk
}

/// The frame with another document in place of its data.
fn splice(frame: &Frame, data: &Bytes, document: &str) -> Bytes {
    let raw = frame.raw();
    let start = (data.as_ptr() as usize).wrapping_sub(raw.as_ptr() as usize);
    match (raw.get(..start), raw.get(start.saturating_add(data.len())..)) {
        (Some(head), Some(tail)) => [head, document.as_bytes(), tail].concat().into(),
        // Data of several lines is no slice of the frame.
        _ => event(frame.event(), document),
    }
}

fn missing_border(frame: &Frame) -> &'static [u8] {
    match frame.raw().last() {
        _ if frame.is_terminated() => b"",
        Some(b'\n') => b"\n",
        // Also after a lone CR, which the first of these makes one line end.
        _ => b"\n\n",
    }
}

/// Every patch looks for its place from the start of the document; beyond a handful a rebuild is cheaper.
const MOST_PATCHES: usize = 16;

/// The envelope where no chunk of the upstream has come.
const MADE: &str = r#"{"id":"chatcmpl-blocked","object":"chat.completion.chunk","created":0,"model":"""#;

const DONE: &[u8] = b"data: [DONE]\n\n";
