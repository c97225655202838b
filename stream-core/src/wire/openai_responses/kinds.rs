//! The types of events, items and parts: the tables by which they are read, compared, normalised and rebuilt.

use std::borrow::Cow;

use super::grammar::Event;
use super::item::{self, SUMMARY};
use crate::delta::{CallFlavor, Channel, Slot};
use crate::wire::DecodeError;

/// A known type of event.
#[derive(Debug)]
pub(super) struct EventType {
    /// The type behind [`PREFIX`].
    name: &'static str,
    pub(super) act: Act,
    pub(super) subject: Subject,
    /// The one field with payload; `None` where the event may have any field.
    pub(super) body: Option<&'static str>,
}

/// The act of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Act {
    /// The response opens.
    Opens,
    /// The response ends.
    Ends,
    /// The item, or the part, opens.
    Added,
    /// The item, or the part, is complete and repeated.
    Done,
    /// More text of the part.
    Text(Channel),
    /// More arguments of the call.
    Arguments(CallFlavor),
    /// A copy of the text, or of the arguments.
    Restates,
    /// An annotation of the text.
    Annotates,
}

/// The subject of an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Subject {
    Response,
    Item,
    /// A call of this type.
    Call(&'static str),
    /// A part of the content of items of these types. The type of the part is this one, or stands in the part.
    Content(&'static [&'static str], Option<&'static str>),
    /// A part of a reasoning summary.
    Summary,
    /// The spoken audio of a message, which has no number.
    Speech,
}

impl EventType {
    pub(super) fn of(kind: &str) -> Option<&'static Self> {
        let name = kind.strip_prefix(PREFIX)?;
        EVENTS.iter().find(|event| event.name == name)
    }

    /// The types of items that the event may belong to.
    pub(super) fn items(&self) -> &[&'static str] {
        match &self.subject {
            Subject::Response | Subject::Item => &[],
            Subject::Call(kind) => std::slice::from_ref(kind),
            Subject::Content(items, _) => items,
            Subject::Summary => &["reasoning"],
            Subject::Speech => &["message"],
        }
    }

    /// The field with the number of the part, if the event has to have a part.
    pub(super) fn index(&self) -> Option<&'static str> {
        match self.subject {
            Subject::Content(..) => Some("content_index"),
            Subject::Summary => Some("summary_index"),
            _ => None,
        }
    }

    /// The slot of an event of this type. A missing number counts as the first.
    pub(super) fn slot(&self, event: &Event<'_>) -> Result<Slot, DecodeError> {
        let (number, base) = match self.subject {
            Subject::Response | Subject::Item => return Ok(Slot::None),
            Subject::Call(_) => (None, 0),
            Subject::Content(..) | Subject::Speech => (event.content_index, 0),
            Subject::Summary => (event.summary_index, SUMMARY),
        };
        Ok(Slot::At { item: event.item(), part: base + item::part_number(number.unwrap_or(0))? })
    }
}

/// The role of an item for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Message,
    Reasoning,
    /// A call that the client runs (rule 7); its arguments are the own fields of its type.
    Call(CallFlavor),
    /// A tool that the provider ran.
    Server,
    Unknown,
}

impl Role {
    pub(super) fn of(kind: &str) -> Self {
        ItemType::of(kind).map_or(Self::Unknown, |item| item.role)
    }

    /// The role of the items of an event like `web_search_call.searching` or `shell_call_command.delta`: that of the longest
    /// type which is a prefix of the event's name.
    pub(super) fn of_event(name: &str) -> Self {
        let of_item = ITEMS.iter().filter(|item| name.starts_with(item.name));
        of_item.max_by_key(|item| item.name.len()).map_or(Self::Unknown, |item| item.role)
    }

    /// The role of the items that hold texts of a channel.
    pub(super) fn of_channel(channel: Channel) -> Self {
        if channel == Channel::Reasoning { Self::Reasoning } else { Self::Message }
    }

    /// Whether such an item is a list of parts.
    pub(super) fn has_parts(self) -> bool {
        matches!(self, Self::Message | Self::Reasoning)
    }
}

/// A known type of item.
#[derive(Debug)]
pub(super) struct ItemType {
    name: &'static str,
    pub(super) role: Role,
    /// The fields with payload, `name` included; `None` where the item may have any field.
    pub(super) own: Option<&'static [&'static str]>,
}

impl ItemType {
    pub(super) fn of(kind: &str) -> Option<&'static Self> {
        ITEMS.iter().find(|item| item.name == kind)
    }

    /// The name of a type of item, without an allocation where the type is known.
    pub(super) fn name(kind: &str) -> Cow<'static, str> {
        Self::of(kind).map_or_else(|| Cow::Owned(kind.to_owned()), |item| Cow::Borrowed(item.name))
    }

    /// Whether items of the type have a name.
    pub(super) fn is_named(&self) -> bool {
        self.own.is_some_and(|own| own.contains(&"name"))
    }

    /// The fields that may hold the arguments of a call.
    pub(super) fn arguments(&self) -> impl Iterator<Item = &'static str> {
        self.own.unwrap_or_default().iter().copied().filter(|field| *field != "name")
    }
}

/// A known type of part. All of them are texts.
#[derive(Debug)]
pub(super) struct PartType {
    name: &'static str,
    pub(super) channel: Channel,
    /// The field with the text.
    pub(super) field: &'static str,
}

impl PartType {
    pub(super) fn of(kind: &str) -> Option<&'static Self> {
        let kind = if kind == "text" { "output_text" } else { kind };
        PARTS.iter().find(|part| part.name == kind)
    }

    /// The name of a type of part in its one spelling, without an allocation where the type is known.
    pub(super) fn name(kind: &str) -> Cow<'static, str> {
        Self::of(kind).map_or_else(|| Cow::Owned(kind.to_owned()), |part| Cow::Borrowed(part.name))
    }
}

/// The prefix of the types of all events of a response.
pub(super) const PREFIX: &str = "response.";

const MESSAGE: &[&str] = &["message"];
const REASONING: &[&str] = &["reasoning"];
const SAID: Subject = Subject::Content(MESSAGE, Some("output_text"));
const REFUSED: Subject = Subject::Content(MESSAGE, Some("refusal"));
const THOUGHT: Subject = Subject::Content(REASONING, Some("reasoning_text"));
const ANY_PART: Subject = Subject::Content(&["message", "reasoning"], None);
const FUNCTION: Subject = Subject::Call("function_call");
const CUSTOM: Subject = Subject::Call("custom_tool_call");

const fn event(name: &'static str, act: Act, subject: Subject, body: &'static str) -> EventType {
    EventType { name, act, subject, body: Some(body) }
}

const fn annotation(name: &'static str) -> EventType {
    EventType { name, act: Act::Annotates, subject: SAID, body: None }
}

/// The known types of events, the most frequent ones first.
static EVENTS: [EventType; 28] = [
    event("output_text.delta", Act::Text(Channel::Content), SAID, "delta"),
    event("function_call_arguments.delta", Act::Arguments(CallFlavor::Function), FUNCTION, "delta"),
    event("reasoning_summary_text.delta", Act::Text(Channel::Reasoning), Subject::Summary, "delta"),
    event("reasoning_text.delta", Act::Text(Channel::Reasoning), THOUGHT, "delta"),
    event("custom_tool_call_input.delta", Act::Arguments(CallFlavor::Custom), CUSTOM, "delta"),
    event("refusal.delta", Act::Text(Channel::Refusal), REFUSED, "delta"),
    event("audio.transcript.delta", Act::Text(Channel::Content), Subject::Speech, "delta"),
    event("output_text.done", Act::Restates, SAID, "text"),
    event("function_call_arguments.done", Act::Restates, FUNCTION, "arguments"),
    event("reasoning_summary_text.done", Act::Restates, Subject::Summary, "text"),
    event("reasoning_text.done", Act::Restates, THOUGHT, "text"),
    event("custom_tool_call_input.done", Act::Restates, CUSTOM, "input"),
    event("refusal.done", Act::Restates, REFUSED, "refusal"),
    event("audio.transcript.done", Act::Restates, Subject::Speech, "transcript"),
    event("content_part.added", Act::Added, ANY_PART, "part"),
    event("content_part.done", Act::Done, ANY_PART, "part"),
    event("reasoning_summary_part.added", Act::Added, Subject::Summary, "part"),
    event("reasoning_summary_part.done", Act::Done, Subject::Summary, "part"),
    event("output_item.added", Act::Added, Subject::Item, "item"),
    event("output_item.done", Act::Done, Subject::Item, "item"),
    event("created", Act::Opens, Subject::Response, "response"),
    event("in_progress", Act::Opens, Subject::Response, "response"),
    event("queued", Act::Opens, Subject::Response, "response"),
    event("completed", Act::Ends, Subject::Response, "response"),
    event("incomplete", Act::Ends, Subject::Response, "response"),
    event("failed", Act::Ends, Subject::Response, "response"),
    annotation("output_text.annotation.added"),
    annotation("output_text_annotation.added"),
];

const fn call(name: &'static str, flavor: CallFlavor, own: &'static [&'static str]) -> ItemType {
    ItemType { name, role: Role::Call(flavor), own: Some(own) }
}

const fn server(name: &'static str, own: &'static [&'static str]) -> ItemType {
    ItemType { name, role: Role::Server, own: Some(own) }
}

/// An item of the provider whose fields are not read.
const fn result(name: &'static str) -> ItemType {
    ItemType { name, role: Role::Server, own: None }
}

static ITEMS: [ItemType; 27] = [
    ItemType { name: "message", role: Role::Message, own: Some(&["content"]) },
    ItemType { name: "reasoning", role: Role::Reasoning, own: Some(&["content", "summary"]) },
    call("function_call", CallFlavor::Function, &["name", "arguments"]),
    call("custom_tool_call", CallFlavor::Custom, &["name", "input"]),
    call("shell_call", CallFlavor::Builtin, &["action"]),
    call("local_shell_call", CallFlavor::Builtin, &["action"]),
    call("apply_patch_call", CallFlavor::Builtin, &["operation"]),
    call("computer_call", CallFlavor::Builtin, &["action", "actions"]),
    call("mcp_approval_request", CallFlavor::Builtin, &["name", "arguments"]),
    server("web_search_call", &["action"]),
    server("file_search_call", &[]),
    server("code_interpreter_call", &[]),
    server("image_generation_call", &["action"]),
    server("mcp_call", &["name", "arguments"]),
    server("tool_search_call", &["arguments"]),
    result("mcp_list_tools"),
    result("mcp_approval_response"),
    result("tool_search_output"),
    result("compaction"),
    result("program"),
    result("program_output"),
    result("function_call_output"),
    result("custom_tool_call_output"),
    result("shell_call_output"),
    result("local_shell_call_output"),
    result("apply_patch_call_output"),
    result("computer_call_output"),
];

const fn part(name: &'static str, channel: Channel, field: &'static str) -> PartType {
    PartType { name, channel, field }
}

static PARTS: [PartType; 5] = [
    part("output_text", Channel::Content, "text"),
    part("output_audio", Channel::Content, "transcript"),
    part("refusal", Channel::Refusal, "refusal"),
    part("reasoning_text", Channel::Reasoning, "text"),
    part("summary_text", Channel::Reasoning, "text"),
];
