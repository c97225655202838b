//! Reading: a `GenerateContentResponse` becomes deltas.

use std::borrow::Cow;

use super::grammar::{self, MEDIA, RESPONSE, RESPONSES, SCORES, is_server_kind};
use crate::delta::{
    CallDelta, Channel, Delta, DeltaKind, FinishKind, FinishReason, Runs, Slot, Span, Text, UpstreamError,
    Usage,
};
use crate::json;
use crate::wire::apis;
use crate::wire::document::{Of, Spans, Value, is_void, utf8};
use crate::wire::{DecodeError, Decoded, quoted};

/// Reads the data of an event.
pub(super) fn event(data: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    // Sent by gateways that speak several formats, not by Google.
    if data == b"[DONE]" {
        into.deltas.push(Delta::stream(DeltaKind::Terminal));
        return Ok(());
    }
    document(data, Of::Object(&RESPONSE), into)
}

/// Reads a whole body: one response, or an array of what would have been events.
pub(super) fn whole(body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    document(body, RESPONSES, into)?;
    into.deltas.push(Delta::stream(DeltaKind::Terminal));
    Ok(())
}

fn document(data: &[u8], of: Of, into: &mut Decoded) -> Result<(), DecodeError> {
    let mut spans = Spans::default();
    let document = spans.decode(utf8(data)?, of, "a GenerateContentResponse")?;
    match document.is_list() {
        true => document.items().try_for_each(|element| response(element, into)),
        false => response(document, into),
    }
}

fn response(response: Value<'_>, into: &mut Decoded) -> Result<(), DecodeError> {
    apis::one(into, response, &["choices"], &[])?;
    let is_own =
        response.known().any(|(name, value)| !matches!(&*name, "type" | "choices") && !value.is_null());
    if !is_own {
        let kind = response.word("type").unwrap_or(Cow::Borrowed("unknown")).into();
        let kind = DeltaKind::Opaque { kind, runs: Runs::Unknown, bytes: response.raw().len() };
        into.deltas.push(Delta::new(0, Slot::None, kind).at(response.span()));
        return Ok(());
    }
    apis::one(into, response, &[], &apis::TYPES)?;
    if into.wants_meta {
        into.id = into.id.take().or_else(|| response.name("responseId"));
        into.model = into.model.take().or_else(|| response.name("modelVersion"));
    }
    let before = into.deltas.len();
    let candidates = candidates(response, into)?;
    let feedback = response.get("promptFeedback").map(|feedback| feedback.expect_object("promptFeedback"));
    let feedback = feedback.transpose()?;
    if let Some(reason) = feedback.and_then(|feedback| feedback.name("blockReason"))
        && candidates == 0
    {
        let finish = DeltaKind::Finish(FinishReason::new(FinishKind::Filter, reason));
        let came = feedback.and_then(|feedback| feedback.get("blockReason")).map(Value::span);
        into.deltas.push(Delta::new(0, Slot::None, finish).at(came.unwrap_or_default()));
    }
    if let Some(counts) = response.get("usageMetadata") {
        into.deltas.push(Delta::stream(DeltaKind::Usage(usage(counts))).at(counts.span()));
    }
    if let Some(error) = response.get("error") {
        // Candidates are policed; all of any other document is the error.
        quoted::none_in(into, if response.get("candidates").is_some() { error } else { response })?;
        into.deltas.push(Delta::stream(DeltaKind::Error(upstream_error(error))).at(error.span()));
    }
    if into.deltas[before..].iter().any(|delta| delta.kind.is_payload()) && !is_read_by_all(response) {
        let expected = "known fields of their types beside what is said";
        return Err(DecodeError::ambiguous(expected, "one of another type"));
    }
    if into.deltas.len() == before {
        into.deltas.push(Delta::stream(DeltaKind::Meta).at(response.span()));
    }
    Ok(())
}

/// Whether the fields beside the payload are of their types: the AI SDK passes over a response with another one, and reads the
/// text before and behind it as one (rule 28).
fn is_read_by_all(response: Value<'_>) -> bool {
    let is = |value: Option<Value<'_>>, start: &[u8]| {
        value.is_none_or(|value| value.raw().bytes().next().is_some_and(|first| start.contains(&first)))
    };
    let counts = response.get("usageMetadata");
    let are_counts = counts.is_none_or(|counts| {
        counts.members().all(|(name, value)| {
            !name.ends_with("TokenCount") || value.is_null() || is(Some(value), b"-0123456789")
        })
    });
    let feedback = response.get("promptFeedback").and_then(|feedback| feedback.get("blockReason"));
    let of_candidate = |candidate: Value<'_>| {
        candidate.unknown().filter(|(_, value)| !value.is_null()).all(|(name, value)| match &*name {
            "safetyRatings" => are_ratings(value.raw()),
            "groundingMetadata" => is_grounding(value.raw()),
            "urlContextMetadata" => is(Some(value), b"{"),
            "finishMessage" => value.is_string(),
            _ => true,
        })
    };
    is(counts, b"{")
        && are_counts
        && is(response.get("responseId"), b"\"")
        && is(response.get("modelVersion"), b"\"")
        && is(feedback, b"\"")
        && response.get("error").is_none()
        && response.get("candidates").into_iter().flat_map(Value::items).all(of_candidate)
}

fn are_ratings(raw: &str) -> bool {
    let is_text = |rating: &str, name| {
        json::member(rating, name).is_none_or(|raw| raw == "null" || raw.starts_with('"'))
    };
    json::items(raw).is_some_and(|ratings| {
        ratings.iter().all(|rating| {
            json::is_object(rating)
                && ["category", "probability", "severity"].iter().all(|name| is_text(rating, name))
        })
    })
}

fn is_grounding(raw: &str) -> bool {
    let is_list = |raw: &str, start: char| {
        raw == "null"
            || json::items(raw).is_some_and(|items| items.iter().all(|item| item.starts_with(start)))
    };
    json::members(raw).is_some_and(|members| {
        members.iter().all(|(name, raw)| match &**name {
            "webSearchQueries" | "imageSearchQueries" | "retrievalQueries" => is_list(raw, '"'),
            "groundingSupports" => is_list(raw, '{'),
            "groundingChunks" => {
                let of_chunk = |chunk: &&str| {
                    json::members(chunk).is_some_and(|kinds| {
                        kinds.iter().all(|(_, raw)| *raw == "null" || raw.starts_with('{'))
                    })
                };
                *raw == "null" || json::items(raw).is_some_and(|chunks| chunks.iter().all(of_chunk))
            }
            "searchEntryPoint" | "retrievalMetadata" => *raw == "null" || raw.starts_with('{'),
            _ => true,
        })
    })
}

/// Reads the candidates, and returns their number.
fn candidates(response: Value<'_>, into: &mut Decoded) -> Result<usize, DecodeError> {
    let Some(list) = response.get("candidates") else { return Ok(0) };
    let count = list.expect_items("candidates")?.count();
    for (position, candidate) in list.items().enumerate() {
        let number = grammar::number(candidate, position).ok_or_else(|| {
            let found = candidate.get("index").map_or("none", Value::describe);
            DecodeError::new("a candidate's number as `index`", found)
        })?;
        // Some clients go by position, some by number.
        if number >= MOST_CANDIDATES || (count > 1 && number as usize != position) {
            let found = format!("candidate {number} at position {position}");
            return Err(DecodeError::ambiguous("candidates in the order of their numbers", found));
        }
        let deltas = &mut into.deltas;
        let mut reader =
            CandidateReader { choice: number, position: position as u32, holder: candidate.span(), deltas };
        if candidate.is_null() {
            reader.push(Slot::None, DeltaKind::Meta, candidate);
        } else {
            reader.candidate(candidate.expect_object("candidates[]")?)?;
        }
    }
    Ok(count)
}

/// Reads one candidate.
struct CandidateReader<'d> {
    choice: u32,
    position: u32,
    holder: Span,
    deltas: &'d mut Vec<Delta>,
}

impl CandidateReader<'_> {
    fn candidate(&mut self, candidate: Value<'_>) -> Result<(), DecodeError> {
        let before = self.deltas.len();
        let content = candidate.get("content").map(|content| content.expect_object("content")).transpose()?;
        if let Some(parts) = content.and_then(|content| content.get("parts")) {
            for part in parts.expect_items("parts")?.filter(|part| !part.is_null()) {
                self.part(part.expect_object("parts[]")?)?;
            }
        }
        let bare = self.deltas.len() == before;
        let finish = candidate.filled("finishReason")?;
        let logprobs = candidate.get("logprobsResult").is_some();
        // Grounding, citations, a finish message and unknown fields can all hold copies of the text.
        let annotates =
            |(name, value): (Cow<'_, str>, Value<'_>)| !SCORES.contains(&&*name) && !is_void(value.raw());
        if logprobs || candidate.unknown().any(annotates) {
            // Without a part, log probabilities can spell the text of the next event, unless the candidate finishes.
            let ahead = bare && logprobs && finish.is_none();
            self.push(Slot::Run, DeltaKind::Annotation { ahead }, candidate);
        }
        if let (Some(reason), Some(came)) = (finish, candidate.get("finishReason")) {
            let finish = FinishReason::new(finish_kind(&reason), reason);
            self.push(Slot::None, DeltaKind::Finish(finish), came);
        }
        if self.deltas.len() == before {
            let role = content.is_some_and(|content| content.get("role").is_some());
            let kind = if role { DeltaKind::Role } else { DeltaKind::Meta };
            self.push(Slot::None, kind, candidate);
        }
        Ok(())
    }

    fn part(&mut self, part: Value<'_>) -> Result<(), DecodeError> {
        let before = self.deltas.len();
        let is_thought = truth(part, "thought")?;
        if let Some(text) = part.filled("text")? {
            let channel = if is_thought { Channel::Reasoning } else { Channel::Content };
            self.push(Slot::Run, DeltaKind::Text { channel, text }, part);
        }
        if let Some(call) = part.get("functionCall") {
            self.call(call.expect_object("functionCall")?, part)?;
        }
        for (at, (field, value)) in part.unknown().enumerate() {
            if is_server_kind(&field) && part.unknown().take(at).any(|(other, _)| other == field) {
                return Err(DecodeError::new("fields of a part that stand once", "one of them twice"));
            }
            if !value.is_null() && !MEDIA.contains(&&*field) {
                let runs = if is_server_kind(&field) { Runs::Server } else { Runs::Unknown };
                let kind = DeltaKind::Opaque { kind: field.into(), runs, bytes: value.raw().len() };
                self.push(Slot::None, kind, part);
            }
        }
        let is_signed = part.said("thoughtSignature")?.is_some_and(|signature| !signature.is_empty());
        if is_signed && self.deltas.len() == before {
            self.push(Slot::None, DeltaKind::Signature, part);
        }
        Ok(())
    }

    fn call(&mut self, call: Value<'_>, part: Value<'_>) -> Result<(), DecodeError> {
        let slot = Slot::Call { index: None };
        let id = call.id("id")?;
        let name = call.filled("name")?;
        let arguments = arguments(call);
        let starts = name.is_some();
        let continues = truth(call, "willContinue")?;
        if starts || arguments.is_some() || id.is_some() {
            let delta = CallDelta { id, name, arguments, starts, ..CallDelta::default() };
            self.push(slot, DeltaKind::Call(delta), part);
        } else if continues {
            // The part says only that the open call goes on, and shares the fate of the call.
            self.push(slot, DeltaKind::Annotation { ahead: false }, part);
        }
        if !continues {
            self.push(slot, DeltaKind::Stop, part);
        }
        Ok(())
    }

    fn push(&mut self, slot: Slot, kind: DeltaKind, element: Value<'_>) {
        let delta = Delta::new(self.choice, slot, kind).at(element.span());
        self.deltas.push(delta.held_by(self.holder, self.position));
    }
}

/// The arguments in a `functionCall`: its `args`, and its `partialArgs` as raw arrays, which
/// [`join_partial_args`](super::join_partial_args) joins when the call is complete.
fn arguments(call: Value<'_>) -> Option<Text> {
    let whole = call.get("args").map(Value::raw);
    let partial = call.get("partialArgs").map(Value::raw).filter(|raw| !is_void(raw));
    match (whole, partial) {
        (Some(whole), Some(partial)) => Some([whole, partial].concat().into()),
        (raw, None) | (None, raw) => raw.map(Text::from),
    }
}

/// The truth value of a field; false where the field is absent.
fn truth(object: Value<'_>, name: &str) -> Result<bool, DecodeError> {
    match object.get(name).map(|field| (field, field.raw())) {
        None | Some((_, "false")) => Ok(false),
        Some((_, "true")) => Ok(true),
        Some((field, _)) => Err(DecodeError::new(format!("a truth value as `{name}`"), field.describe())),
    }
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
    // Thoughts are counted apart, and are part of the output count in other APIs.
    let output = match (count("candidatesTokenCount"), count("thoughtsTokenCount")) {
        (Some(candidates), Some(thoughts)) => Some(candidates.saturating_add(thoughts)),
        (candidates, thoughts) => candidates.or(thoughts),
    };
    Usage { input: count("promptTokenCount"), output, total: count("totalTokenCount") }
}

fn upstream_error(error: Value<'_>) -> UpstreamError {
    let number = || error.get("code").map(|code| Text::from(code.raw()));
    UpstreamError { code: error.name("status").or_else(number), message: error.name("message") }
}

/// The number of candidates that can be read: a candidate is written at the position of its number (rule 28).
const MOST_CANDIDATES: u32 = 128;
