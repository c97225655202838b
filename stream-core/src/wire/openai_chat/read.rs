//! Reading: chunks and whole responses become deltas.

use std::borrow::Cow;

use memchr::memmem;

use super::body::{BodyReader, Content};
use super::grammar::{
    self, CHUNK, ERROR, FAILED, Field, KEPT_OF_ERROR, SIGNATURES, SILENT, filled, has_role, integer, is_void,
    number, number_of,
};
use super::passed_over;
use crate::delta::{
    Delta, DeltaKind, FinishKind, FinishReason, Restated, Runs, Slot, Span, Text, UpstreamError, Usage,
};
use crate::json;
use crate::sse::Frame;
use crate::wire::apis;
use crate::wire::document::{Of, Spans, Value};
use crate::wire::quoted::{self, Quoted};
use crate::wire::{DecodeError, Decoded, Odd};

/// Reads a frame that has data.
pub(super) fn frame(frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
    let Some(data) = frame.data_bytes() else {
        into.deltas.push(Delta::stream(DeltaKind::Meta));
        return Ok(());
    };
    let is_done = data.trim_ascii() == b"[DONE]";
    if is_done {
        into.deltas.push(Delta::stream(DeltaKind::Terminal));
    } else {
        document(data, Form::Chunk { is_error: frame.event() == Some("error") }, into)?;
    }
    // Any name but `error` belongs to another API; clients compare the terminal marker with its blanks.
    let is_odd = frame.event().is_some_and(|name| name != "error") || (is_done && data != b"[DONE]");
    into.mark(is_odd.then_some(Odd::Lines));
    Ok(())
}

/// Reads a whole response.
pub(super) fn whole(body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    if !document(body, Form::Whole, into)? {
        return Ok(());
    }
    if !into.deltas.iter().any(|delta| matches!(delta.kind, DeltaKind::Error(_))) {
        into.deltas.push(Delta::stream(DeltaKind::Terminal));
    }
    Ok(())
}

/// Reads a document, and returns whether it is an object. Any other JSON is reported as opaque.
fn document(data: &[u8], form: Form, into: &mut Decoded) -> Result<bool, DecodeError> {
    let expected = match form {
        Form::Whole => "a chat completion",
        Form::Chunk { .. } => "a chat completion chunk",
    };
    // Checked once for all strings of the document.
    let text = std::str::from_utf8(data).map_err(|error| DecodeError::new(expected, error.to_string()))?;
    let mut spans = Spans::default();
    spans.decode(text, Of::Object(&CHUNK), expected).and_then(|chunk| {
        if chunk.is_object() {
            ChunkReader { into, whole: form == Form::Whole }.chunk(chunk, text, form)?;
        } else {
            into.deltas.push(unknown("unknown", chunk, text));
        }
        Ok(chunk.is_object())
    })
}

/// The form of a document.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Whole,
    /// A chunk; in an `error` event the document may be the error itself.
    Chunk {
        is_error: bool,
    },
}

/// The choice that deltas are read from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Holder {
    number: u32,
    span: Span,
    position: u32,
}

impl Holder {
    fn of(choice: Value<'_>, position: usize) -> Self {
        Self { number: number(choice), span: choice.span(), position: position as u32 }
    }

    /// The delta of an element within the choice.
    pub(super) fn says(self, slot: Slot, kind: DeltaKind, element: Value<'_>) -> Delta {
        Delta::new(self.number, slot, kind).at(element.span()).held_by(self.span, self.position)
    }
}

struct ChunkReader<'r> {
    into: &'r mut Decoded,
    /// The document is a whole response: bodies are messages, and every call is whole.
    whole: bool,
}

impl ChunkReader<'_> {
    fn chunk(&mut self, chunk: Value<'_>, data: &str, form: Form) -> Result<(), DecodeError> {
        let before = self.into.deltas.len();
        if form != Form::Whole {
            apis::one(self.into, chunk, &["candidates"], &[])?;
        }
        self.meta(chunk);
        let choices = chunk.get("choices");
        let is_lone = choices.is_some_and(|choices| choices.items().nth(1).is_none());
        for (position, choice) in
            choices.map(|list| list.expect_items("choices")).transpose()?.into_iter().flatten().enumerate()
        {
            let choice = choice.expect_object("choices[]")?;
            let (index, delta) = (choice.get("index"), choice.get("delta"));
            let number = number_of(index);
            if number >= MOST_CHOICES {
                let expected = format!("choices numbered below {MOST_CHOICES}");
                return Err(DecodeError::ambiguous(expected, number.to_string()));
            }
            // The only choice of a whole response needs no number; a choice of a stream may be alone in its chunk.
            let needs_none = self.whole && is_lone && index.is_none();
            if !needs_none && index.is_none_or(|raw| json::count(raw.raw()).is_none()) {
                self.into.mark(Some(Odd::Number));
            } else if (self.whole || !is_lone) && number as usize != position {
                self.into.mark(Some(Odd::Position));
            } else if !self.whole && !delta.is_none_or(has_role) {
                self.into.mark(Some(Odd::Type));
            }
            self.choice(choice, Holder { number, span: choice.span(), position: position as u32 }, delta)?;
        }
        self.lone_signature(before);
        for (position, choice) in choices.into_iter().flat_map(Value::items).enumerate() {
            let Some(came) = choice.get("finish_reason") else { continue };
            let word = came.expect_string("finish_reason")?;
            if !word.is_empty() {
                let finish = DeltaKind::Finish(FinishReason::new(finish_kind(&word), word));
                self.into.deltas.push(Holder::of(choice, position).says(Slot::None, finish, came));
            }
        }
        self.usage(chunk);
        let failed = chunk.get(FAILED);
        match chunk.get("error") {
            Some(error) if !is_void(error.raw()) => {
                self.beside_error(chunk, choices.is_some())?;
                self.error(error, failed)?;
            }
            _ if form == (Form::Chunk { is_error: true }) => {
                let mut spans = Spans::default();
                self.error(spans.decode(data, Of::Object(&ERROR), "an error")?, None)?;
            }
            _ => self.failed_generation(failed),
        }
        if form != Form::Whole {
            self.passed_over(chunk, before)?;
        }
        if self.into.deltas.len() == before {
            self.nothing(chunk, data);
            return Ok(());
        }
        // A document without deltas is opaque, whatever its type; any other must have no type of another API.
        apis::one(self.into, chunk, &[], &apis::TYPES)
    }

    /// Marks a chunk that some clients pass over.
    fn passed_over(&mut self, chunk: Value<'_>, before: usize) -> Result<(), DecodeError> {
        let deltas = &self.into.deltas[before..];
        let mut odd = passed_over::odd(chunk, deltas);
        if self.into.memory.is_on && passed_over::speaks(chunk, deltas) {
            odd = self.into.memory.chat.get_or_insert_default().see(chunk, deltas)?.or(odd);
        }
        self.into.mark(odd);
        Ok(())
    }

    fn meta(&mut self, chunk: Value<'_>) {
        if !self.into.wants_meta {
            return;
        }
        // The first chunk of Azure has empty ones.
        if let Some(id) = filled(chunk.get("id")) {
            self.into.id = Some(id.into());
        }
        if let Some(model) = filled(chunk.get("model")) {
            self.into.model = Some(model.into());
        }
    }

    fn choice(
        &mut self,
        choice: Value<'_>,
        holder: Holder,
        delta: Option<Value<'_>>,
    ) -> Result<(), DecodeError> {
        let delta = delta.map(|delta| delta.expect_object("delta")).transpose()?;
        let message = match choice.get("message") {
            Some(message) if self.whole => Some(message.expect_object("message")?),
            // A message in place of a delta, whose calls some clients run.
            Some(message) if delta.is_none() && has_calls(message) => {
                self.into.mark(Some(Odd::Foreign));
                Some(message)
            }
            _ => None,
        };
        let body = message.or(delta);
        if self.whole && (delta.is_some() || message.is_some_and(|body| !has_role(body))) {
            // Some clients read the delta, others the message.
            self.into.mark(Some(if delta.is_some() { Odd::Foreign } else { Odd::Type }));
        }
        let before = self.into.deltas.len();
        let mut reader = BodyReader { into: self.into, holder, whole: self.whole };
        if let Some(body) = body {
            reader.body(body)?;
        }
        let has_payload = self.into.deltas[before..].iter().any(|delta| delta.kind.is_payload());
        let mut push = |slot, kind, element| self.into.deltas.push(holder.says(slot, kind, element));
        if !has_payload && let Some(role) = body.and_then(|body| body.get("role")) {
            push(Slot::None, DeltaKind::Role, role);
        }
        if !self.whole && message.is_none() {
            self.copies(choice, holder, delta)?;
        } else if let Some(text) = choice.get("text") {
            self.copy(&text.text(), text, holder, body);
        }
        let is_note = |(name, value): (Cow<'_, str>, Value<'_>)| {
            !SIGNATURES.contains(&&*name) && !SILENT.contains(&&*name) && !is_void(value.raw())
        };
        let mut push = |kind, element| self.into.deltas.push(holder.says(Slot::Run, kind, element));
        if let Some(body) = body.filter(|body| body.unknown().any(is_note)) {
            push(DeltaKind::Annotation { ahead: false }, body);
        }
        let tokens = choice.get("logprobs").filter(|tokens| !has_payload && !is_void(tokens.raw()));
        if let Some(tokens) = tokens {
            push(DeltaKind::Annotation { ahead: true }, tokens);
        }
        Ok(())
    }

    /// Reads the copies in `message` and `text` beside `delta`.
    fn copies(
        &mut self,
        choice: Value<'_>,
        holder: Holder,
        delta: Option<Value<'_>>,
    ) -> Result<(), DecodeError> {
        if let Some(message) = choice.get("message") {
            let message = message.expect_object("message")?;
            let content =
                message.get("content").map(|content| Content::read(content, "content")).transpose()?;
            if holds_more(message, delta) {
                let kind = opaque("message", Runs::Unknown, message.raw().len());
                self.into.deltas.push(holder.says(Slot::None, kind, message));
            } else if let Some(Content::Text(text)) = content {
                self.copy(&text, message, holder, delta);
            }
        }
        if let Some(text) = choice.get("text") {
            self.copy(&text.text(), text, holder, delta);
        }
        Ok(())
    }

    /// Reads a copy of all text so far. A copy that equals the delta beside it repeats only that delta, and shares its fate
    /// without a delta of its own.
    fn copy(&mut self, text: &str, element: Value<'_>, holder: Holder, beside: Option<Value<'_>>) {
        let twin = beside.and_then(|body| body.get("content")?.string());
        if !text.is_empty() && twin.as_deref() != Some(text) {
            let kind = DeltaKind::Copy(Restated::body(text));
            self.into.deltas.push(holder.says(Slot::None, kind, element));
        }
    }

    fn usage(&mut self, chunk: Value<'_>) {
        let Some(usage) = grammar::usage(chunk).filter(|usage| usage.is_object()) else { return };
        let count = |name: &str| usage.get(name).and_then(|raw| integer(raw.raw()));
        let counts = Usage {
            input: count("prompt_tokens"),
            output: count("completion_tokens"),
            total: count("total_tokens"),
        };
        self.into.deltas.push(Delta::stream(DeltaKind::Usage(counts)).at(usage.span()));
    }

    /// Refuses an answer beside an error, where no choices are, which are policed.
    fn beside_error(&self, chunk: Value<'_>, has_choices: bool) -> Result<(), DecodeError> {
        let looks = self.into.memory.is_on && !has_choices;
        let mut beside = chunk.members().filter(|(name, _)| looks && name != "error" && name != FAILED);
        match beside.any(|(name, value)| Quoted::in_member(&name, value.raw()).is_any()) {
            true => Err(quoted::refused()),
            false => Ok(()),
        }
    }

    fn error(&mut self, error: Value<'_>, beside: Option<Value<'_>>) -> Result<(), DecodeError> {
        let word = |field: Option<Value<'_>>| field.map(|field| Text::from(field.text()));
        self.failed_generation(error.get(FAILED).or(beside));
        let element = error.span();
        let error = if error.is_object() {
            self.error_notes(error)?;
            UpstreamError {
                code: word(error.get("code").or(error.get("type"))),
                message: word(error.get("message")),
            }
        } else {
            // An error that is a bare string is its own message.
            quoted::none_in(self.into, error)?;
            UpstreamError { code: None, message: word(Some(error)) }
        };
        self.into.deltas.push(Delta::stream(DeltaKind::Error(error)).at(element));
        Ok(())
    }

    /// Reads the call that the provider refused.
    fn failed_generation(&mut self, call: Option<Value<'_>>) {
        if let Some(call) = call {
            let kind = opaque(FAILED, Runs::Unknown, call.raw().len());
            let delta = Delta::new(0, Slot::None, kind).at(call.span());
            self.into.deltas.push(delta.read_in(Field::FailedGeneration.bit()));
        }
    }

    /// Reads the fields in which routers wrap the provider's error with its refused call, as JSON or as text. A refused call in a field
    /// that a rebuilt error keeps, and an answer in any field, is refused.
    fn error_notes(&mut self, error: Value<'_>) -> Result<(), DecodeError> {
        let looks = self.into.memory.is_on;
        for (name, value) in error.members().filter(|(name, _)| name != FAILED) {
            let raw = value.raw();
            let quoted = if looks { Quoted::in_member(&name, raw) } else { Quoted::default() };
            let is_kept = KEPT_OF_ERROR.contains(&name.as_ref());
            if quoted.answer || (is_kept && quoted.refused_call) {
                return Err(quoted::refused());
            }
            let names_it = memmem::find(raw.as_bytes(), FAILED.as_bytes()).is_some();
            if !is_kept && (names_it || quoted.refused_call) {
                let kind = opaque(&name, Runs::Unknown, raw.len());
                self.into.deltas.push(Delta::new(0, Slot::None, kind).at(value.span()));
            }
        }
        Ok(())
    }

    /// Adds the delta of a chunk without any: metadata, or an opaque document.
    fn nothing(&mut self, chunk: Value<'_>, data: &str) {
        let object = chunk.get("object").map(Value::text).unwrap_or_default();
        let choices = chunk.get("choices");
        // Events of other formats have a type, chunks have none.
        let foreign = chunk.get("type").filter(|raw| !is_void(raw.raw()));
        if foreign.is_some() || (choices.is_none() && !object.starts_with("chat.completion")) {
            let kind = chunk.get("type").map_or(object, Value::text);
            self.into.deltas.push(unknown(if kind.is_empty() { "unknown" } else { &kind }, chunk, data));
        } else if let Some(choice) = choices.and_then(|choices| choices.items().next()) {
            self.into.deltas.push(Holder::of(choice, 0).says(Slot::None, DeltaKind::Meta, choice));
        } else {
            self.into.deltas.push(Delta::stream(DeltaKind::Meta).at(chunk.span()));
        }
    }

    /// Turns a signature without other deltas into metadata: the signature belongs to no block.
    fn lone_signature(&mut self, before: usize) {
        if let [delta] = &mut self.into.deltas[before..]
            && delta.kind == DeltaKind::Signature
        {
            delta.kind = DeltaKind::Meta;
            delta.slot = Slot::None;
        }
    }
}

/// Whether a message beside a delta holds anything but text and the calls of the delta.
fn holds_more(message: Value<'_>, delta: Option<Value<'_>>) -> bool {
    let calls = message.get("tool_calls").map(Value::raw);
    let of_delta = delta.and_then(|delta| delta.get("tool_calls")).map(Value::raw);
    let more_calls = calls.is_some_and(|calls| !is_void(calls)) && calls != of_delta;
    let list = message.get("content").is_some_and(|content| content.items().next().is_some());
    more_calls
        || list
        || message.members().any(|(name, value)| {
            !matches!(name.as_ref(), "role" | "content" | "tool_calls") && !is_void(value.raw())
        })
}

/// Whether a message has calls.
fn has_calls(message: Value<'_>) -> bool {
    ["tool_calls", "function_call"]
        .iter()
        .any(|name| message.get(name).is_some_and(|calls| !is_void(calls.raw())))
}

/// The kind of a finish reason. Proxies forward the words of other APIs, in any case: an answer that was cut off must not
/// count as finished.
fn finish_kind(word: &str) -> FinishKind {
    match &*word.to_ascii_lowercase() {
        "stop" | "eos" | "stop_sequence" | "end_turn" => FinishKind::Stop,
        "tool_calls" | "function_call" => FinishKind::ToolCalls,
        "length" | "max_tokens" | "max_output_tokens" | "model_length" => FinishKind::Length,
        "content_filter" | "safety" | "recitation" | "blocklist" | "prohibited_content" | "spii" => {
            FinishKind::Filter
        }
        "error" | "insufficient_system_resource" => FinishKind::Error,
        _ => FinishKind::Other,
    }
}

fn unknown(kind: &str, document: Value<'_>, data: &str) -> Delta {
    Delta::new(0, Slot::None, opaque(kind, Runs::Unknown, data.len())).at(document.span())
}

/// The number of choices that can be read. A choice is written at the position of its number (rule 28), behind empty choices,
/// so that the number bounds the size of a chunk.
const MOST_CHOICES: u32 = 128;

pub(super) fn opaque(kind: &str, runs: Runs, bytes: usize) -> DeltaKind {
    DeltaKind::Opaque { kind: kind.into(), runs, bytes }
}
