//! Writing: events, insertions, endings and whole bodies.

use bytes::Bytes;

use super::document::{self, Document};
use super::ledger::Ledger;
use super::parts::{self, Draft, draft};
use super::read::{BESIDE, locate};
use super::rebuild::{Closing, inserted, patch, rebuild};
use crate::delta::{Channel, DeltaKind, Text};
use crate::json;
use crate::sse::{self, Frame};
use crate::wire::{Ending, EndingKind, Fate, Odd, Outgoing, Part, Writer, WriterOptions, without_stray};

/// Writes one Gemini response.
#[derive(Debug)]
pub(super) struct GeminiWriter {
    notice: Option<Text>,
    normalise: bool,
    /// Candidates are put where a reader by position finds them, too: the request did not ask for several.
    places: bool,
    /// Why the frame that was written last was normalised.
    normalised: Option<Odd>,
    ledger: Ledger,
    known: Known,
    /// The line end of the stream: CRLF from Google, LF from many others.
    line_end: &'static str,
    /// What the bytes that left last lack to an event border.
    border: &'static str,
    /// Empty between frames; kept so that an untouched frame allocates nothing.
    chunks: Vec<Chunk>,
}

/// One thing to write.
#[derive(Debug)]
enum Chunk {
    /// The response as it came.
    Raw,
    /// A response made here.
    Made(String),
}

impl GeminiWriter {
    pub(super) fn new(options: &WriterOptions) -> Self {
        Self {
            notice: options.empty_notice.clone(),
            normalise: options.normalise,
            places: options.normalise && !options.several,
            normalised: None,
            ledger: Ledger::default(),
            known: Known::default(),
            line_end: LF,
            border: "",
            chunks: Vec::new(),
        }
    }

    /// Decides how a response is written. `data` is its JSON, where it is one.
    fn response(
        &mut self,
        data: Option<&[u8]>,
        parts: &[Part],
        closing: Closing<'_>,
        chunks: &mut Vec<Chunk>,
    ) {
        let ends = matches!(closing, Closing::Own(_));
        if ends && self.ledger.leaves_alone(parts) {
            return self.raw(Chunk::Raw, parts, chunks);
        }
        let text = data.filter(|_| !is_foreign(parts)).and_then(|data| std::str::from_utf8(data).ok());
        let Some((text, document)) = text.and_then(|text| Some((text, Document::read(text)?))) else {
            // A refusal takes the place of a body that cannot be built upon.
            if !matches!(closing, Closing::Refused(_)) {
                self.foreign(parts, chunks);
            }
            return;
        };
        if ends && let Some(patched) = patch(&mut self.ledger, text, parts) {
            let chunk = if patched == text { Chunk::Raw } else { Chunk::Made(patched) };
            return self.raw(chunk, parts, chunks);
        }
        chunks.extend(rebuild(&mut self.ledger, &document, parts, closing).map(Chunk::Made));
    }

    /// Writes a response as it is, after the notice where it finishes an answer of which nothing is left.
    fn raw(&mut self, chunk: Chunk, parts: &[Part], chunks: &mut Vec<Chunk>) {
        let mut empty = Vec::new();
        for part in parts {
            self.ledger.note(part, part.fate, &mut empty);
        }
        self.notices(&empty, chunks);
        chunks.push(chunk);
    }

    /// Writes what is no response: it leaves as it came or not at all, and insertions stand beside it.
    fn foreign(&mut self, parts: &[Part], chunks: &mut Vec<Chunk>) {
        let whole = parts.iter().all(|part| matches!(part.fate, Fate::Kept | Fate::Inserted));
        let mut drafts = Vec::new();
        let mut written = false;
        for part in parts {
            let mut empty = Vec::new();
            if part.fate == Fate::Inserted
                && let Some(made) = inserted(&mut self.ledger, &part.delta)
            {
                let choice = part.delta.choice.unwrap_or_default();
                draft(&mut drafts, choice).parts.push(made.into());
            }
            self.ledger.note(part, part.fate, &mut empty);
            if part.fate != Fate::Inserted {
                self.made(&mut drafts, chunks);
                self.notices(&empty, chunks);
                if whole && !written {
                    written = true;
                    chunks.push(Chunk::Raw);
                }
            }
        }
        self.made(&mut drafts, chunks);
    }

    fn notices(&self, choices: &[u32], chunks: &mut Vec<Chunk>) {
        let Some(notice) = &self.notice else { return };
        let mut drafts = Vec::new();
        for choice in choices {
            draft(&mut drafts, *choice).parts.push(parts::text(Channel::Content, notice, None).into());
        }
        self.made(&mut drafts, chunks);
    }

    fn made(&self, drafts: &mut Vec<Draft<'_>>, chunks: &mut Vec<Chunk>) {
        if !drafts.is_empty() {
            chunks.push(Chunk::Made(document::response(drafts, &self.known.names())));
            drafts.clear();
        }
    }

    /// The response that refuses the choices.
    fn refusal(&self, choices: &[u32], message: &str) -> String {
        let mut drafts: Vec<Draft<'_>> = choices.iter().map(|choice| Draft::new(*choice)).collect();
        drafts.iter_mut().for_each(|draft| draft.refuse(message));
        let mut envelope = Vec::from_iter(self.known.usage());
        envelope.extend(self.known.names());
        document::response(&drafts, &envelope)
    }

    /// An event of the stream.
    fn event(&self, json: &str) -> Bytes {
        match self.places.then(|| padded(json)).flatten() {
            Some(padded) => sse::event(None, &padded, self.line_end),
            None => sse::event(None, json, self.line_end),
        }
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

    fn push(&mut self, event: Bytes, out: &mut Vec<Bytes>) {
        self.restore_border(out);
        out.push(event);
    }

    fn restore_border(&mut self, out: &mut Vec<Bytes>) {
        if !self.border.is_empty() {
            out.push(Bytes::from_static(self.border.as_bytes()));
            self.border = "";
        }
    }

    /// What the frame lacks to an event border.
    fn missing(&self, frame: &Frame) -> &'static str {
        match frame.raw().last() {
            _ if frame.is_terminated() => "",
            Some(b'\n') => self.line_end,
            // The CR of a CRLF that was cut in two.
            Some(b'\r') => "\n\r\n",
            _ if self.line_end == CRLF => "\r\n\r\n",
            _ => "\n\n",
        }
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
        if let Some(frame) = frame.as_ref().filter(|frame| frame.is_terminated()) {
            self.line_end = if frame.raw().ends_with(b"\r\n") { CRLF } else { LF };
        }
        if let Some(data) = &data {
            self.known.learn(data, &parts);
        }
        let notice = self.notice.clone();
        let mut chunks = std::mem::take(&mut self.chunks);
        self.response(data.as_deref(), &parts, Closing::Own(notice.as_deref()), &mut chunks);
        for chunk in chunks.drain(..) {
            match (chunk, &frame) {
                (Chunk::Made(json), _) => {
                    let event = self.event(&json);
                    self.push(event, out);
                }
                (Chunk::Raw, Some(_)) if odd.is_some() => {
                    // Comments, and lines that say nothing, do not leave.
                    if let Some(json) = data.as_deref().and_then(|data| std::str::from_utf8(data).ok()) {
                        let event = self.event(json);
                        self.push(event, out);
                    }
                }
                (Chunk::Raw, Some(frame)) => {
                    self.push(frame.raw().clone(), out);
                    self.border = self.missing(frame);
                }
                (Chunk::Raw, None) => {}
            }
        }
        self.chunks = chunks;
    }

    fn end(&mut self, ending: &Ending, out: &mut Vec<Bytes>) {
        if self.ledger.has_ended() {
            return;
        }
        let refusable = match ending.kind {
            EndingKind::Refuse => self.ledger.refusable(),
            EndingKind::Error => None,
        };
        let json = match refusable {
            Some(choices) => self.refusal(&choices, &ending.message),
            None => document::error(&ending.message),
        };
        self.ledger.end();
        let event = self.event(&json);
        self.push(event, out);
    }

    fn keep_alive(&self) -> Bytes {
        // An empty line: Google's own SDK fails on comments (rule 23).
        Bytes::from_static(self.line_end.as_bytes())
    }

    fn whole(&mut self, body: Outgoing, ending: Option<&Ending>) -> Bytes {
        // Of a body that could not be read there is no frame, and an ending all the same.
        let data = body.frame.as_ref().and_then(Frame::data).unwrap_or_default();
        let text = std::str::from_utf8(&data).unwrap_or_default();
        let elements = if text.trim_start().starts_with('[') { json::items(text) } else { None };
        let array = elements.is_some();
        let elements = elements.unwrap_or_else(|| vec![text]);
        let list = |responses: Vec<String>| match responses {
            responses if array => json::array(responses),
            mut responses => responses.pop().unwrap_or_else(|| "{}".into()),
        };
        let notice = self.notice.clone();
        let closing = match ending {
            None => Closing::Own(notice.as_deref()),
            Some(Ending { kind: EndingKind::Error, message }) => {
                self.ledger.end();
                return list(vec![document::error(message)]).into();
            }
            Some(_) if array => Closing::Later,
            Some(Ending { message, .. }) => Closing::Refused(message),
        };
        let mut responses = Vec::new();
        let mut untouched = true;
        let mut rest = &body.parts[..];
        for (element, text) in elements.into_iter().enumerate() {
            let (parts, later) = rest.split_at(belonging(rest, element));
            rest = later;
            self.known.learn(&data.slice_ref(text.as_bytes()), parts);
            let mut chunks = Vec::new();
            self.response(Some(text.as_bytes()), parts, closing, &mut chunks);
            untouched &= matches!(chunks[..], [Chunk::Raw]);
            responses.extend(chunks.into_iter().map(|chunk| match chunk {
                Chunk::Raw => text.to_owned(),
                Chunk::Made(json) => json,
            }));
        }
        self.ledger.end();
        match ending {
            None if untouched => return data,
            Some(ending) if array || responses.is_empty() => {
                responses.push(self.refusal(&self.ledger.numbers(), &ending.message));
            }
            _ => {}
        }
        list(responses).into()
    }

    fn ended(&self) -> bool {
        self.ledger.has_ended()
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
    Some(json::patch(json, &[(&[json::At::Key("candidates")], &all)]))
}

/// The frames that told last what endings and insertions repeat; they are read only if it comes to that.
#[derive(Debug, Default)]
struct Known {
    usage: Option<Bytes>,
    latest: Option<Bytes>,
}

impl Known {
    fn learn(&mut self, data: &Bytes, parts: &[Part]) {
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

/// How many of the parts stand in this element of the array, or were put in there.
fn belonging(parts: &[Part], element: usize) -> usize {
    let beyond = |part: &Part| part.fate != Fate::Inserted && locate(part.delta.place.outer).0 > element;
    parts.iter().position(beyond).unwrap_or(parts.len())
}

const LF: &str = "\n";
const CRLF: &str = "\r\n";
