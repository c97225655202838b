//! Writing: events, insertions, endings and whole bodies.

use std::borrow::Cow;

use bytes::Bytes;

use super::calls::CallTrail;
use super::grammar::RESPONSE;
use super::read::{BESIDE, locate};
use super::rebuild::{Closing, inserted, patch, rebuild};
use super::templates::{self, Draft, draft};
use crate::delta::{Channel, DeltaKind, Text};
use crate::json::{self, Object};
use crate::sse::Frame;
use crate::wire::document::{Of, Spans};
use crate::wire::sink::Sink;
use crate::wire::template::MadeEvent;
use crate::wire::turn::RefusalRule;
use crate::wire::writer::{self, Grammar, WireState};
use crate::wire::{Fate, Odd, Outgoing, Part, WriterOptions};

/// Writes one Gemini response.
#[derive(Debug)]
pub(super) struct GeminiWriter {
    pub(super) state: WireState<CallTrail>,
    /// The data of the last frame with a choice; it is read only if something made here repeats its names.
    latest: Option<Bytes>,
    /// Empty between frames; kept so that an untouched frame allocates nothing.
    responses: Vec<Response>,
}

/// A response made here; `None` for the one that came, as it came.
pub(super) type Response = Option<String>;

impl GeminiWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self { state: WireState::new(options, Sink::following()), latest: None, responses: Vec::new() }
    }

    /// Keeps the frames that told last what endings and insertions repeat.
    pub(super) fn remember(&mut self, data: &Bytes, parts: &[Part]) {
        self.state.remember_usage(data, parts);
        if parts.iter().any(|part| part.delta.choice.is_some()) {
            self.latest = Some(data.clone());
        }
    }

    /// Decides how a response is written. `data` is its JSON, where it is one.
    pub(super) fn response(
        &mut self,
        data: Option<&[u8]>,
        parts: &[Part],
        closing: Closing<'_>,
        into: &mut Vec<Response>,
    ) {
        let ends = matches!(closing, Closing::Own);
        if ends && self.state.turns.leaves_alone(parts) {
            return self.raw(None, parts, into);
        }
        let mut spans = Spans::default();
        let text = data.filter(|_| !is_foreign(parts)).and_then(|data| std::str::from_utf8(data).ok());
        let response = text.and_then(|text| spans.read(text, Of::Object(&RESPONSE)).ok());
        let Some(response) = response.filter(|response| response.is_object()) else {
            // A refusal takes the place of a body that cannot be built upon.
            if !matches!(closing, Closing::Refused(_)) {
                self.foreign(parts, into);
            }
            return;
        };
        if ends && let Some(patched) = patch(&mut self.state.turns, response, parts) {
            let patched = Some(patched).filter(|patched| Some(&**patched) != text);
            return self.raw(patched, parts, into);
        }
        into.extend(rebuild(&mut self.state.turns, response, parts, closing).map(Some));
    }

    /// Writes a response as it is, after the notice where it finishes an answer of which nothing is left.
    fn raw(&mut self, response: Response, parts: &[Part], into: &mut Vec<Response>) {
        let mut notices = Vec::new();
        for part in parts {
            notices.extend(self.state.turns.book(part, part.fate));
        }
        self.notices(&notices, into);
        into.push(response);
    }

    /// Writes what is no response: it leaves as it came or not at all, and insertions stand beside it.
    fn foreign(&mut self, parts: &[Part], into: &mut Vec<Response>) {
        let whole = parts.iter().all(|part| matches!(part.fate, Fate::Kept | Fate::Inserted));
        let mut drafts = Vec::new();
        let mut written = false;
        for part in parts {
            if part.fate == Fate::Inserted
                && let Some(made) = inserted(&mut self.state.turns, &part.delta)
            {
                let choice = part.delta.choice.unwrap_or_default();
                draft(&mut drafts, choice).parts.push(made.into());
            }
            let notices = self.state.turns.book(part, part.fate);
            if part.fate != Fate::Inserted {
                self.made(&std::mem::take(&mut drafts), into);
                self.notices(&notices, into);
                if whole && !written {
                    written = true;
                    into.push(None);
                }
            }
        }
        self.made(&drafts, into);
    }

    fn notices(&self, notices: &[(u32, Text)], into: &mut Vec<Response>) {
        let drafts = notices
            .iter()
            .map(|(choice, notice)| Draft::of(*choice, templates::text(Channel::Content, notice, None)));
        self.made(&drafts.collect::<Vec<_>>(), into);
    }

    fn made(&self, drafts: &[Draft<'_>], into: &mut Vec<Response>) {
        if !drafts.is_empty() {
            into.push(Some(templates::response(drafts, &self.names()).finish()));
        }
    }

    /// The response that refuses the choices.
    pub(super) fn refusal(&self, choices: &[u32], message: &str) -> Object {
        let mut drafts: Vec<Draft<'_>> = choices.iter().map(|choice| Draft::new(*choice)).collect();
        drafts.iter_mut().for_each(|draft| draft.refuse(message));
        let mut envelope = Vec::from_iter(field([self.state.usage.as_ref()], "usageMetadata"));
        envelope.extend(self.names());
        templates::response(&drafts, &envelope)
    }

    /// What responses of one stream have in common.
    fn names(&self) -> Vec<(&'static str, String)> {
        let told = [self.latest.as_ref(), self.state.usage.as_ref()];
        ["modelVersion", "responseId"].into_iter().filter_map(|name| field(told, name)).collect()
    }

    /// Writes a response as an event.
    fn event(&mut self, json: &str, out: &mut Vec<Bytes>) {
        let json = &*self.in_order(json);
        let placed = self.state.by_position().then(|| placed(json)).flatten();
        self.state.sink.event(None, placed.as_deref().unwrap_or(json), out);
    }

    /// A response in which several candidates stand at their numbers: some clients go by position, some by number.
    pub(super) fn in_order<'j>(&self, json: &'j str) -> Cow<'j, str> {
        let ordered = self.state.normalise.then(|| in_order(json)).flatten();
        ordered.map_or(Cow::Borrowed(json), Cow::Owned)
    }

    /// What is not plain about a frame, given what the request asked for.
    fn odd(&self, frame: &Frame, parts: &[Part]) -> Option<Odd> {
        let is_second = |part: &Part| part.delta.choice.is_some_and(|number| number > 0);
        let hollow = || {
            let data = frame.data().or_else(|| frame.lenient_data());
            data.is_some_and(|data| std::str::from_utf8(&data).is_ok_and(has_hollow))
        };
        let misplaced = |part: &Part| {
            let number =
                part.delta.choice.filter(|_| part.fate != Fate::Inserted && part.delta.place.inner != BESIDE);
            number.is_some_and(|number| locate(part.delta.place.outer).1 != number as usize)
        };
        let is_odd = parts.iter().any(misplaced) || (parts.iter().any(is_second) && hollow());
        let position = self.state.by_position() && is_odd;
        position.then_some(Odd::Position).or(frame.odd())
    }
}

impl Grammar for GeminiWriter {
    type Own = CallTrail;

    const REFUSAL: RefusalRule = RefusalRule::Each;

    fn state(&self) -> &WireState<CallTrail> {
        &self.state
    }

    fn state_mut(&mut self) -> &mut WireState<CallTrail> {
        &mut self.state
    }

    fn frame(&mut self, outgoing: Outgoing, out: &mut Vec<Bytes>) {
        let Outgoing { frame, mut parts } = outgoing;
        let mut data = None;
        if let Some(frame) = &frame {
            let odd = self.odd(frame, &parts);
            self.state.enter(frame, odd, &mut parts);
            if self.state.odd.is_some() && parts.is_empty() {
                return;
            }
            data = writer::data(frame);
            self.state.sink.learn(frame, data.as_deref());
        }
        if let Some(data) = &data {
            self.remember(data, &parts);
        }
        let mut responses = std::mem::take(&mut self.responses);
        self.response(data.as_deref(), &parts, Closing::Own, &mut responses);
        for response in responses.drain(..) {
            match (response, &frame) {
                (Some(json), _) => self.event(&json, out),
                (None, Some(_)) if self.state.odd.is_some() => {
                    // Comments, and lines that say nothing, do not leave.
                    if let Some(json) = data.as_deref().and_then(|data| std::str::from_utf8(data).ok()) {
                        self.event(json, out);
                    }
                }
                (None, Some(frame)) => self.state.sink.raw(frame, out),
                (None, None) => {}
            }
        }
        self.responses = responses;
    }

    fn refuse(&mut self, choices: &[u32], message: &str, out: &mut Vec<Bytes>) {
        self.emit(MadeEvent::unnamed(self.refusal(choices, message)), out);
    }

    fn emit(&mut self, event: MadeEvent, out: &mut Vec<Bytes>) {
        self.event(&event.data.finish(), out);
    }
}

/// The response with each of several candidates at its number, behind empty ones where it has to; `None` if they are there.
fn in_order(json: &str) -> Option<String> {
    let items = json::items(json::member(json, "candidates")?)?;
    let number = |(position, item): (usize, &&str)| {
        json::member(item, "index").and_then(json::count).unwrap_or(position as u64)
    };
    let numbers: Vec<u64> = items.iter().enumerate().map(number).collect();
    if numbers.len() < 2 || numbers.iter().copied().eq(0..numbers.len() as u64) {
        return None;
    }
    let at = |number: u64| numbers.iter().position(|other| *other == number).map(|at| items[at].to_owned());
    let all = (0..=numbers.iter().copied().max()?)
        .map(|number| at(number).unwrap_or_else(|| templates::no_candidate(number)));
    Some(json::set(json, &[("candidates", &json::array(all))]))
}

/// The response with empty candidates before its only one, where that has a higher number than its position: a reader of
/// the first candidate and a reader by `index` find the same. One of several has content if another stands behind it.
fn placed(json: &str) -> Option<String> {
    let items = json::items(json::member(json, "candidates")?)?;
    let (last, before) = items.split_last()?;
    let number = if before.is_empty() { json::member(last, "index").and_then(json::count)? } else { 0 };
    if number == 0 && !before.iter().any(|item| is_hollow(item)) {
        return None;
    }
    let empty = (0..number).map(templates::no_candidate);
    let filled = before.iter().map(|item| match is_hollow(item) {
        true => json::map(item, |name, raw| (name != "content").then_some(raw.into()))
            .raw("content", templates::NO_CONTENT)
            .finish(),
        false => (*item).to_owned(),
    });
    let all = json::array(empty.chain(filled).chain([(*last).to_owned()]));
    Some(json::set(json, &[("candidates", &all)]))
}

/// Whether a candidate without content stands before another one.
fn has_hollow(json: &str) -> bool {
    let items = json::member(json, "candidates").and_then(json::items);
    let before = items.as_deref().and_then(<[_]>::split_last).map_or(&[][..], |(_, before)| before);
    before.iter().any(|item| is_hollow(item))
}

/// Whether a candidate has no content: litellm passes over it, and takes the next for the first.
fn is_hollow(item: &str) -> bool {
    json::member(item, "content").is_none_or(|content| content == "null")
}

/// A top-level field of the first frame that has it.
fn field<'b>(
    frames: impl IntoIterator<Item = Option<&'b Bytes>>,
    name: &'static str,
) -> Option<(&'static str, String)> {
    frames.into_iter().flatten().find_map(|data| {
        let text = std::str::from_utf8(data).ok()?;
        Some((name, json::member(text, name)?.to_owned()))
    })
}

/// Whether the data was read as one thing that is not of this format.
fn is_foreign(parts: &[Part]) -> bool {
    let beside = |part: &Part| part.delta.place.inner == BESIDE;
    parts.iter().any(|part| beside(part) && matches!(part.delta.kind, DeltaKind::Opaque { .. }))
}
