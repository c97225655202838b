//! Events and documents that are made here: inserted items, openings, endings.

use crate::delta::{CallDelta, CallFlavor, Channel};
use crate::ending::Ending;
use crate::json::{self, Object};

/// An event but for its number.
pub(super) type Event = (&'static str, Object);

/// An inserted item: the events that say it, and how it stands in `output`.
#[derive(Debug)]
pub(super) struct Made {
    pub(super) events: Vec<Event>,
    pub(super) document: String,
}

/// A message with one text or refusal. `number` makes the id.
pub(super) fn message(number: u32, index: u64, channel: Channel, text: &str) -> Made {
    let id = &format!("msg_policy_{number}");
    let at = At { id, index, number: 0, is_summary: false };
    let document = message_item(id, "completed", &json::array([part(channel, false, text)]));
    let delta = match channel {
        Channel::Refusal => (REFUSAL_DELTA, at.event(REFUSAL_DELTA).string("delta", text)),
        _ => (TEXT_DELTA, at.event(TEXT_DELTA).string("delta", text).raw("logprobs", "[]")),
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
    let custom = call.flavor == CallFlavor::Custom;
    let (kind, field, delta, done, prefix) = if custom {
        ("custom_tool_call", "input", CUSTOM_DELTA, CUSTOM_DONE, "ctc")
    } else {
        ("function_call", "arguments", ARGUMENTS_DELTA, ARGUMENTS_DONE, "fc")
    };
    let id = format!("{prefix}_policy_{number}");
    let call_id = call.id.as_deref().map_or_else(|| format!("call_policy_{number}"), str::to_owned);
    let arguments = call.arguments.as_deref().unwrap_or_default();
    let item = |status, arguments| {
        Object::new()
            .string("id", &id)
            .string("type", kind)
            .string("status", status)
            .string(field, arguments)
            .string("call_id", &call_id)
            .string("name", call.name.as_deref().unwrap_or_default())
            .finish()
    };
    let document = item("completed", arguments);
    let spoken = |kind| event(kind).string("item_id", &id).number("output_index", index);
    let mut events = vec![item_added(index, &item("in_progress", ""))];
    if !arguments.is_empty() {
        events.push((delta, spoken(delta).string("delta", arguments)));
    }
    events.push((done, spoken(done).string(field, arguments)));
    events.push(item_done(index, &document));
    Made { events, document }
}

/// The arguments of a call, all at once.
pub(super) fn arguments(item_id: &str, index: u64, flavor: CallFlavor, arguments: &str) -> Event {
    let kind = if flavor == CallFlavor::Custom { CUSTOM_DELTA } else { ARGUMENTS_DELTA };
    let event = event(kind).string("item_id", item_id).number("output_index", index);
    (kind, event.string("delta", arguments))
}

/// The opening of a message, or of a reasoning item, whose own did not leave.
pub(super) fn reopened_item(id: &str, index: u64, channel: Channel) -> Event {
    let item = match channel {
        Channel::Reasoning => {
            Object::new().string("id", id).string("type", "reasoning").raw("summary", "[]").finish()
        }
        _ => message_item(id, "in_progress", "[]"),
    };
    item_added(index, &item)
}

/// Where a part stands on the wire.
#[derive(Debug)]
pub(super) struct At<'a> {
    pub(super) id: &'a str,
    pub(super) index: u64,
    pub(super) number: u64,
    pub(super) is_summary: bool,
}

impl At<'_> {
    fn event(&self, kind: &'static str) -> Object {
        let field = if self.is_summary { "summary_index" } else { "content_index" };
        let event = event(kind).string("item_id", self.id).number("output_index", self.index);
        event.number(field, self.number)
    }
}

/// The opening of a part whose own did not leave.
pub(super) fn reopened_part(at: &At<'_>, channel: Channel) -> Event {
    let kind = if at.is_summary { SUMMARY_ADDED } else { PART_ADDED };
    (kind, at.event(kind).raw("part", &part(channel, at.is_summary, "")))
}

/// The whole text of a part, said again.
pub(super) fn restated(at: &At<'_>, channel: Channel, text: &str) -> Event {
    let (kind, field) = match channel {
        _ if at.is_summary => (SUMMARY_TEXT_DONE, "text"),
        Channel::Content => (TEXT_DONE, "text"),
        Channel::Reasoning => (REASONING_DONE, "text"),
        Channel::Refusal => (REFUSAL_DONE, "refusal"),
    };
    let event = at.event(kind).string(field, text);
    (kind, if kind == TEXT_DONE { event.raw("logprobs", "[]") } else { event })
}

/// The end of a part.
pub(super) fn part_done(at: &At<'_>, channel: Channel, text: &str) -> Event {
    let kind = if at.is_summary { SUMMARY_DONE } else { PART_DONE };
    (kind, at.event(kind).raw("part", &part(channel, at.is_summary, text)))
}

/// A part with this text.
pub(super) fn part(channel: Channel, is_summary: bool, text: &str) -> String {
    match channel {
        _ if is_summary => Object::new().string("type", "summary_text").string("text", text).finish(),
        Channel::Content => text_part(text),
        Channel::Reasoning => Object::new().string("type", "reasoning_text").string("text", text).finish(),
        Channel::Refusal => Object::new().string("type", "refusal").string("refusal", text).finish(),
    }
}

/// A message, or a reasoning item, that was cut short.
pub(super) fn incomplete_item(id: &str, channel: Channel, content: &[String], summary: &[String]) -> String {
    match channel {
        Channel::Reasoning => {
            let item = Object::new().string("id", id).string("type", "reasoning");
            let item = item.string("status", "incomplete").raw("summary", &json::array(summary));
            if content.is_empty() { item } else { item.raw("content", &json::array(content)) }.finish()
        }
        _ => message_item(id, "incomplete", &json::array(content)),
    }
}

/// An event that carries a response.
pub(super) fn with_response(kind: &'static str, response: &str) -> Event {
    (kind, event(kind).raw("response", response))
}

/// The error event.
pub(super) fn error(ending: &Ending) -> Event {
    let code = ending.code().unwrap_or("server_error");
    (ERROR, event(ERROR).string("code", code).string("message", ending.message()).raw("param", "null"))
}

/// A response of which nothing is known.
pub(super) fn unknown_response() -> String {
    Object::new()
        .string("id", "resp_blocked")
        .string("object", "response")
        .number("created_at", 0)
        .string("status", "in_progress")
        .string("model", "unknown")
        .raw("output", "[]")
        .finish()
}

fn event(kind: &str) -> Object {
    Object::new().string("type", kind)
}

fn item_added(index: u64, item: &str) -> Event {
    (ITEM_ADDED, event(ITEM_ADDED).number("output_index", index).raw("item", item))
}

/// The end of an item.
pub(super) fn item_done(index: u64, item: &str) -> Event {
    (ITEM_DONE, event(ITEM_DONE).number("output_index", index).raw("item", item))
}

fn message_item(id: &str, status: &str, content: &str) -> String {
    Object::new()
        .string("id", id)
        .string("type", "message")
        .string("status", status)
        .string("role", "assistant")
        .raw("content", content)
        .finish()
}

fn text_part(text: &str) -> String {
    Object::new().string("type", "output_text").string("text", text).raw("annotations", "[]").finish()
}

/// Why the response is not complete.
pub(super) const FILTERED: &str = r#"{"reason":"content_filter"}"#;

pub(super) const CREATED: &str = "response.created";
pub(super) const INCOMPLETE: &str = "response.incomplete";

const ERROR: &str = "error";
const ITEM_ADDED: &str = "response.output_item.added";
const ITEM_DONE: &str = "response.output_item.done";
const PART_ADDED: &str = "response.content_part.added";
const PART_DONE: &str = "response.content_part.done";
const SUMMARY_ADDED: &str = "response.reasoning_summary_part.added";
const SUMMARY_DONE: &str = "response.reasoning_summary_part.done";
const SUMMARY_TEXT_DONE: &str = "response.reasoning_summary_text.done";
const REASONING_DONE: &str = "response.reasoning_text.done";
const REFUSAL_DELTA: &str = "response.refusal.delta";
const REFUSAL_DONE: &str = "response.refusal.done";
const TEXT_DELTA: &str = "response.output_text.delta";
const TEXT_DONE: &str = "response.output_text.done";
const ARGUMENTS_DELTA: &str = "response.function_call_arguments.delta";
const ARGUMENTS_DONE: &str = "response.function_call_arguments.done";
const CUSTOM_DELTA: &str = "response.custom_tool_call_input.delta";
const CUSTOM_DONE: &str = "response.custom_tool_call_input.done";
