//! Writing: events, insertions, endings and whole bodies.

use bytes::Bytes;

use super::calls::CandidateLedger;
use super::grammar::RESPONSE;
use super::made::{self, Draft, draft};
use super::read::{BESIDE, locate};
use super::rebuild::{Closing, inserted, patch, rebuild};
use crate::delta::{Channel, DeltaKind, Text};
use crate::json;
use crate::sse::Frame;
use crate::wire::document::{Of, Spans};
use crate::wire::sink::Sink;
use crate::wire::{Ending, EndingKind, Fate, Odd, Outgoing, Part, Writer, WriterOptions, without_stray};

/// Writes one Gemini response.
#[derive(Debug)]
pub(super) struct GeminiWriter {
    normalise: bool,
    /// Candidates are put where a reader by position finds them, too: the request did not ask for several.
    places: bool,
    /// Why the frame that was written last was normalised.
    normalised: Option<Odd>,
    pub(super) ledger: CandidateLedger,
    pub(super) latest: Latest,
    sink: Sink,
    /// Empty between frames; kept so that an untouched frame allocates nothing.
    responses: Vec<Response>,
}

/// A response made here; `None` for the one that came, as it came.
pub(super) type Response = Option<String>;

impl GeminiWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self {
            normalise: options.normalise,
            places: options.normalise && !options.several,
            normalised: None,
            ledger: CandidateLedger::new(options),
            latest: Latest::default(),
            sink: Sink::following(),
            responses: Vec::new(),
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
        if ends && self.ledger.leaves_alone(parts) {
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
        if ends && let Some(patched) = patch(&mut self.ledger, response, parts) {
            let patched = Some(patched).filter(|patched| Some(&**patched) != text);
            return self.raw(patched, parts, into);
        }
        into.extend(rebuild(&mut self.ledger, response, parts, closing).map(Some));
    }

    /// Writes a response as it is, after the notice where it finishes an answer of which nothing is left.
    fn raw(&mut self, response: Response, parts: &[Part], into: &mut Vec<Response>) {
        let mut notices = Vec::new();
        for part in parts {
            notices.extend(self.ledger.note(part, part.fate));
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
                && let Some(made) = inserted(&mut self.ledger, &part.delta)
            {
                let choice = part.delta.choice.unwrap_or_default();
                draft(&mut drafts, choice).parts.push(made.into());
            }
            let notices = self.ledger.note(part, part.fate);
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
            .map(|(choice, notice)| Draft::of(*choice, made::text(Channel::Content, notice, None)));
        self.made(&drafts.collect::<Vec<_>>(), into);
    }

    fn made(&self, drafts: &[Draft<'_>], into: &mut Vec<Response>) {
        if !drafts.is_empty() {
            into.push(Some(made::response(drafts, &self.latest.names())));
        }
    }

    /// The response that refuses the choices.
    pub(super) fn refusal(&self, choices: &[u32], message: &str) -> String {
        let mut drafts: Vec<Draft<'_>> = choices.iter().map(|choice| Draft::new(*choice)).collect();
        drafts.iter_mut().for_each(|draft| draft.refuse(message));
        let mut envelope = Vec::from_iter(self.latest.usage());
        envelope.extend(self.latest.names());
        made::response(&drafts, &envelope)
    }

    /// Writes a response as an event.
    fn event(&mut self, json: &str, out: &mut Vec<Bytes>) {
        let padded = self.places.then(|| padded(json)).flatten();
        self.sink.event(None, padded.as_deref().unwrap_or(json), out);
    }

    /// What is not plain about a frame, given what the request asked for.
    fn odd(&self, frame: &Frame, parts: &[Part]) -> Option<Odd> {
        let misplaced = |part: &Part| {
            let number =
                part.delta.choice.filter(|_| part.fate != Fate::Inserted && part.delta.place.inner != BESIDE);
            number.is_some_and(|number| locate(part.delta.place.outer).1 != number as usize)
        };
        let position = (self.places && parts.iter().any(misplaced)).then_some(Odd::Position);
        position.or(frame.odd()).filter(|_| self.normalise)
    }
}

impl Writer for GeminiWriter {
    fn frame(&mut self, frame: Outgoing, out: &mut Vec<Bytes>) {
        let Outgoing { frame, mut parts } = frame;
        let odd = frame.as_ref().and_then(|frame| self.odd(frame, &parts));
        if parts.iter().all(|part| part.fate == Fate::Kept) {
            self.normalised = odd;
        }
        if let (Some(_), Some(frame)) = (odd, &frame) {
            without_stray(frame, &mut parts);
            if parts.is_empty() {
                return;
            }
        }
        let data = frame.as_ref().and_then(|frame| frame.data().or_else(|| frame.lenient_data()));
        if let Some(frame) = &frame {
            self.sink.learn(frame, data.as_deref());
        }
        if let Some(data) = &data {
            self.latest.learn(data, &parts);
        }
        let mut responses = std::mem::take(&mut self.responses);
        self.response(data.as_deref(), &parts, Closing::Own, &mut responses);
        for response in responses.drain(..) {
            match (response, &frame) {
                (Some(json), _) => self.event(&json, out),
                (None, Some(_)) if odd.is_some() => {
                    // Comments, and lines that say nothing, do not leave.
                    if let Some(json) = data.as_deref().and_then(|data| std::str::from_utf8(data).ok()) {
                        self.event(json, out);
                    }
                }
                (None, Some(frame)) => self.sink.raw(frame, out),
                (None, None) => {}
            }
        }
        self.responses = responses;
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        if self.ledger.turns.has_ended() {
            return;
        }
        let refusable = match ending.kind {
            EndingKind::Refuse => self.ledger.turns.refusable(false),
            EndingKind::Error => None,
        };
        let json = match refusable {
            Some(choices) => self.refusal(&choices, &ending.message),
            None => made::error(ending),
        };
        self.ledger.turns.end();
        self.event(&json, out);
    }

    fn keep_alive(&self) -> Bytes {
        // An empty line: Google's own SDK fails on comments (rule 23).
        Bytes::from_static(self.sink.line_end().as_bytes())
    }

    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes {
        self.whole_body(&body, ending)
    }

    fn ended(&self) -> bool {
        self.ledger.turns.has_ended()
    }

    fn normalised(&mut self) -> Option<Odd> {
        self.normalised.take()
    }
}

/// The response with empty candidates before its only one, where that has a higher number than its position: a reader of
/// the first candidate and a reader by `index` find the same.
fn padded(json: &str) -> Option<String> {
    let candidates = json::member(json, "candidates")?;
    let items = json::items(candidates)?;
    let [item] = items[..] else { return None };
    let number = json::member(item, "index").and_then(json::count).filter(|number| *number > 0)?;
    let before = (0..number).map(|number| format!(r#"{{"index":{number}}}"#));
    let all = json::array(before.chain([item.to_owned()]));
    Some(json::set(json, &[("candidates", &all)]))
}

/// The frames that told last what endings and insertions repeat; they are read only if it comes to that.
#[derive(Debug, Default)]
pub(super) struct Latest {
    usage: Option<Bytes>,
    latest: Option<Bytes>,
}

impl Latest {
    pub(super) fn learn(&mut self, data: &Bytes, parts: &[Part]) {
        if parts.iter().any(|part| matches!(part.delta.kind, DeltaKind::Usage(_))) {
            self.usage = Some(data.clone());
        }
        if parts.iter().any(|part| part.delta.choice.is_some()) {
            self.latest = Some(data.clone());
        }
    }

    fn usage(&self) -> Option<(&'static str, String)> {
        field([self.usage.as_ref()], "usageMetadata")
    }

    fn names(&self) -> Vec<(&'static str, String)> {
        let told = [self.latest.as_ref(), self.usage.as_ref()];
        ["modelVersion", "responseId"].into_iter().filter_map(|name| field(told, name)).collect()
    }
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
