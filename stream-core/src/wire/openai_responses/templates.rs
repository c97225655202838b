//! The templates of inserted items, openings and endings. The writer adds the sequence number at the end of an event.

use super::write::ResponsesWriter;
use crate::delta::{CallDelta, CallFlavor, Channel};
use crate::ending::Ending;
use crate::json::{self, Object};
use crate::wire::template::{Made, MadeEvent, NULL, Raw, event, object};
use crate::wire::writer::Templates;

/// A message with one text or refusal. `number` makes the id.
pub(super) fn message(number: u32, index: u64, channel: Channel, text: &str) -> Made {
    let id = &format!("msg_policy_{number}");
    let at = At { id, index, number: 0, is_summary: false };
    let document = message_item(id, "completed", &json::array([part(channel, false, text)]));
    let delta = match channel {
        Channel::Refusal => at.event("response.refusal.delta", &object! { "delta": text }),
        _ => at.event("response.output_text.delta", &object! { "delta": text, "logprobs": EMPTY }),
    };
    let events = vec![
        item_added(index, &message_item(id, "in_progress", "[]")),
        reopened_part(&at, channel),
        delta,
        restated(&at, channel, text),
        part_done(&at, channel, text),
        item_done(index, &document),
    ];
    Made { events, document }
}

/// A call with all its arguments. `number` makes the ids.
pub(super) fn call(number: u32, index: u64, call: &CallDelta) -> Made {
    let (prefix, kind) = match call.flavor {
        CallFlavor::Custom => ("ctc", "custom_tool_call"),
        _ => ("fc", "function_call"),
    };
    let (field, _, done) = spoken(call.flavor);
    let id = format!("{prefix}_policy_{number}");
    let call_id = call.id.as_deref().map_or_else(|| format!("call_policy_{number}"), str::to_owned);
    let said = call.arguments.as_deref().unwrap_or_default();
    let item = |status: &str, said: &str| {
        let name = call.name.as_deref().unwrap_or_default();
        let item = object! {
            "id": &*id, "type": kind, "status": status, field: said, "call_id": &*call_id, "name": name,
        };
        item.finish()
    };
    let document = item("completed", said);
    let restated = event!(done, "item_id": &*id, "output_index": index, field: said);
    let delta = (!said.is_empty()).then(|| arguments(&id, index, call.flavor, said));
    let mut events = vec![item_added(index, &item("in_progress", ""))];
    events.extend(delta);
    events.extend([restated, item_done(index, &document)]);
    Made { events, document }
}

/// The arguments of a call, all at once.
pub(super) fn arguments(item_id: &str, index: u64, flavor: CallFlavor, arguments: &str) -> MadeEvent {
    let (_, kind, _) = spoken(flavor);
    event!(kind, "item_id": item_id, "output_index": index, "delta": arguments)
}

/// The field of a call with its arguments, the event with more of them, and the event that repeats them.
fn spoken(flavor: CallFlavor) -> (&'static str, &'static str, &'static str) {
    match flavor {
        CallFlavor::Custom => {
            ("input", "response.custom_tool_call_input.delta", "response.custom_tool_call_input.done")
        }
        _ => ("arguments", "response.function_call_arguments.delta", "response.function_call_arguments.done"),
    }
}

/// The opening of a message, or of a reasoning item, whose own opening was dropped.
pub(super) fn reopened_item(id: &str, index: u64, channel: Channel) -> MadeEvent {
    let item = match channel {
        Channel::Reasoning => object! { "id": id, "type": "reasoning", "summary": EMPTY }.finish(),
        _ => message_item(id, "in_progress", "[]"),
    };
    item_added(index, &item)
}

/// The place of a part on the wire.
#[derive(Debug)]
pub(super) struct At<'a> {
    pub(super) id: &'a str,
    pub(super) index: u64,
    pub(super) number: u64,
    pub(super) is_summary: bool,
}

impl At<'_> {
    /// An event of the part, with these members behind its numbers.
    fn event(&self, kind: &'static str, says: &Object) -> MadeEvent {
        let field = if self.is_summary { "summary_index" } else { "content_index" };
        let event = event!(kind, "item_id": self.id, "output_index": self.index, field: self.number);
        MadeEvent { data: event.data.and(says), ..event }
    }

    /// An event of the part that holds the part itself.
    fn around(
        &self,
        content: &'static str,
        summary: &'static str,
        channel: Channel,
        text: &str,
    ) -> MadeEvent {
        let kind = if self.is_summary { summary } else { content };
        self.event(kind, &object! { "part": Raw(part(channel, self.is_summary, text)) })
    }
}

/// The opening of a part whose own opening was dropped.
pub(super) fn reopened_part(at: &At<'_>, channel: Channel) -> MadeEvent {
    at.around("response.content_part.added", "response.reasoning_summary_part.added", channel, "")
}

/// The event that repeats the whole text of a part.
pub(super) fn restated(at: &At<'_>, channel: Channel, text: &str) -> MadeEvent {
    let (kind, says) = match channel {
        _ if at.is_summary => ("response.reasoning_summary_text.done", object! { "text": text }),
        Channel::Content => ("response.output_text.done", object! { "text": text, "logprobs": EMPTY }),
        Channel::Reasoning => ("response.reasoning_text.done", object! { "text": text }),
        Channel::Refusal => ("response.refusal.done", object! { "refusal": text }),
    };
    at.event(kind, &says)
}

/// The end of a part.
pub(super) fn part_done(at: &At<'_>, channel: Channel, text: &str) -> MadeEvent {
    at.around("response.content_part.done", "response.reasoning_summary_part.done", channel, text)
}

/// A part with this text.
pub(super) fn part(channel: Channel, is_summary: bool, text: &str) -> String {
    let part = match channel {
        _ if is_summary => object! { "type": "summary_text", "text": text },
        Channel::Content => object! { "type": "output_text", "text": text, "annotations": EMPTY },
        Channel::Reasoning => object! { "type": "reasoning_text", "text": text },
        Channel::Refusal => object! { "type": "refusal", "refusal": text },
    };
    part.finish()
}

/// A message, or a reasoning item, that is incomplete.
pub(super) fn incomplete_item(id: &str, channel: Channel, content: &[String], summary: &[String]) -> String {
    match channel {
        Channel::Reasoning => {
            let content = (!content.is_empty()).then(|| Raw(json::array(content)));
            let summary = Raw(json::array(summary));
            let item = object! {
                "id": id, "type": "reasoning", "status": "incomplete", "summary": summary, "content": content,
            };
            item.finish()
        }
        _ => message_item(id, "incomplete", &json::array(content)),
    }
}

/// The opening event of a response.
pub(super) fn created(response: &str) -> MadeEvent {
    event!("response.created", "response": Raw(response))
}

/// The last event of a response that was refused.
pub(super) fn incomplete(response: &str) -> MadeEvent {
    event!("response.incomplete", "response": Raw(response))
}

/// The fields of a refused response.
pub(super) fn refused() -> [(&'static str, String); 2] {
    let details = object! { "reason": "content_filter" };
    [("status", json::quote("incomplete")), ("incomplete_details", details.finish())]
}

impl Templates for ResponsesWriter {
    fn error(ending: &Ending) -> MadeEvent {
        let code = ending.code().unwrap_or("server_error");
        event!("error", "code": code, "message": ending.message(), "param": NULL)
    }
}

/// The response object where the upstream has sent none.
pub(super) fn unknown_response() -> String {
    let response = object! {
        "id": "resp_blocked", "object": "response", "created_at": 0_u64, "status": "in_progress", "model": "unknown",
        "output": EMPTY,
    };
    response.finish()
}

fn item_added(index: u64, item: &str) -> MadeEvent {
    event!("response.output_item.added", "output_index": index, "item": Raw(item))
}

/// The end of an item.
pub(super) fn item_done(index: u64, item: &str) -> MadeEvent {
    event!("response.output_item.done", "output_index": index, "item": Raw(item))
}

fn message_item(id: &str, status: &str, content: &str) -> String {
    let item = object! {
        "id": id, "type": "message", "status": status, "role": "assistant", "content": Raw(content),
    };
    item.finish()
}

/// The end of an event without the number of its part, which becomes that of the first.
pub(super) fn first_of(index: &str) -> String {
    format!(",\"{index}\":0}}")
}

/// An empty list.
const EMPTY: Raw<&str> = Raw("[]");
