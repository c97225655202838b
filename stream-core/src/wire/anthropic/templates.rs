//! The templates of events and blocks. Of an upstream object only the fields listed here are kept: any other may hold a copy
//! of dropped payload (rule 17).

use crate::delta::{CallDelta, Channel, Usage};
use crate::ending::Ending;
use crate::json::{self, Object};
use crate::wire::template::{Made, MadeEvent, NULL, Raw, event, object};
use crate::wire::writer::{COMMENT, Templates};

use super::block::{CHOICE, is_empty_input};
use super::grammar::{KEPT_BEHIND_CONTENT, KEPT_OF_MESSAGE};
use super::write::MessagesWriter;

/// `content_block_start` for a block.
pub(super) fn block_start(index: u64, block: &str) -> MadeEvent {
    event!("content_block_start", "index": index, "content_block": Raw(block))
}

/// `content_block_delta` with text.
pub(super) fn text_delta(index: u64, channel: Channel, text: &str) -> MadeEvent {
    let delta = match channel {
        Channel::Reasoning => object! { "type": "thinking_delta", "thinking": text },
        Channel::Content | Channel::Refusal => object! { "type": "text_delta", "text": text },
    };
    event!("content_block_delta", "index": index, "delta": delta)
}

/// `content_block_delta` with arguments.
pub(super) fn input_delta(index: u64, arguments: &str) -> MadeEvent {
    let delta = object! { "type": "input_json_delta", "partial_json": arguments };
    event!("content_block_delta", "index": index, "delta": delta)
}

/// `content_block_stop`.
pub(super) fn block_stop(index: u64) -> MadeEvent {
    event!("content_block_stop", "index": index)
}

/// A text block.
pub(super) fn text_block(text: &str) -> String {
    object! { "type": "text", "text": text }.finish()
}

/// A thinking block with other text, and the signature of `block`: the signature stands for the text, and the next turn
/// needs it (rule 22).
pub(super) fn thinking_block(block: &str, text: &str) -> String {
    let signature = json::member(block, "signature").map(Raw);
    object! { "type": "thinking", "thinking": text, "signature": signature }.finish()
}

/// A call with the id and name of `call`; those of `block` where `call` has none.
pub(super) fn call_block(block: &str, call: &CallDelta, input: &str) -> String {
    let own = |name| json::member(block, name).unwrap_or(r#""""#).to_owned();
    let block = object! {
        "type": "tool_use",
        "id": Raw(call.id.as_deref().map_or_else(|| own("id"), json::quote)),
        "name": Raw(call.name.as_deref().map_or_else(|| own("name"), json::quote)),
        "input": Raw(input),
        "caller": json::member(block, "caller").map(Raw),
    };
    block.finish()
}

/// A text block of its own.
pub(super) fn made_text(number: u64, text: &str) -> Made {
    let delta = text_delta(number, Channel::Content, text);
    let events = vec![block_start(number, &text_block("")), delta, block_stop(number)];
    Made { events, document: text_block(text) }
}

/// A call of its own, with an id: the client's answer has to name the call.
pub(super) fn made_call(number: u64, call: &CallDelta) -> Made {
    let id = call.id.clone().unwrap_or_else(|| format!("toolu_inserted_{number}").into());
    let call = CallDelta { id: Some(id), ..call.clone() };
    let arguments = call.arguments.as_deref();
    let mut events = vec![block_start(number, &call_block("{}", &call, "{}"))];
    events.extend(arguments.filter(|said| !said.is_empty()).map(|said| input_delta(number, said)));
    events.push(block_stop(number));
    Made { events, document: call_block("{}", &call, &whole_input(arguments)) }
}

/// Arguments as the `input` of a whole block. Arguments that are no JSON become a string: the client gets a call that
/// cannot be run, rather than a call without its arguments.
pub(super) fn whole_input(arguments: Option<&str>) -> String {
    match arguments.filter(|arguments| !is_empty_input(arguments.trim_ascii())) {
        None | Some("") => String::from("{}"),
        Some(json) if serde_json::from_str::<serde::de::IgnoredAny>(json).is_ok() => json.to_owned(),
        Some(text) => json::quote(text),
    }
}

/// The stop fields of a message, as raw JSON.
#[derive(Debug, Clone, Default)]
pub(super) struct StopFields {
    reason: Option<String>,
    sequence: Option<String>,
    details: Option<String>,
}

impl StopFields {
    /// The stop fields of a message, or of the `delta` of a `message_delta`.
    pub(super) fn of(object: &str) -> Self {
        let own = |name| json::member(object, name).map(str::to_owned);
        Self { reason: own("stop_reason"), sequence: own("stop_sequence"), details: own("stop_details") }
    }

    /// Another reason, without the other stop fields of the old one.
    pub(super) fn reason(word: &str) -> Self {
        Self { reason: Some(json::quote(word)), sequence: None, details: None }
    }

    /// A refusal with an explanation.
    pub(super) fn refusal(explanation: &str) -> Self {
        let details = object! { "type": "refusal", "category": NULL, "explanation": explanation };
        Self { details: Some(details.finish()), ..Self::reason("refusal") }
    }

    fn object(&self) -> Object {
        object! {
            "stop_reason": Raw(self.reason.as_deref().unwrap_or("null")),
            "stop_sequence": Raw(self.sequence.as_deref().unwrap_or("null")),
            "stop_details": self.details.as_deref().map(Raw),
        }
    }
}

/// A message with other content and other stop fields; without an upstream message, a new one.
pub(super) fn message(came: Option<&str>, content: &[String], stop: &StopFields) -> String {
    let made;
    let came = match came {
        Some(came) if json::is_object(came) => came,
        _ => {
            let usage = object! { "input_tokens": 0_u64, "output_tokens": 0_u64 };
            let message = object! {
                "id": "msg_blocked", "type": "message", "role": "assistant", "model": "", "usage": usage,
            };
            made = message.finish();
            &made
        }
    };
    let body = json::only(came, KEPT_OF_MESSAGE).raw("content", &json::array(content));
    body.and(&stop.object()).and(&json::only(came, KEPT_BEHIND_CONTENT)).finish()
}

/// `message_start` around a message.
pub(super) fn message_start(message: &str) -> MadeEvent {
    event!("message_start", "message": Raw(message))
}

/// `message_delta` with an end and raw token counts.
pub(super) fn message_delta(stop: &StopFields, usage: &str) -> MadeEvent {
    event!("message_delta", "delta": stop.object(), "usage": Raw(usage))
}

/// `message_stop`.
pub(super) fn message_stop() -> MadeEvent {
    event!("message_stop")
}

/// Token counts, as far as they are known; the API always sends the output count.
pub(super) fn usage(usage: Usage) -> String {
    object! { "input_tokens": usage.input, "output_tokens": usage.output.unwrap_or(0) }.finish()
}

impl Templates for MessagesWriter {
    /// The error event. The official SDKs ignore an error event without its `event` line.
    fn error(ending: &Ending) -> MadeEvent {
        let word = ending.code().unwrap_or("api_error");
        event!("error", "error": object! { "type": word, "message": ending.message() })
    }

    fn keep_alive(&self) -> &'static str {
        match self.state.turns.known(CHOICE).is_some_and(|turn| turn.opened) {
            true => "event: ping\ndata: {\"type\": \"ping\"}\n\n",
            false => COMMENT,
        }
    }
}
