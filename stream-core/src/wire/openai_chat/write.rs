//! Writing a stream: original bytes where nothing changed, patched or rebuilt chunks where something did.

use std::borrow::Cow;

use bytes::Bytes;

use super::calls::ChoiceCalls;
use super::grammar::{self, Field};
use super::interleaved::Interleaved;
use super::positions::Positions;
use super::rebuild::{CameChunk, error_name};
use super::templates::{self, Finish, Members};
use crate::delta::{CallFlavor, DeltaKind, Span};
use crate::json::{self, Object};
use crate::sse::Frame;
use crate::wire::document::{Spans, Value, spliced};
use crate::wire::sink::Sink;
use crate::wire::turn::RefusalRule;
use crate::wire::writer::{self, Grammar, WireState};
use crate::wire::{Fate, Odd, Outgoing, Part, WriterOptions};

/// Writes one chat response.
#[derive(Debug, Default)]
pub(super) struct ChatWriter {
    pub(super) state: WireState<ChoiceCalls>,
    interleaved: Interleaved,
    /// The data of the chunk whose envelope made chunks have: the first with a choice, else the first.
    opening: Option<Bytes>,
    opening_has_choice: bool,
    /// The envelope of that chunk, once it was needed.
    envelope: Option<Object>,
    /// The raw `object` of the first chunk with payload.
    object: Option<String>,
    usage_left: bool,
    pub(super) positions: Positions,
    /// A finish was dropped: an ending will be written in its place, with the usage behind it.
    unfinished: bool,
}

impl ChatWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self { state: WireState::new(options, Sink::default()), ..Self::default() }
    }

    /// Keeps the data that made chunks are built from, which is parsed only when it is needed.
    fn remember(&mut self, data: &Bytes, parts: &[Part]) {
        if !self.opening_has_choice {
            self.remember_opening(data, parts);
        }
        if self.object.is_none() && parts.iter().any(|part| part.came() && part.delta.kind.is_payload()) {
            let data = std::str::from_utf8(data).unwrap_or_default();
            self.object = Some(json::member(data, "object").unwrap_or_default().to_owned());
        }
        self.state.remember_usage(data, parts);
    }

    fn remember_opening(&mut self, data: &[u8], parts: &[Part]) {
        let has_choice = parts.iter().any(|part| part.delta.choice.is_some());
        let known = parts.iter().any(|part| {
            !matches!(part.delta.kind, DeltaKind::Opaque { .. } | DeltaKind::Terminal | DeltaKind::Error(_))
        });
        if known && (self.opening.is_none() || has_choice) {
            // A slice would keep the whole read alive.
            self.opening = Some(Bytes::copy_from_slice(data));
            self.envelope = None;
            self.opening_has_choice = has_choice;
        }
    }

    /// Drops usage behind a dropped finish: the ending writes the usage.
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

    /// The reason why a frame is not plain, given the frames that were written before it.
    fn odd(&mut self, frame: &Frame, parts: &[Part]) -> Option<Odd> {
        if !self.state.normalise {
            return None;
        }
        if self.state.several {
            self.state.apart.extend(self.positions.early_calls(parts));
        }
        let settled = self.state.turns.settle(parts);
        let misplaced = |part: &Part| {
            part.came() && part.delta.choice.is_some_and(|number| number != part.delta.site.position)
        };
        let position = || (self.state.by_position() && parts.iter().any(misplaced)).then_some(Odd::Position);
        let apart = || parts.iter().any(|part| self.state.is_apart(part)).then_some(Odd::Choices);
        let behind = || (self.state.several && is_behind(parts)).then_some(Odd::Position);
        let lines = frame.has_odd_lines().then_some(Odd::Lines);
        let odd = frame.odd().filter(|odd| *odd != Odd::Lines).or(settled);
        odd.or_else(position).or_else(apart).or_else(behind).or(lines)
    }

    fn way(&self, parts: &[Part]) -> Way {
        let rebuilt = |part: &Part| match part.fate {
            Fate::Kept => false,
            Fate::Edited => !matches!(part.delta.kind, DeltaKind::Finish(_)),
            Fate::Inserted | Fate::Dropped => true,
        };
        let odd = self.state.odd;
        let odd_data = odd.is_some_and(|odd| odd != Odd::Lines);
        let patched = |part: &&Part| part.fate == Fate::Edited || self.state.turns.moved(part).is_some();
        match parts.iter().filter(patched).count() {
            _ if odd_data || parts.iter().any(rebuilt) => Way::Rebuild,
            0 if odd.is_some() => Way::OneLine,
            0 => Way::Raw,
            1..=MOST_PATCHES if odd.is_none() => Way::Patch,
            _ => Way::Rebuild,
        }
    }

    /// Whether an untouched chunk holds a copy of dropped or edited payload, or holds call fragments of an edited choice that
    /// are too empty to be parts.
    fn has_stale_copies(&self, came: CameChunk<'_>, parts: &[Part]) -> bool {
        let is_call = |part: &Part| {
            matches!(part.delta.kind, DeltaKind::Call(_)) || Field::of(&part.delta) == Some(Field::ToolCall)
        };
        let is_stale = |(position, choice): (usize, Value<'_>)| {
            let delta = choice.get("delta");
            let items =
                delta.and_then(|delta| delta.get("tool_calls")).map_or(0, |calls| calls.items().count());
            let legacy = usize::from(delta.is_some_and(|delta| delta.get("function_call").is_some()));
            let of_choice = parts.iter().filter(|part| part.delta.site.position as usize == position);
            let said = |name: &&str| choice.get(name).is_some_and(|value| !grammar::is_void(value.raw()));
            items + legacy != of_choice.filter(|part| is_call(part)).count()
                || ["message", "text", "logprobs"].iter().any(said)
        };
        let is_tainted = |choice: Value<'_>| self.state.turns.is_tainted(grammar::number(choice));
        came.choices().enumerate().filter(|(_, choice)| is_tainted(*choice)).any(is_stale)
    }

    /// The notices for emptied turns that this part ends, as items of `choices` (rule 21).
    pub(super) fn notices(&mut self, part: &Part) -> Vec<String> {
        let notices = self.state.turns.notices(part, part.fate);
        if notices.is_empty() {
            return Vec::new();
        }
        let notices = notices.into_iter();
        notices.map(|(number, notice)| self.choice(number, templates::notice(&notice), None)).collect()
    }

    /// Records a frame that is written with all of its parts, after the notices for turns that it ends. Lines that are no
    /// event open no choice: strict clients skip such lines, and still need the role.
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
        if is_event {
            self.positions.add(parts);
        }
    }

    /// The chunk with other indices and finish reasons; all other bytes stay.
    fn patched(&self, data: &str, parts: &[Part]) -> String {
        let mut splices = Vec::new();
        for part in parts {
            let site = part.delta.site;
            if let Some(index) = self.state.turns.moved(part) {
                let call = json::set(site.element.slice(data), &[("index", &index.to_string())]);
                splices.push((site.element, call));
            }
            if let (DeltaKind::Finish(reason), Fate::Edited) = (&part.delta.kind, part.fate) {
                let native = grammar::native_finish(site.holder.slice(data));
                let native = native.and_then(|native| Span::of(native, data));
                let came = [site.element].into_iter().chain(native);
                splices.extend(came.map(|came| (came, json::quote(reason.raw()))));
            }
        }
        spliced(data, Span::new(0, data.len()), splices)
    }

    /// Writes a made chunk; `choice` is empty for a chunk without choices.
    fn chunk(&mut self, choice: &str, usage: Option<&str>, out: &mut Vec<Bytes>) {
        let envelope = self.envelope();
        self.state.sink.event(None, &templates::chunk(&envelope, choice, usage), out);
    }

    /// The envelope of made chunks.
    pub(super) fn envelope(&mut self) -> Object {
        if let Some(envelope) = &self.envelope {
            return envelope.clone();
        }
        let mut spans = Spans::default();
        let opening = self.opening.as_deref().and_then(|data| grammar::chunk(&mut spans, data));
        let came = grammar::envelope(opening);
        self.envelope.insert(templates::envelope(came, templates::CHUNK)).clone()
    }

    /// An envelope with the `object` of the other chunks: some clients pass over those of another.
    pub(super) fn like_others(&self, envelope: Object) -> Object {
        let Some(object) = &self.object else { return envelope };
        let envelope = envelope.finish();
        let has = json::member(&envelope, "object").is_some();
        let is_told = !object.is_empty();
        let own = json::map(&envelope, |name, raw| match name {
            "object" => is_told.then_some(Cow::Borrowed(object.as_str())),
            _ => Some(Cow::Borrowed(raw)),
        });
        own.maybe("object", Some(object.as_str()).filter(|_| is_told && !has))
    }

    /// Writes a frame, in the order of [`Interleaved`].
    fn write(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        let Outgoing { frame, mut parts } = outgoing;
        self.withhold_usage(&mut parts);
        let Some(frame) = frame else {
            if self.state.normalise {
                self.state.turns.settle(&parts);
            }
            return self.rebuild(None, CameChunk::default(), &parts, out);
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
        let way = self.way(&parts);
        let reads = way == Way::Rebuild || self.state.turns.any_tainted();
        // The text of what leaves as it came is not looked at.
        let data = data.as_deref().filter(|_| reads || way != Way::Raw);
        let json = data.and_then(|data| std::str::from_utf8(data).ok()).unwrap_or_default();
        let mut spans = Spans::default();
        let chunk = reads.then(|| grammar::chunk(&mut spans, json.as_bytes())).flatten();
        let came = CameChunk { data: json, chunk };
        match way {
            _ if self.has_stale_copies(came, &parts) => self.rebuild(Some(&frame), came, &parts, out),
            Way::Rebuild => self.rebuild(Some(&frame), came, &parts, out),
            Way::Patch => {
                let patched = self.patched(json, &parts);
                self.pass(&parts, true, out);
                self.state.sink.patched(&frame, &patched, out);
            }
            // Comments, and lines without data, are not written.
            Way::OneLine if json.is_empty() => {}
            Way::OneLine => {
                self.pass(&parts, true, out);
                self.state.sink.event(error_name(&frame), json, out);
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

    const SETS_APART: bool = true;

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
        let last = self.state.usage.clone().filter(|_| !self.usage_left).unwrap_or_default();
        let mut spans = Spans::default();
        if let Some(usage) = grammar::chunk(&mut spans, &last).and_then(grammar::usage) {
            self.chunk("", Some(usage.raw()), out);
        }
    }

    fn is_idle(&self) -> bool {
        self.interleaved.is_idle()
    }

    fn copies_pass(&self) -> bool {
        !self.state.turns.any_tainted()
    }

    fn held(&self) -> usize {
        self.interleaved.bytes()
    }
}

/// Whether a choice says what the first one in its chunk does not: litellm takes a field only from chunks whose first choice has it.
fn is_behind(parts: &[Part]) -> bool {
    let of = |part: &Part| match &part.delta.kind {
        DeltaKind::Text { channel, .. } => Some((Some(*channel), false)),
        DeltaKind::Call(call) => Some((None, call.flavor == CallFlavor::LegacyFunction)),
        _ => None,
    };
    let is_first = |what| parts.iter().any(|part| part.delta.site.position == 0 && of(part) == Some(what));
    let mut others = parts.iter().filter(|part| part.came() && part.delta.site.position > 0);
    others.any(|part| of(part).is_some_and(|what| !is_first(what)))
}

/// How a frame is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Raw,
    /// The unchanged data, in one line.
    OneLine,
    Patch,
    Rebuild,
}

/// The number of patches in a chunk; a chunk with more is written anew, in one chunk for each call.
const MOST_PATCHES: usize = 16;
