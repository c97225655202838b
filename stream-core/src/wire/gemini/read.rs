//! Reading: a `GenerateContentResponse` becomes deltas.

use serde_json::value::RawValue;

use super::view::{
    Candidate, ErrorBody, FunctionCall, Part, Response, Str, UsageMetadata, is_server_kind, is_void,
};
use crate::delta::{
    CallDelta, Channel, Delta, DeltaKind, FinishKind, FinishReason, Runs, Slot, Text, UpstreamError, Usage,
};
use crate::json;
use crate::spelling;
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
    let data = text(data)?;
    // No server of Google's sends it, gateways that speak several formats do.
    if data == "[DONE]" {
        into.deltas.push(Delta::stream(DeltaKind::Terminal).at(0, BESIDE as usize));
        return Ok(());
    }
    response(data, 0, into)
}

/// Reads a whole body: one response, or an array of what would have been events.
pub(super) fn whole(body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    let body = text(body)?;
    let mut last = 0;
    if body.trim_start().starts_with('[') {
        let elements: Vec<&RawValue> = serde_json::from_str(body).map_err(|error| failure(&error))?;
        if elements.len() > ELEMENTS {
            return Err(DecodeError::new(
                format!("at most {ELEMENTS} responses"),
                elements.len().to_string(),
            ));
        }
        for (element, value) in elements.iter().enumerate() {
            response(value.get(), element, into)?;
        }
        last = elements.len().saturating_sub(1);
    } else {
        response(body, 0, into)?;
    }
    into.deltas.push(Delta::stream(DeltaKind::Terminal).at(outer(last), BESIDE as usize));
    Ok(())
}

fn response(data: &str, element: usize, into: &mut Decoded) -> Result<(), DecodeError> {
    let base = outer(element);
    if !data.trim_start().starts_with('{') {
        serde_json::from_str::<serde::de::IgnoredAny>(data).map_err(|error| failure(&error))?;
        into.deltas.push(foreign("unknown".into(), data.len(), base));
        return Ok(());
    }
    let response: Response<'_> = spelling::from_str(data).map_err(|error| failure(&error))?;
    if response.is_foreign() {
        let kind = response.foreign_type.and_then(|raw| json::unquote(raw.get()));
        into.deltas.push(foreign(kind.unwrap_or_else(|| "unknown".into()), data.len(), base));
        return Ok(());
    }
    if into.wants_meta {
        into.id = into.id.take().or_else(|| word(response.response_id.as_ref()));
        into.model = into.model.take().or_else(|| word(response.model_version.as_ref()));
    }
    let before = into.deltas.len();
    let candidates = response.candidates.unwrap_or_default();
    if candidates.len() > CANDIDATES as usize {
        return Err(DecodeError::new(
            format!("at most {CANDIDATES} candidates"),
            candidates.len().to_string(),
        ));
    }
    let none = candidates.is_empty();
    let several = candidates.len() > 1;
    for (position, candidate) in candidates.into_iter().enumerate() {
        // Some clients go by position, some by number.
        let number = candidate.as_ref().and_then(|candidate| candidate.index).unwrap_or(position as u32);
        if number >= MOST_CANDIDATES || (several && number as usize != position) {
            let found = format!("candidate {number} at position {position}");
            return Err(DecodeError::ambiguous("candidates in the order of their numbers", found));
        }
        Reader::new(candidate.as_ref(), base, position, &mut into.deltas)
            .candidate(&candidate.unwrap_or_default());
    }
    let beside = |delta: Delta| delta.at(base, BESIDE as usize);
    if let Some(reason) = response.prompt_feedback.and_then(|feedback| word(feedback.block_reason.as_ref()))
        && none
    {
        let finish = DeltaKind::Finish(FinishReason::new(FinishKind::Filter, reason));
        into.deltas.push(beside(Delta::new(0, Slot::None, finish)));
    }
    if let Some(counts) = response.usage_metadata {
        into.deltas.push(beside(Delta::stream(DeltaKind::Usage(usage(&counts)))));
    }
    if let Some(raw) = response.error {
        into.deltas.push(beside(Delta::stream(DeltaKind::Error(upstream_error(raw)))));
    }
    if into.deltas.len() == before {
        into.deltas.push(beside(Delta::stream(DeltaKind::Meta)));
    }
    Ok(())
}

/// Reads one candidate.
struct Reader<'d> {
    choice: u32,
    outer: usize,
    deltas: &'d mut Vec<Delta>,
}

impl<'d> Reader<'d> {
    fn new(
        candidate: Option<&Candidate<'_>>,
        base: usize,
        position: usize,
        deltas: &'d mut Vec<Delta>,
    ) -> Self {
        // Vertex leaves the index out; proto JSON leaves a zero out.
        let choice = candidate.and_then(|candidate| candidate.index).unwrap_or(position as u32);
        Self { choice, outer: base + position, deltas }
    }

    fn candidate(&mut self, candidate: &Candidate<'_>) {
        let before = self.deltas.len();
        let content = candidate.content.as_ref();
        let parts = content.and_then(|content| content.parts.as_deref()).unwrap_or_default();
        for (inner, part) in parts.iter().enumerate() {
            if let Some(part) = part {
                self.part(part, inner);
            }
        }
        let bare = self.deltas.len() == before;
        let finish = word(candidate.finish_reason.as_ref());
        if candidate.annotated || candidate.logprobs {
            // Without a part, log probabilities can spell what the next event says; unless there is none to come.
            let ahead = bare && candidate.logprobs && finish.is_none();
            self.push(Slot::Run, DeltaKind::Annotation { ahead }, BESIDE as usize);
        }
        if let Some(reason) = finish {
            let finish = FinishReason::new(finish_kind(&reason), reason);
            self.push(Slot::None, DeltaKind::Finish(finish), BESIDE as usize);
        }
        if self.deltas.len() == before {
            let role = content.is_some_and(|content| content.role.is_some());
            let kind = if role { DeltaKind::Role } else { DeltaKind::Meta };
            self.push(Slot::None, kind, BESIDE as usize);
        }
    }

    fn part(&mut self, part: &Part<'_>, inner: usize) {
        let before = self.deltas.len();
        if let Some(text) = word(part.text.as_ref()) {
            let channel = if part.thought == Some(true) { Channel::Reasoning } else { Channel::Content };
            self.push(Slot::Run, DeltaKind::Text { channel, text }, inner);
        }
        if let Some(call) = &part.call {
            self.call(call, inner);
        }
        for (field, value) in &part.others {
            let runs = if is_server_kind(field) { Runs::Server } else { Runs::Unknown };
            let kind = DeltaKind::Opaque { kind: (&**field).into(), runs, bytes: value.len() };
            self.push(Slot::None, kind, inner);
        }
        let signed = part.signature.as_ref().is_some_and(|signature| !signature.0.is_empty());
        if signed && self.deltas.len() == before {
            self.push(Slot::None, DeltaKind::Signature, inner);
        }
    }

    fn call(&mut self, call: &FunctionCall<'_>, inner: usize) {
        let slot = Slot::Call { index: None };
        let id = word(call.id.as_ref()).filter(|id| &**id != "null");
        let name = word(call.name.as_ref());
        let arguments = arguments(call);
        let starts = name.is_some();
        let continues = call.will_continue == Some(true);
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
    }

    fn push(&mut self, slot: Slot, kind: DeltaKind, inner: usize) {
        self.deltas.push(Delta::new(self.choice, slot, kind).at(self.outer, inner));
    }
}

/// What a `functionCall` adds to the arguments: its `args`, and its `partialArgs` as raw arrays, which
/// [`join_partial_args`](super::join_partial_args) puts together when all are there.
fn arguments(call: &FunctionCall<'_>) -> Option<Text> {
    let whole = call.args.map(RawValue::get);
    let partial = call.partial_args.map(RawValue::get).filter(|raw| !is_void(raw));
    match (whole, partial) {
        (Some(whole), Some(partial)) => Some([whole, partial].concat().into()),
        (raw, None) | (None, raw) => raw.map(Text::from),
    }
}

fn foreign(kind: String, bytes: usize, outer: usize) -> Delta {
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

fn usage(counts: &UsageMetadata<'_>) -> Usage {
    let count = |raw: Option<&RawValue>| raw.and_then(|raw| raw.get().parse::<u64>().ok());
    // Thoughts are counted apart here, and are part of the answer's count everywhere else.
    let output = match (count(counts.candidates_token_count), count(counts.thoughts_token_count)) {
        (Some(candidates), Some(thoughts)) => Some(candidates.saturating_add(thoughts)),
        (candidates, thoughts) => candidates.or(thoughts),
    };
    Usage { input: count(counts.prompt_token_count), output, total: count(counts.total_token_count) }
}

fn upstream_error(raw: &RawValue) -> UpstreamError {
    let body: ErrorBody<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    let number = || body.code.map(|code| Text::from(code.get()));
    UpstreamError { code: word(body.status.as_ref()).or_else(number), message: word(body.message.as_ref()) }
}

/// A string that says something.
fn word(text: Option<&Str<'_>>) -> Option<Text> {
    text.filter(|text| !text.0.is_empty()).map(|text| Text::from(&*text.0))
}

fn text(bytes: &[u8]) -> Result<&str, DecodeError> {
    std::str::from_utf8(bytes).map_err(|error| DecodeError::new("UTF-8", error.to_string()))
}

/// What serde says, without the text of the frame that it quotes where a type is wrong.
fn failure(error: &serde_json::Error) -> DecodeError {
    let said = error.to_string();
    let found = match (said.find('"'), said.rfind('"')) {
        (Some(open), Some(close)) if open < close => [said[..open].trim_end(), &said[close + 1..]].concat(),
        _ => said,
    };
    DecodeError::new("a GenerateContentResponse", found)
}

/// A candidate is written behind all before it, where a reader by position finds it too (rule 28).
const MOST_CANDIDATES: u32 = 128;

const CANDIDATE_BITS: u32 = 12;
const CANDIDATES: u32 = 1 << CANDIDATE_BITS;
const ELEMENTS: usize = 1 << (u32::BITS - CANDIDATE_BITS);
