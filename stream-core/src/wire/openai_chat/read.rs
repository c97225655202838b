//! Reading: chunks and whole responses become deltas.

use memchr::memmem;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::body::BodyReader;
use super::place::{Field, put};
use super::raw::ERROR;
use super::view::{self, Body, Choice, Chunk, Content, ErrorBody, Str, is_void, text_of};
use crate::delta::{
    Delta, DeltaKind, FinishKind, FinishReason, Restated, Runs, Slot, Text, UpstreamError, Usage,
};
use crate::json;
use crate::spelling;
use crate::sse::Frame;
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
    } else if let Some(chunk) = chunk(data, "a chat completion chunk", into)? {
        let is_error = frame.event() == Some("error");
        Reader { into, whole: false }.chunk(&chunk, data, is_error)?;
    }
    // Other names than an error's are another API's; clients compare the terminal marker as it is.
    if frame.event().is_some_and(|name| name != "error") || (is_done && data != b"[DONE]") {
        into.odd = into.odd.or(Some(Odd::Lines));
    }
    Ok(())
}

/// Reads a whole response.
pub(super) fn whole(body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
    let Some(chunk) = chunk(body, "a chat completion", into)? else { return Ok(()) };
    Reader { into, whole: true }.chunk(&chunk, body, false)?;
    if !into.deltas.iter().any(|delta| matches!(delta.kind, DeltaKind::Error(_))) {
        into.deltas.push(Delta::stream(DeltaKind::Terminal));
    }
    Ok(())
}

/// The typed view of a document; JSON that is no object is nothing this format knows, and is reported so.
fn chunk<'a>(data: &'a [u8], expected: &str, into: &mut Decoded) -> Result<Option<Chunk<'a>>, DecodeError> {
    // Checked once for all strings of the document.
    let document =
        std::str::from_utf8(data).map_err(|error| DecodeError::new(expected, error.to_string()))?;
    if document.trim_ascii_start().starts_with('{') {
        return parse(document, expected).map(Some);
    }
    parse::<IgnoredAny>(document, expected)?;
    into.deltas.push(unknown("unknown", data));
    Ok(None)
}

struct Reader<'r> {
    into: &'r mut Decoded,
    /// A whole response: bodies are messages, and every call is there at once.
    whole: bool,
}

impl Reader<'_> {
    fn chunk(&mut self, chunk: &Chunk<'_>, data: &[u8], is_error: bool) -> Result<(), DecodeError> {
        let before = self.into.deltas.len();
        self.meta(chunk);
        let choices = chunk.choices.as_deref().unwrap_or_default();
        for (outer, choice) in choices.iter().enumerate() {
            let number = choice.number();
            if number >= MOST_CHOICES {
                let expected = format!("choices numbered below {MOST_CHOICES}");
                return Err(DecodeError::ambiguous(expected, number.to_string()));
            }
            // The one choice of a whole response needs no number, and one of a stream may be alone in its chunk.
            let is_lone = choices.len() == 1;
            let needs_none = self.whole && is_lone && choice.has_no_number();
            if !needs_none && !choice.is_numbered() {
                self.odd(Odd::Number);
            } else if (self.whole || !is_lone) && number as usize != outer {
                self.odd(Odd::Position);
            } else if !self.whole && !choice.has_role() {
                self.odd(Odd::Type);
            }
            self.choice(choice, outer)?;
        }
        self.lone_signature(before);
        for (outer, choice) in choices.iter().enumerate() {
            self.finish(choice, outer);
        }
        self.usage(chunk);
        match chunk.error {
            Some(error) if !is_void(error.get()) => self.error(error.get(), chunk.failed_generation)?,
            _ if is_error => self.error(std::str::from_utf8(data).unwrap_or_default(), None)?,
            _ => self.failed_generation(chunk.failed_generation),
        }
        if self.into.deltas.len() == before {
            self.nothing(chunk, data);
        }
        Ok(())
    }

    /// Notes what is not plain about the chunk.
    fn odd(&mut self, odd: Odd) {
        self.into.odd = self.into.odd.or(Some(odd));
    }

    fn meta(&mut self, chunk: &Chunk<'_>) {
        if !self.into.wants_meta {
            return;
        }
        // Azure's first chunk has empty ones; the next may say.
        let word = |raw: Option<&RawValue>| {
            raw.map(|raw| text_of(raw.get())).filter(|word| !word.is_empty()).map(Text::from)
        };
        if let Some(id) = word(chunk.id) {
            self.into.id = Some(id);
        }
        if let Some(model) = word(chunk.model) {
            self.into.model = Some(model);
        }
    }

    fn choice(&mut self, choice: &Choice<'_>, outer: usize) -> Result<(), DecodeError> {
        let number = choice.number();
        let message = match choice.message {
            Some(message) if self.whole => Some(parse::<Body<'_>>(message.get(), "a message")?),
            // A message in place of a delta, with calls that some clients run.
            Some(message) if choice.delta.is_none() && has_calls(message.get()) => {
                self.odd(Odd::Foreign);
                Some(parse::<Body<'_>>(message.get(), "a message")?)
            }
            _ => None,
        };
        let body = message.as_ref().or(choice.delta.as_ref());
        if self.whole && (choice.delta.is_some() || message.as_ref().is_some_and(|body| !body.has_role())) {
            // Clients read one of the two, and not every client the same.
            self.odd(if choice.delta.is_some() { Odd::Foreign } else { Odd::Type });
        }
        let before = self.into.deltas.len();
        let mut reader = BodyReader { into: self.into, number, outer, whole: self.whole };
        if let Some(body) = body {
            reader.body(body)?;
        }
        let has_payload = self.into.deltas[before..].iter().any(|delta| delta.kind.is_payload());
        if !has_payload && body.is_some_and(|body| body.role.is_some()) {
            self.push(number, outer, Slot::None, DeltaKind::Role);
        }
        if !self.whole && message.is_none() {
            self.copies(choice, outer)?;
        } else if let Some(text) = choice.text {
            self.copy(text_of(text.get()).as_ref(), body, number, outer, Field::Text);
        }
        if body.is_some_and(|body| body.notes) {
            self.push(number, outer, Slot::Run, DeltaKind::Annotation { ahead: false });
        }
        if !has_payload && choice.logprobs.is_some_and(|raw| !is_void(raw.get())) {
            self.push(number, outer, Slot::Run, DeltaKind::Annotation { ahead: true });
        }
        Ok(())
    }

    /// What `message` and `text` say beside `delta`.
    fn copies(&mut self, choice: &Choice<'_>, outer: usize) -> Result<(), DecodeError> {
        let number = choice.number();
        if let Some(raw) = choice.message {
            let message = parse::<MessageCopy<'_>>(raw.get(), "a message object")?;
            let delta_calls = choice.delta.as_ref().and_then(|delta| delta.tool_calls).map(RawValue::get);
            if message.holds_more(raw.get(), delta_calls) {
                let kind = opaque("message", Runs::Unknown, raw.get().len());
                self.into.deltas.push(put(Delta::new(number, Slot::None, kind), outer, Field::Message, 0));
            } else if let Some(Content::Text(text)) = &message.content {
                self.copy(text, choice.delta.as_ref(), number, outer, Field::Message);
            }
        }
        if let Some(text) = choice.text {
            self.copy(&text_of(text.get()), choice.delta.as_ref(), number, outer, Field::Text);
        }
        Ok(())
    }

    /// A copy of all text so far. One that equals the delta beside it repeats only that, and shares its fate
    /// without a delta of its own.
    fn copy(&mut self, text: &str, beside: Option<&Body<'_>>, number: u32, outer: usize, field: Field) {
        let twin = beside.and_then(|body| body.content.as_ref());
        let is_twin = matches!(twin, Some(Content::Text(content)) if content == text);
        if !text.is_empty() && !is_twin {
            let kind = DeltaKind::Copy(Restated::body(text));
            self.into.deltas.push(put(Delta::new(number, Slot::None, kind), outer, field, 0));
        }
    }

    fn finish(&mut self, choice: &Choice<'_>, outer: usize) {
        if let Some(Str(word)) = choice.finish_reason.as_ref().filter(|word| !word.0.is_empty()) {
            let reason = FinishReason::new(finish_kind(word), word.as_ref());
            self.push(choice.number(), outer, Slot::None, DeltaKind::Finish(reason));
        }
    }

    fn usage(&mut self, chunk: &Chunk<'_>) {
        let of_choice = || chunk.choices.iter().flatten().find_map(|choice| choice.usage);
        let raw = chunk.usage.or_else(of_choice).map(RawValue::get);
        let raw = raw.or_else(|| json::member(chunk.x_groq?.get(), "usage"));
        let Some(tokens) = raw.and_then(|raw| serde_json::from_str::<view::Tokens<'_>>(raw).ok()) else {
            return;
        };
        let count = |raw: Option<&RawValue>| raw.and_then(|raw| view::integer(raw.get()));
        self.into.deltas.push(Delta::stream(DeltaKind::Usage(Usage {
            input: count(tokens.prompt_tokens),
            output: count(tokens.completion_tokens),
            total: count(tokens.total_tokens),
        })));
    }

    fn error(&mut self, raw: &str, beside: Option<&RawValue>) -> Result<(), DecodeError> {
        let word = |raw: &RawValue| Text::from(text_of(raw.get()));
        let error = if json::is_object(raw) {
            let body: ErrorBody<'_> = parse(raw, "an error")?;
            self.failed_generation(body.failed_generation.or(beside));
            self.error_notes(raw);
            UpstreamError { code: body.code.or(body.kind).map(word), message: body.message.map(word) }
        } else {
            // An error that is a bare string is its own message.
            self.failed_generation(beside);
            UpstreamError { code: None, message: Some(text_of(raw).into()) }
        };
        self.into.deltas.push(Delta::stream(DeltaKind::Error(error)));
        Ok(())
    }

    /// The call that the provider refused, wherever it stands.
    fn failed_generation(&mut self, raw: Option<&RawValue>) {
        if let Some(call) = raw {
            let kind = opaque(FAILED, Runs::Unknown, call.get().len());
            self.into.deltas.push(put(Delta::new(0, Slot::None, kind), 0, Field::FailedGeneration, 0));
        }
    }

    /// Routers wrap the provider's own error, call and all, in a field of theirs, as JSON or as its text.
    fn error_notes(&mut self, raw: &str) {
        for (name, value) in json::members(raw).into_iter().flatten() {
            let wraps = name != FAILED && memmem::find(value.as_bytes(), FAILED.as_bytes()).is_some();
            if wraps && !ERROR.contains(&name.as_ref()) {
                let kind = opaque(&name, Runs::Unknown, value.len());
                self.into.deltas.push(put(Delta::new(0, Slot::None, kind), 0, Field::Other, 0));
            }
        }
    }

    /// A frame must be something; one without deltas is metadata, or nothing this format knows.
    fn nothing(&mut self, chunk: &Chunk<'_>, data: &[u8]) {
        let object = chunk.object.map(|raw| text_of(raw.get())).unwrap_or_default();
        let choices = chunk.choices.as_deref();
        // Events of other formats have a type, chunks have none.
        let foreign = chunk.kind.is_some_and(|raw| !is_void(raw.get()));
        if foreign || (choices.is_none() && !object.starts_with("chat.completion")) {
            let kind = chunk.kind.map(|raw| text_of(raw.get())).unwrap_or(object);
            self.into.deltas.push(unknown(if kind.is_empty() { "unknown" } else { &kind }, data));
        } else if let Some(choice) = choices.and_then(<[_]>::first) {
            self.push(choice.number(), 0, Slot::None, DeltaKind::Meta);
        } else {
            self.into.deltas.push(Delta::stream(DeltaKind::Meta));
        }
    }

    /// A signature that nothing else accompanies belongs to no block here.
    fn lone_signature(&mut self, before: usize) {
        if let [delta] = &mut self.into.deltas[before..]
            && delta.kind == DeltaKind::Signature
        {
            delta.kind = DeltaKind::Meta;
            delta.slot = Slot::None;
        }
    }

    fn push(&mut self, choice: u32, outer: usize, slot: Slot, kind: DeltaKind) {
        self.into.deltas.push(put(Delta::new(choice, slot, kind), outer, Field::Other, 0));
    }
}

/// A `message` beside `delta`.
#[derive(Deserialize)]
struct MessageCopy<'a> {
    #[serde(borrow)]
    content: Option<Content<'a>>,
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
}

impl MessageCopy<'_> {
    /// Whether it holds anything but text, and calls that the delta beside it has too.
    fn holds_more(&self, raw: &str, delta_calls: Option<&str>) -> bool {
        let calls = self.tool_calls.map(RawValue::get);
        let more_calls = calls.is_some_and(|calls| !is_void(calls)) && calls != delta_calls;
        let list = matches!(&self.content, Some(Content::List(items)) if !items.is_empty());
        more_calls
            || list
            || json::members(raw).into_iter().flatten().any(|(name, value)| {
                !matches!(name.as_ref(), "role" | "content" | "tool_calls") && !is_void(value)
            })
    }
}

/// Whether a message has calls.
fn has_calls(message: &str) -> bool {
    let members = json::members(message).into_iter().flatten();
    members
        .into_iter()
        .any(|(name, value)| matches!(name.as_ref(), "tool_calls" | "function_call") && !is_void(value))
}

/// The kind of a reason. Proxies hand on the words of other APIs, in their letters: what was cut off must not pass for
/// finished.
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

fn unknown(kind: &str, data: &[u8]) -> Delta {
    put(Delta::new(0, Slot::None, opaque(kind, Runs::Unknown, data.len())), 0, Field::Other, 0)
}

/// A choice is written behind all choices before it, where a reader by position finds it too (rule 28): the numbers
/// that are known bound how much that is.
const MOST_CHOICES: u32 = 128;

/// The field of an error that holds a call which the provider refused.
const FAILED: &str = "failed_generation";

pub(super) fn opaque(kind: &str, runs: Runs, bytes: usize) -> DeltaKind {
    DeltaKind::Opaque { kind: kind.into(), runs, bytes }
}

pub(super) fn parse<'a, T: Deserialize<'a>>(raw: &'a str, expected: &str) -> Result<T, DecodeError> {
    spelling::from_str(raw).map_err(|error| DecodeError::json(expected, &error))
}
