//! The events and blocks that are written anew. Of what came only the known fields listed here survive: any other may
//! hold a copy of what was dropped (rule 17).

use bytes::Bytes;

use crate::delta::{CallDelta, Channel, Usage};
use crate::json::{self, Object};
use crate::sse::{self, Frame, Framer};

use super::block::is_empty_input;

/// The fields of a message that survive its being written anew, `content` and the stop fields aside.
const MESSAGE_FIELDS: &[&str] = &["id", "type", "role", "model"];
/// Those that come after the content.
const MESSAGE_TAIL: &[&str] = &["container", "context_management", "usage"];

/// One event, on one line of data: line breaks that came in the upstream's JSON are mere white space.
pub(super) fn event(kind: &str, data: &str) -> Bytes {
    line(Some(kind), data)
}

/// One event, on one line of data, with or without its name.
pub(super) fn line(kind: Option<&str>, data: &str) -> Bytes {
    sse::event(kind, data, "\n")
}

/// A frame with other data; every byte around it stays.
pub(super) fn with_data(frame: &Frame, data: &str) -> Bytes {
    let raw = frame.raw();
    let span = frame.data_bytes().and_then(|old| {
        let start = (old.as_ptr() as usize).checked_sub(raw.as_ptr() as usize)?;
        (start + old.len() <= raw.len()).then_some((start, start + old.len()))
    });
    if let Some((start, end)) = span {
        let mut bytes = Vec::with_capacity(raw.len() + 8);
        bytes.extend_from_slice(&raw[..start]);
        bytes.extend_from_slice(data.as_bytes());
        bytes.extend_from_slice(&raw[end..]);
        return Bytes::from(bytes);
    }
    // Data of several lines, or of a line that only lenient clients read.
    event(&event_name(frame, data), data)
}

/// A frame without the lines that belong to no event: one of them may be what was dropped.
pub(super) fn event_only(frame: &Frame) -> Frame {
    let data = frame.data().or_else(|| frame.lenient_data());
    let Some(data) = data.as_deref().and_then(|data| std::str::from_utf8(data).ok()) else {
        return frame.clone();
    };
    let mut framer = Framer::new(usize::MAX);
    framer.push(&event(&event_name(frame, data), data));
    framer.next_frame().ok().flatten().unwrap_or_else(|| frame.clone())
}

/// `content_block_start` for a block.
pub(super) fn block_start(index: u32, block: &str) -> Bytes {
    let data = Object::new()
        .string("type", "content_block_start")
        .number("index", index.into())
        .raw("content_block", block)
        .finish();
    event("content_block_start", &data)
}

/// `content_block_delta` with text.
pub(super) fn text_delta(index: u32, channel: Channel, text: &str) -> Bytes {
    let delta = match channel {
        Channel::Reasoning => Object::new().string("type", "thinking_delta").string("thinking", text),
        Channel::Content | Channel::Refusal => {
            Object::new().string("type", "text_delta").string("text", text)
        }
    };
    block_delta(index, &delta.finish())
}

/// `content_block_delta` with arguments.
pub(super) fn input_delta(index: u32, arguments: &str) -> Bytes {
    let delta = Object::new().string("type", "input_json_delta").string("partial_json", arguments);
    block_delta(index, &delta.finish())
}

/// `content_block_stop`.
pub(super) fn block_stop(index: u32) -> Bytes {
    let data = Object::new().string("type", "content_block_stop").number("index", index.into());
    event("content_block_stop", &data.finish())
}

/// A text block.
pub(super) fn text_block(text: &str) -> String {
    Object::new().string("type", "text").string("text", text).finish()
}

/// A thinking block with other text, and the signature that `block` had: it stands for the text, and the next turn
/// needs it (rule 22).
pub(super) fn thinking_block(block: &str, text: &str) -> String {
    let thinking = Object::new().string("type", "thinking").string("thinking", text);
    match json::member(block, "signature") {
        Some(signature) => thinking.raw("signature", signature).finish(),
        None => thinking.finish(),
    }
}

/// A call with the id and name of `call`, where it has them, else those of `block`.
pub(super) fn call_block(block: &str, call: &CallDelta, input: &str) -> String {
    let own = |name| json::member(block, name).map(str::to_owned);
    let id = call.id.as_deref().map(json::quote).or_else(|| own("id"));
    let name = call.name.as_deref().map(json::quote).or_else(|| own("name"));
    let object = Object::new()
        .string("type", "tool_use")
        .raw("id", id.as_deref().unwrap_or(r#""""#))
        .raw("name", name.as_deref().unwrap_or(r#""""#))
        .raw("input", input);
    match own("caller") {
        Some(caller) => object.raw("caller", &caller).finish(),
        None => object.finish(),
    }
}

/// Arguments as the `input` of a whole block. What is no JSON becomes a string: a client then sees a call that it
/// cannot run, rather than one without its arguments.
pub(super) fn whole_input(arguments: Option<&str>) -> String {
    match arguments.filter(|arguments| !is_empty_input(arguments.trim_ascii())) {
        None | Some("") => String::from("{}"),
        Some(json) if serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok() => json.to_owned(),
        Some(text) => json::quote(text),
    }
}

/// How a message ends: the raw values of its stop fields.
#[derive(Debug, Clone, Default)]
pub(super) struct StopFields {
    pub(super) reason: Option<String>,
    pub(super) sequence: Option<String>,
    pub(super) details: Option<String>,
}

impl StopFields {
    /// Those of a message, or of the `delta` of a `message_delta`.
    pub(super) fn of(object: &str) -> Self {
        let own = |name| json::member(object, name).map(str::to_owned);
        Self { reason: own("stop_reason"), sequence: own("stop_sequence"), details: own("stop_details") }
    }

    /// Another reason; what went with the one before goes.
    pub(super) fn reason(word: &str) -> Self {
        Self { reason: Some(json::quote(word)), sequence: None, details: None }
    }

    /// A refusal that explains itself.
    pub(super) fn refusal(explanation: &str) -> Self {
        let details = Object::new()
            .string("type", "refusal")
            .raw("category", "null")
            .string("explanation", explanation);
        Self { details: Some(details.finish()), ..Self::reason("refusal") }
    }

    fn write(&self, object: Object) -> Object {
        let object = object
            .raw("stop_reason", self.reason.as_deref().unwrap_or("null"))
            .raw("stop_sequence", self.sequence.as_deref().unwrap_or("null"));
        match &self.details {
            Some(details) => object.raw("stop_details", details),
            None => object,
        }
    }
}

/// A message with other content and another end; without one that came, one of our own making.
pub(super) fn message(came: Option<&str>, content: &[String], stop: &StopFields) -> String {
    let made;
    let came = match came {
        Some(came) if json::is_object(came) => came,
        _ => {
            made = Object::new()
                .string("id", "msg_blocked")
                .string("type", "message")
                .string("role", "assistant")
                .string("model", "")
                .raw("usage", r#"{"input_tokens":0,"output_tokens":0}"#)
                .finish();
            &made
        }
    };
    let members = json::members(came).unwrap_or_default();
    let copy = |object: Object, fields: &[&str]| {
        let kept = members.iter().filter(|(name, _)| fields.contains(&name.as_ref()));
        kept.fold(object, |object, (name, value)| object.raw(name, value))
    };
    let body = copy(Object::new(), MESSAGE_FIELDS).raw("content", &json::array(content));
    copy(stop.write(body), MESSAGE_TAIL).finish()
}

/// `message_start` around a message.
pub(super) fn message_start(message: &str) -> Bytes {
    event("message_start", &Object::new().string("type", "message_start").raw("message", message).finish())
}

/// `message_delta` with an end and raw token counts.
pub(super) fn message_delta(stop: &StopFields, usage: &str) -> Bytes {
    let delta = stop.write(Object::new()).finish();
    let data = Object::new().string("type", "message_delta").raw("delta", &delta).raw("usage", usage);
    event("message_delta", &data.finish())
}

/// `message_stop`.
pub(super) fn message_stop() -> Bytes {
    Bytes::from_static(b"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
}

/// An error as clients know it: an event without its `event` line is ignored by the official SDKs.
pub(super) fn error(message: &str) -> String {
    let error = Object::new().string("type", "api_error").string("message", message).finish();
    Object::new().string("type", "error").raw("error", &error).finish()
}

/// Token counts, as far as they are known; the API always sends those of the answer.
pub(super) fn usage(usage: Usage) -> String {
    let counts = match usage.input {
        Some(input) => Object::new().number("input_tokens", input),
        None => Object::new(),
    };
    counts.number("output_tokens", usage.output.unwrap_or(0)).finish()
}

fn block_delta(index: u32, delta: &str) -> Bytes {
    let data = Object::new()
        .string("type", "content_block_delta")
        .number("index", index.into())
        .raw("delta", delta)
        .finish();
    event("content_block_delta", &data)
}

/// The name for an event that had none where clients look for it.
fn event_name(frame: &Frame, data: &str) -> String {
    let named = json::member(data, "type").and_then(json::unquote);
    named.or_else(|| frame.event().map(str::to_owned)).unwrap_or_else(|| String::from("message"))
}
