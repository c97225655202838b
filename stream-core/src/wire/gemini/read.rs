//! Reading: a `GenerateContentResponse` becomes deltas.

use std::borrow::Cow;

use super::grammar::{MEDIA, RESPONSE, RESPONSES, SCORES, is_server_kind, word};
use crate::delta::{
    CallDelta, Channel, Delta, DeltaKind, FinishKind, FinishReason, Runs, Slot, Text, UpstreamError, Usage,
};
use crate::wire::apis;
use crate::wire::document::{Of, Spans, Value, is_void};
use crate::wire::{DecodeError, Decoded};

/// The `inner` place of what belongs to a candidate, or to the event, rather than to one of its parts.
pub(super) const BESIDE: u32 = u32::MAX;

/// The `outer` place of the first candidate of an element. A whole body may be an array of responses: the element
/// stands in the upper bits, the candidate in the lower ones.
pub(super) fn outer(element: usize) -> usize {
    element << CANDIDATE_BITS
}

/// The element of the array, and the candidate in it, that an `outer` place means.
pub(super) fn locate(outer: u32) -> (usize, usize) {
    ((outer >> CANDIDATE_BITS) as usize, (outer & (CANDIDATES - 1)) as usize)
}

/// Reads the data of an event.
pub(super) fn event(data: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    // No server of Google's sends it, gateways that speak several formats do.
    if data == b"[DONE]" {
        into.deltas.push(Delta::stream(DeltaKind::Terminal).at(0, BESIDE as usize));
        return Ok(());
    }
    document(data, Of::Object(&RESPONSE), into).map(|_| ())
}

/// Reads a whole body: one response, or an array of what would have been events.
pub(super) fn whole(body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    let last = document(body, RESPONSES, into)?.saturating_sub(1);
    into.deltas.push(Delta::stream(DeltaKind::Terminal).at(outer(last), BESIDE as usize));
    Ok(())
}

/// Reads a document. Answers with how many responses it holds.
fn document(data: &[u8], of: Of, into: &mut Decoded) -> Result<usize, DecodeError> {
    let text = std::str::from_utf8(data).map_err(|error| DecodeError::new("UTF-8", error.to_string()))?;
    let mut spans = Spans::default();
    spans.decode(text, of, "a GenerateContentResponse").and_then(|document| {
        if !document.is_list() {
            return response(document, 0, into).map(|()| 1);
        }
        let elements = document.items().count();
        if elements > ELEMENTS {
            return Err(DecodeError::new(format!("at most {ELEMENTS} responses"), elements.to_string()));
        }
        document.items().enumerate().try_for_each(|(at, element)| response(element, at, into))?;
        Ok(elements)
    })
}

fn response(response: Value<'_>, element: usize, into: &mut Decoded) -> Result<(), DecodeError> {
    let base = outer(element);
    apis::one(into, response, &["choices"], &[])?;
    let is_own =
        response.known().any(|(name, value)| !matches!(&*name, "type" | "choices") && !value.is_null());
    if !is_own {
        let kind = response.get("type").and_then(Value::string).unwrap_or(Cow::Borrowed("unknown"));
        into.deltas.push(foreign(&kind, response.raw().len(), base));
        return Ok(());
    }
    let [message, block] = apis::OF_MESSAGES;
    apis::one(into, response, &[], &[apis::OF_RESPONSES, message, block])?;
    if into.wants_meta {
        into.id = into.id.take().or_else(|| word(response.get("responseId")));
        into.model = into.model.take().or_else(|| word(response.get("modelVersion")));
    }
    let before = into.deltas.len();
    let candidates = candidates(response, base, into)?;
    let beside = |delta: Delta| delta.at(base, BESIDE as usize);
    let feedback = response.get("promptFeedback").map(|feedback| feedback.expect_object("promptFeedback"));
    if let Some(reason) = feedback.transpose()?.and_then(|feedback| word(feedback.get("blockReason")))
        && candidates == 0
    {
        let finish = DeltaKind::Finish(FinishReason::new(FinishKind::Filter, reason));
        into.deltas.push(beside(Delta::new(0, Slot::None, finish)));
    }
    if let Some(counts) = response.get("usageMetadata") {
        into.deltas.push(beside(Delta::stream(DeltaKind::Usage(usage(counts)))));
    }
    if let Some(error) = response.get("error") {
        into.deltas.push(beside(Delta::stream(DeltaKind::Error(upstream_error(error)))));
    }
    if into.deltas.len() == before {
        into.deltas.push(beside(Delta::stream(DeltaKind::Meta)));
    }
    Ok(())
}

/// Reads the candidates. Answers with how many there are.
fn candidates(response: Value<'_>, base: usize, into: &mut Decoded) -> Result<usize, DecodeError> {
    let Some(list) = response.get("candidates") else { return Ok(0) };
    let count = list.expect_items("candidates")?.count();
    if count > CANDIDATES as usize {
        return Err(DecodeError::new(format!("at most {CANDIDATES} candidates"), count.to_string()));
    }
    for (position, candidate) in list.items().enumerate() {
        // Vertex leaves the index out; proto JSON leaves a zero out.
        let number = match candidate.get("index") {
            Some(index) => index
                .raw()
                .parse()
                .map_err(|_| DecodeError::new("a candidate's number as `index`", index.describe()))?,
            None => position as u32,
        };
        // Some clients go by position, some by number.
        if number >= MOST_CANDIDATES || (count > 1 && number as usize != position) {
            let found = format!("candidate {number} at position {position}");
            return Err(DecodeError::ambiguous("candidates in the order of their numbers", found));
        }
        let mut reader = CandidateReader { choice: number, outer: base + position, deltas: &mut into.deltas };
        if candidate.is_null() {
            reader.push(Slot::None, DeltaKind::Meta, BESIDE as usize);
        } else {
            reader.candidate(candidate.expect_object("candidates[]")?)?;
        }
    }
    Ok(count)
}

/// Reads one candidate.
struct CandidateReader<'d> {
    choice: u32,
    outer: usize,
    deltas: &'d mut Vec<Delta>,
}

impl CandidateReader<'_> {
    fn candidate(&mut self, candidate: Value<'_>) -> Result<(), DecodeError> {
        let before = self.deltas.len();
        let content = candidate.get("content").map(|content| content.expect_object("content")).transpose()?;
        if let Some(parts) = content.and_then(|content| content.get("parts")) {
            for (inner, part) in parts.expect_items("parts")?.enumerate() {
                if !part.is_null() {
                    self.part(part.expect_object("parts[]")?, inner)?;
                }
            }
        }
        let bare = self.deltas.len() == before;
        let finish = string(candidate, "finishReason")?.filter(|reason| !reason.is_empty());
        let logprobs = candidate.get("logprobsResult").is_some();
        // Grounding, citations, a finish message and what is not known yet can all hold copies of the text.
        let annotates =
            |(name, value): (Cow<'_, str>, Value<'_>)| !SCORES.contains(&&*name) && !is_void(value.raw());
        if logprobs || candidate.unknown().any(annotates) {
            // Without a part, log probabilities can spell what the next event says; unless there is none to come.
            let ahead = bare && logprobs && finish.is_none();
            self.push(Slot::Run, DeltaKind::Annotation { ahead }, BESIDE as usize);
        }
        if let Some(reason) = finish {
            let finish = FinishReason::new(finish_kind(&reason), reason);
            self.push(Slot::None, DeltaKind::Finish(finish), BESIDE as usize);
        }
        if self.deltas.len() == before {
            let role = content.is_some_and(|content| content.get("role").is_some());
            let kind = if role { DeltaKind::Role } else { DeltaKind::Meta };
            self.push(Slot::None, kind, BESIDE as usize);
        }
        Ok(())
    }

    fn part(&mut self, part: Value<'_>, inner: usize) -> Result<(), DecodeError> {
        let before = self.deltas.len();
        let is_thought = truth(part, "thought")?;
        if let Some(text) = string(part, "text")?.filter(|text| !text.is_empty()) {
            let channel = if is_thought { Channel::Reasoning } else { Channel::Content };
            self.push(Slot::Run, DeltaKind::Text { channel, text: text.into() }, inner);
        }
        if let Some(call) = part.get("functionCall") {
            self.call(call.expect_object("functionCall")?, inner)?;
        }
        for (at, (field, value)) in part.unknown().enumerate() {
            if is_server_kind(&field) && part.unknown().take(at).any(|(other, _)| other == field) {
                return Err(DecodeError::new("fields of a part that stand once", "one of them twice"));
            }
            if !value.is_null() && !MEDIA.contains(&&*field) {
                let runs = if is_server_kind(&field) { Runs::Server } else { Runs::Unknown };
                let kind = DeltaKind::Opaque { kind: field.into(), runs, bytes: value.raw().len() };
                self.push(Slot::None, kind, inner);
            }
        }
        let signed = string(part, "thoughtSignature")?.is_some_and(|signature| !signature.is_empty());
        if signed && self.deltas.len() == before {
            self.push(Slot::None, DeltaKind::Signature, inner);
        }
        Ok(())
    }

    fn call(&mut self, call: Value<'_>, inner: usize) -> Result<(), DecodeError> {
        let slot = Slot::Call { index: None };
        let filled = |name: &str| Ok(string(call, name)?.filter(|text| !text.is_empty()).map(Text::from));
        let id = filled("id")?.filter(|id| &**id != "null");
        let name = filled("name")?;
        let arguments = arguments(call);
        let starts = name.is_some();
        let continues = truth(call, "willContinue")?;
        if starts || arguments.is_some() || id.is_some() {
            let delta = CallDelta { id, name, arguments, starts, ..CallDelta::default() };
            self.push(slot, DeltaKind::Call(delta), inner);
        } else if continues {
            // Says that the open call goes on, and nothing else: it must not outlive that call.
            self.push(slot, DeltaKind::Annotation { ahead: false }, inner);
        }
        if !continues {
            self.push(slot, DeltaKind::Stop, inner);
        }
        Ok(())
    }

    fn push(&mut self, slot: Slot, kind: DeltaKind, inner: usize) {
        self.deltas.push(Delta::new(self.choice, slot, kind).at(self.outer, inner));
    }
}

/// What a `functionCall` adds to the arguments: its `args`, and its `partialArgs` as raw arrays, which
/// [`join_partial_args`](super::join_partial_args) puts together when all are there.
fn arguments(call: Value<'_>) -> Option<Text> {
    let whole = call.get("args").map(Value::raw);
    let partial = call.get("partialArgs").map(Value::raw).filter(|raw| !is_void(raw));
    match (whole, partial) {
        (Some(whole), Some(partial)) => Some([whole, partial].concat().into()),
        (raw, None) | (None, raw) => raw.map(Text::from),
    }
}

/// A field that has to be a string, if it is there.
fn string<'d>(object: Value<'d>, name: &str) -> Result<Option<Cow<'d, str>>, DecodeError> {
    object.get(name).map(|field| field.expect_string(name)).transpose()
}

/// A field that has to be a truth value, if it is there.
fn truth(object: Value<'_>, name: &str) -> Result<bool, DecodeError> {
    match object.get(name).map(|field| (field, field.raw())) {
        None | Some((_, "false")) => Ok(false),
        Some((_, "true")) => Ok(true),
        Some((field, _)) => Err(DecodeError::new(format!("a truth value as `{name}`"), field.describe())),
    }
}

fn foreign(kind: &str, bytes: usize, outer: usize) -> Delta {
    let kind = DeltaKind::Opaque { kind: kind.into(), runs: Runs::Unknown, bytes };
    Delta::new(0, Slot::None, kind).at(outer, BESIDE as usize)
}

fn finish_kind(word: &str) -> FinishKind {
    match word {
        "STOP" => FinishKind::Stop,
        "MAX_TOKENS" => FinishKind::Length,
        "SAFETY" | "RECITATION" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII" | "LANGUAGE" => {
            FinishKind::Filter
        }
        "IMAGE_SAFETY" | "IMAGE_PROHIBITED_CONTENT" | "IMAGE_RECITATION" | "MODEL_ARMOR" => {
            FinishKind::Filter
        }
        _ if word.starts_with("MALFORMED_") || word.starts_with("UNEXPECTED_") => FinishKind::Error,
        _ => FinishKind::Other,
    }
}

fn usage(counts: Value<'_>) -> Usage {
    let count = |name: &str| counts.get(name).and_then(|raw| raw.raw().parse::<u64>().ok());
    // Thoughts are counted apart here, and are part of the answer's count everywhere else.
    let output = match (count("candidatesTokenCount"), count("thoughtsTokenCount")) {
        (Some(candidates), Some(thoughts)) => Some(candidates.saturating_add(thoughts)),
        (candidates, thoughts) => candidates.or(thoughts),
    };
    Usage { input: count("promptTokenCount"), output, total: count("totalTokenCount") }
}

fn upstream_error(error: Value<'_>) -> UpstreamError {
    let number = || error.get("code").map(|code| Text::from(code.raw()));
    UpstreamError { code: word(error.get("status")).or_else(number), message: word(error.get("message")) }
}

/// A candidate is written behind all before it, where a reader by position finds it too (rule 28).
const MOST_CANDIDATES: u32 = 128;

const CANDIDATE_BITS: u32 = 12;
const CANDIDATES: u32 = 1 << CANDIDATE_BITS;
const ELEMENTS: usize = 1 << (u32::BITS - CANDIDATE_BITS);
