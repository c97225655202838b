//! Writing: events, insertions, endings and whole bodies.

use std::borrow::Cow;

use bytes::Bytes;

use super::calls::CallTrail;
use super::grammar::{RESPONSE, is_error, is_foreign, is_part, number};
use super::rebuild::{Came, Closing, inserted, patch, rebuild};
use super::templates::{self, Draft, draft};
use crate::delta::{Channel, Text};
use crate::json::{self, Object};
use crate::sse::Frame;
use crate::wire::document::{self, Of, Spans, Value};
use crate::wire::sink::Sink;
use crate::wire::template::MadeEvent;
use crate::wire::turn::RefusalRule;
use crate::wire::writer::{self, Grammar, WireState};
use crate::wire::{Fate, Odd, Outgoing, Part, WriterOptions};

/// Writes one Gemini response.
#[derive(Debug)]
pub(super) struct GeminiWriter {
    pub(super) state: WireState<CallTrail>,
    /// The data of the last frame with a choice: made responses repeat its model and id.
    latest: Option<Bytes>,
    /// Scratch space, empty between frames, so that an untouched frame allocates nothing.
    responses: Vec<Response>,
}

/// A response to write; `None` is the upstream's response, unchanged.
pub(super) type Response = Option<String>;

impl GeminiWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self { state: WireState::new(options, Sink::following()), latest: None, responses: Vec::new() }
    }

    /// Keeps the last frames whose names and token counts endings and insertions repeat.
    pub(super) fn remember(&mut self, data: &Bytes, parts: &[Part]) {
        self.state.remember_usage(data, parts);
        if parts.iter().any(|part| part.delta.choice.is_some()) {
            self.latest = Some(data.clone());
        }
    }

    /// Writes a response: unchanged, patched, or anew from its parts.
    pub(super) fn response(
        &mut self,
        came: Option<Came<'_>>,
        parts: &[Part],
        closing: Closing<'_>,
        into: &mut Vec<Response>,
    ) {
        let ends = matches!(closing, Closing::Own);
        if ends && self.state.turns.leaves_alone(parts) {
            return self.raw(None, parts, into);
        }
        if ends && parts.iter().any(|part| is_error(&part.delta)) {
            return self.error(came, parts, into);
        }
        let came = came.filter(|_| !parts.iter().any(|part| is_foreign(&part.delta)));
        if ends
            && let Some(came) = came
            && let Some(patched) = patch(&mut self.state.turns, came, parts)
        {
            let patched = Some(patched).filter(|patched| patched != came.text());
            return self.raw(patched, parts, into);
        }
        let mut spans = Spans::default();
        let response = came.and_then(|came| {
            let response = spans.read(came.text(), Of::Object(&RESPONSE)).ok()?;
            response.is_object().then_some((came.data, response))
        });
        let Some((data, response)) = response else {
            // A refusal replaces a body that is no response.
            if !matches!(closing, Closing::Refused(_)) {
                self.foreign(parts, into);
            }
            return;
        };
        into.extend(rebuild(&mut self.state.turns, data, response, parts, closing).map(Some));
    }

    /// Writes a response as it is, after the notices for emptied turns that finish in the response.
    fn raw(&mut self, response: Response, parts: &[Part], into: &mut Vec<Response>) {
        let mut notices = Vec::new();
        for part in parts {
            notices.extend(self.state.turns.book(part, part.fate));
        }
        self.notices(&notices, into);
        into.push(response);
    }

    /// Writes an error, unless it was dropped. Clients read nothing beside it: what is inserted stands before.
    fn error(&mut self, came: Option<Came<'_>>, parts: &[Part], into: &mut Vec<Response>) {
        let (made, own): (Vec<Part>, Vec<Part>) =
            parts.iter().cloned().partition(|part| part.fate == Fate::Inserted);
        self.foreign(&made, into);
        if !own.iter().any(|part| is_error(&part.delta) && part.fate != Fate::Dropped) {
            own.iter().for_each(|part| drop(self.state.turns.book(part, part.fate)));
        } else if own.iter().all(|part| part.fate == Fate::Kept) {
            self.raw(None, &own, into);
        } else if let Some(came) = came {
            let mut spans = Spans::default();
            let response = spans.read(came.text(), Of::Object(&RESPONSE)).ok();
            let rebuilt = response
                .and_then(|response| rebuild(&mut self.state.turns, came.data, response, &own, Closing::Own));
            into.extend(rebuilt.map(Some));
        }
    }

    /// Writes a document of another format: unchanged or not at all, with insertions in responses of their own.
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
        let usage = self.state.usage_at(&["usageMetadata"]);
        let mut envelope = Vec::from_iter(usage.map(|usage| ("usageMetadata", usage.to_owned())));
        envelope.extend(self.names());
        templates::response(&drafts, &envelope)
    }

    /// The names that responses of one stream have in common.
    fn names(&self) -> Vec<(&'static str, String)> {
        let told = [self.latest.as_ref(), self.state.usage.as_ref()];
        ["modelVersion", "responseId"].into_iter().filter_map(|name| field(told, name)).collect()
    }

    /// Writes a response as an event.
    fn event(&mut self, json: &str, out: &mut Vec<Bytes>) {
        let json = self.in_order(json, self.state.by_position());
        self.state.sink.event(None, &json, out);
    }

    /// A response whose candidates stand at the positions of their numbers, since some clients go by position and some by number.
    /// With `by_position` this holds for a lone candidate too, and a candidate before another one has content.
    pub(super) fn in_order<'j>(&self, json: &'j str, by_position: bool) -> Cow<'j, str> {
        if !self.state.normalise {
            return Cow::Borrowed(json);
        }
        document::rewrite(json, Of::Object(&RESPONSE), |response, rewrite| {
            if let Some(came) = response.get("candidates")
                && let Some(ordered) = in_order(came, by_position)
            {
                rewrite.set(came, ordered);
            }
        })
    }

    /// The reason why a frame is not plain, given the number of choices that the request asked for.
    fn odd(&self, frame: &Frame, parts: &[Part]) -> Option<Odd> {
        let is_second = |part: &Part| part.delta.choice.is_some_and(|number| number > 0);
        let hollow = || {
            let data = writer::data(frame).unwrap_or_default();
            let mut spans = Spans::default();
            let response = spans.probe(&data, Of::Object(&RESPONSE));
            let candidates = response.and_then(|response| response.get("candidates"));
            candidates.is_some_and(|candidates| has_hollow(candidates.items()))
        };
        let misplaced = |part: &Part| {
            let number = part.delta.choice.filter(|_| part.came() && is_part(&part.delta));
            number.is_some_and(|number| part.delta.site.position != number)
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
        let json = data.as_deref().and_then(|data| std::str::from_utf8(data).ok());
        self.response(json.map(Came::all), &parts, Closing::Own, &mut responses);
        for response in responses.drain(..) {
            match (response, &frame) {
                (Some(json), _) => self.event(&json, out),
                (None, Some(_)) if self.state.odd.is_some() => {
                    // Comments, and lines without data, are not written.
                    if let Some(json) = json {
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

/// The candidates at the positions of their numbers, with empty candidates in between; `None` if they already are. A lone
/// candidate is moved only `by_position`.
fn in_order(candidates: Value<'_>, by_position: bool) -> Option<String> {
    let came: Vec<Value<'_>> = candidates.items().collect();
    let numbers: Vec<u32> = came
        .iter()
        .enumerate()
        .map(|(position, candidate)| number(*candidate, position).unwrap_or(position as u32))
        .collect();
    let is_ordered =
        numbers.iter().copied().eq(0..numbers.len() as u32) || (numbers.len() < 2 && !by_position);
    if is_ordered && !(by_position && has_hollow(came.iter().copied())) {
        return None;
    }
    let last = numbers.iter().copied().max()?;
    let own = |at| numbers.iter().position(|number| *number == at).map(|position| came[position]);
    let all = (0..=last).map(|at| match own(at) {
        None => templates::no_candidate(at.into()),
        Some(hollow) if by_position && at < last && is_hollow(hollow) => {
            let kept = json::map(hollow.raw(), |name, raw| (name != "content").then_some(raw.into()));
            kept.raw("content", templates::NO_CONTENT).finish()
        }
        Some(candidate) => candidate.raw().to_owned(),
    });
    Some(json::array(all))
}

/// Whether a candidate without content stands before another one.
fn has_hollow<'d>(candidates: impl Iterator<Item = Value<'d>>) -> bool {
    let mut candidates = candidates.peekable();
    std::iter::from_fn(|| candidates.next().filter(|_| candidates.peek().is_some())).any(is_hollow)
}

/// Whether a candidate has no content: litellm skips such a candidate, and takes the next for the first.
fn is_hollow(candidate: Value<'_>) -> bool {
    candidate.get("content").is_none()
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
