//! The events and blocks that are made here. Of what came only the known fields listed here survive: any other may
//! hold a copy of what was dropped (rule 17).

use crate::delta::{CallDelta, Channel, Usage};
use crate::ending::Ending;
use crate::json::{self, Object};

use super::block::is_empty_input;
use super::grammar::{KEPT_BEHIND_CONTENT, KEPT_OF_MESSAGE};

/// An event: its name, and its data.
pub(super) type Event = (&'static str, Object);

/// `content_block_start` for a block.
pub(super) fn block_start(index: u64, block: &str) -> Event {
    let (kind, event) = event("content_block_start");
    (kind, event.number("index", index).raw("content_block", block))
}

/// `content_block_delta` with text.
pub(super) fn text_delta(index: u64, channel: Channel, text: &str) -> Event {
    let (kind, field) = match channel {
        Channel::Reasoning => ("thinking_delta", "thinking"),
        Channel::Content | Channel::Refusal => ("text_delta", "text"),
    };
    block_delta(index, kind, field, text)
}

/// `content_block_delta` with arguments.
pub(super) fn input_delta(index: u64, arguments: &str) -> Event {
    block_delta(index, "input_json_delta", "partial_json", arguments)
}

fn block_delta(index: u64, kind: &str, field: &str, text: &str) -> Event {
    let delta = Object::new().string("type", kind).string(field, text).finish();
    let (kind, event) = event("content_block_delta");
    (kind, event.number("index", index).raw("delta", &delta))
}

/// `content_block_stop`.
pub(super) fn block_stop(index: u64) -> Event {
    let (kind, event) = event("content_block_stop");
    (kind, event.number("index", index))
}

fn event(kind: &'static str) -> Event {
    (kind, Object::new().string("type", kind))
}

/// A text block.
pub(super) fn text_block(text: &str) -> String {
    Object::new().string("type", "text").string("text", text).finish()
}

/// A thinking block with other text, and the signature that `block` had: it stands for the text, and the next turn
/// needs it (rule 22).
pub(super) fn thinking_block(block: &str, text: &str) -> String {
    let thinking = Object::new().string("type", "thinking").string("thinking", text);
    thinking.maybe("signature", json::member(block, "signature")).finish()
}

/// A call with the id and name of `call`, where it has them, else those of `block`.
pub(super) fn call_block(block: &str, call: &CallDelta, input: &str) -> String {
    let own = |name| json::member(block, name).unwrap_or(r#""""#).to_owned();
    Object::new()
        .string("type", "tool_use")
        .raw("id", &call.id.as_deref().map_or_else(|| own("id"), json::quote))
        .raw("name", &call.name.as_deref().map_or_else(|| own("name"), json::quote))
        .raw("input", input)
        .maybe("caller", json::member(block, "caller"))
        .finish()
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
        object
            .raw("stop_reason", self.reason.as_deref().unwrap_or("null"))
            .raw("stop_sequence", self.sequence.as_deref().unwrap_or("null"))
            .maybe("stop_details", self.details.as_deref())
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
    let body = json::only(came, KEPT_OF_MESSAGE).raw("content", &json::array(content));
    stop.write(body).and(&json::only(came, KEPT_BEHIND_CONTENT)).finish()
}

/// `message_start` around a message.
pub(super) fn message_start(message: &str) -> Event {
    let (kind, event) = event("message_start");
    (kind, event.raw("message", message))
}

/// `message_delta` with an end and raw token counts.
pub(super) fn message_delta(stop: &StopFields, usage: &str) -> Event {
    let (kind, event) = event("message_delta");
    (kind, event.raw("delta", &stop.write(Object::new()).finish()).raw("usage", usage))
}

/// `message_stop`.
pub(super) fn message_stop() -> Event {
    event("message_stop")
}

/// An error as clients know it: an event without its `event` line is ignored by the official SDKs.
pub(super) fn error(ending: &Ending) -> Event {
    let word = ending.code().unwrap_or("api_error");
    let error = Object::new().string("type", word).string("message", ending.message()).finish();
    let (kind, event) = event("error");
    (kind, event.raw("error", &error))
}

/// Token counts, as far as they are known; the API always sends those of the answer.
pub(super) fn usage(usage: Usage) -> String {
    let input = usage.input.map(|input| input.to_string());
    let counts = Object::new().maybe("input_tokens", input.as_deref());
    counts.number("output_tokens", usage.output.unwrap_or(0)).finish()
}
