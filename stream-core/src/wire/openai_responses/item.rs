//! What the types of output items mean, and how an item is told: when it opens, and when it is restated.

use std::borrow::Cow;

use super::grammar;
use super::normal;
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind, Restated, Runs, Slot, Text};
use crate::json::Object;
use crate::wire::DecodeError;
use crate::wire::document::Value;

/// What an item is to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Message,
    Reasoning,
    /// The client runs it (rule 7); its arguments are in the first of these fields that is there.
    Call(CallFlavor, &'static [&'static str]),
    /// The provider ran it.
    Server,
    Unknown,
}

impl Role {
    pub(super) fn of(kind: &str) -> Self {
        ROLES.iter().find(|(name, _)| *name == kind).map_or(Self::Unknown, |(_, role)| *role)
    }

    /// The role of the items that an event like `web_search_call.searching` or `shell_call_command.delta` speaks of:
    /// that of the longest type its name starts with.
    pub(super) fn of_event(kind: &str) -> Self {
        ROLES
            .iter()
            .filter(|(name, _)| kind.starts_with(name))
            .max_by_key(|(name, _)| name.len())
            .map_or(Self::Unknown, |(_, role)| *role)
    }
}

/// The text of a part: its channel and the field it stands in.
pub(super) fn part_text(kind: &str) -> Option<(Channel, &'static str)> {
    Some(match kind {
        "output_text" | "text" => (Channel::Content, "text"),
        "output_audio" => (Channel::Content, "transcript"),
        "refusal" => (Channel::Refusal, "refusal"),
        "reasoning_text" | "summary_text" => (Channel::Reasoning, "text"),
        _ => return None,
    })
}

/// An item with its raw bytes and type.
#[derive(Debug)]
pub(super) struct Told<'a> {
    index: u32,
    kind: Cow<'a, str>,
    role: Role,
    item: Value<'a>,
}

impl<'a> Told<'a> {
    pub(super) fn read(item: Value<'a>, index: u32) -> Result<Self, DecodeError> {
        let item = item.expect_object("item")?;
        let kind = grammar::string(item.get("type")).unwrap_or(Cow::Borrowed("unknown"));
        let role = match Role::of(&kind) {
            // A search that the client is to run.
            Role::Server if grammar::string(item.get("execution")).as_deref() == Some("client") => {
                Role::Unknown
            }
            role => role,
        };
        Ok(Self { index, kind, role, item })
    }

    /// The type.
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// The id of the item itself, rather than of its call.
    pub(super) fn item_id(&self) -> Option<Text> {
        grammar::id(self.item.get("id"))
    }

    /// The name, where items of the type have one.
    pub(super) fn own_name(&self) -> Option<Text> {
        grammar::name(self.item.get("name")).filter(|_| NAMED.contains(&&*self.kind))
    }

    /// What a call of the API's own tools asks for.
    pub(super) fn action(&self) -> Option<&'a str> {
        let Role::Call(CallFlavor::Builtin, _) = self.role else { return None };
        ["action", "operation", "actions"].iter().find_map(|name| self.item.get(name)).map(Value::raw)
    }

    /// Whether the item or one of its parts has what belongs to another type.
    pub(super) fn is_foreign(&self) -> Result<bool, DecodeError> {
        if normal::is_foreign_item(&self.kind, self.item) {
            return Ok(true);
        }
        let mut foreign = false;
        if matches!(self.role, Role::Message | Role::Reasoning) {
            for list in ["summary", "content"] {
                for part in parts(self.item, list)? {
                    foreign |= is_foreign_part(part)?;
                }
            }
        }
        Ok(foreign)
    }

    /// Tells the type of each part, and whether it is one of the summary.
    pub(super) fn part_kinds(&self, mut tell: impl FnMut(bool, &str)) -> Result<(), DecodeError> {
        if matches!(self.role, Role::Message | Role::Reasoning) {
            for (list, is_summary) in [("summary", true), ("content", false)] {
                for part in parts(self.item, list)? {
                    tell(is_summary, part_kind(part)?.as_deref().unwrap_or("unknown"));
                }
            }
        }
        Ok(())
    }

    /// The item opens (`output_item.added`), empty as a rule.
    pub(super) fn added(&self, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
        match self.role {
            Role::Message | Role::Reasoning => {
                into.push(self.delta(Slot::ITEM, DeltaKind::ItemStart { channel: self.channel() }));
                self.each_part(|part, said| {
                    match said {
                        Said::Text(_, text) if text.is_empty() => {}
                        Said::Text(channel, text) => {
                            into.push(self.delta(part, DeltaKind::Text { channel, text: text.into() }));
                        }
                        Said::Opaque(kind, bytes) => into.push(self.delta(part, opaque(kind, bytes))),
                    };
                })
            }
            Role::Call(flavor, _) => {
                // An action is still incomplete here and would contradict the one that is done.
                let arguments = self.body().filter(|body| !body.is_empty() && self.has_whole_body());
                into.push(self.delta(0, self.call(flavor, arguments)));
                Ok(())
            }
            Role::Server | Role::Unknown => {
                into.push(self.delta(0, self.opaque()));
                into.extend(self.server_call());
                Ok(())
            }
        }
    }

    /// The item is restated and, in `output_item.done`, complete.
    pub(super) fn done(&self, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
        let stop = match self.role {
            Role::Message | Role::Reasoning => Slot::ITEM,
            Role::Call(..) | Role::Server | Role::Unknown => 0,
        };
        match self.role {
            Role::Server | Role::Unknown => {
                into.push(self.delta(0, self.opaque()));
                into.extend(self.server_call());
                into.extend(self.server_arguments());
            }
            _ => self.restated(into)?,
        }
        into.push(self.delta(stop, DeltaKind::Stop));
        Ok(())
    }

    /// The item stands in the `output` of a response that was streamed.
    pub(super) fn restated(&self, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
        match self.role {
            Role::Message | Role::Reasoning => self.each_part(|part, said| {
                let copy = match said {
                    Said::Text(_, text) => Restated::body(text),
                    Said::Opaque(kind, _) => named(kind),
                };
                into.push(self.delta(part, DeltaKind::Copy(copy)));
            }),
            Role::Call(flavor, _) => {
                let copy = Restated {
                    flavor,
                    id: self.id(),
                    name: Some(self.name()),
                    // To a client, arguments that are missing are none.
                    body: self.body().or_else(|| self.has_whole_body().then_some("".into())).map(Into::into),
                    ..Restated::default()
                };
                into.push(self.delta(0, DeltaKind::Copy(copy)));
                Ok(())
            }
            Role::Server | Role::Unknown => {
                let copy = Restated {
                    runs: Some(self.runs()),
                    tool: self.own_name(),
                    body: self.server_body().map(Into::into),
                    ..named(self.kind.clone())
                };
                into.push(self.delta(0, DeltaKind::Copy(copy)));
                Ok(())
            }
        }
    }

    /// The item stands in a response that was not streamed.
    pub(super) fn whole(&self, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
        let stop = match self.role {
            Role::Message | Role::Reasoning => {
                into.push(self.delta(Slot::ITEM, DeltaKind::ItemStart { channel: self.channel() }));
                self.each_part(|part, said| {
                    match said {
                        Said::Text(channel, text) => {
                            into.push(self.delta(part, DeltaKind::Start { channel }));
                            if !text.is_empty() {
                                into.push(self.delta(part, DeltaKind::Text { channel, text: text.into() }));
                            }
                        }
                        Said::Opaque(kind, bytes) => into.push(self.delta(part, opaque(kind, bytes))),
                    };
                    into.push(self.delta(part, DeltaKind::Stop));
                })?;
                Slot::ITEM
            }
            Role::Call(flavor, _) => {
                into.push(self.delta(0, self.call(flavor, self.body())));
                0
            }
            Role::Server | Role::Unknown => {
                into.push(self.delta(0, self.opaque()));
                into.extend(self.server_call());
                into.extend(self.server_arguments());
                0
            }
        };
        into.push(self.delta(stop, DeltaKind::Stop));
        Ok(())
    }

    /// What is left of `text` behind the content of this message; all of it where it does not start with that.
    pub(super) fn strip_text<'t>(&self, mut text: &'t str) -> Result<&'t str, DecodeError> {
        if self.role == Role::Message {
            self.each_part(|_, said| {
                if let Said::Text(Channel::Content, said) = said {
                    text = text.strip_prefix(said.as_ref()).unwrap_or(text);
                }
            })?;
        }
        Ok(text)
    }

    fn each_part(&self, mut tell: impl FnMut(u32, Said<'a>)) -> Result<(), DecodeError> {
        for (list, base) in [("summary", SUMMARY), ("content", 0)] {
            for (at, part) in parts(self.item, list)?.enumerate() {
                tell(base + part_number(at)?, said(part)?);
            }
        }
        Ok(())
    }

    fn delta(&self, part: u32, kind: DeltaKind) -> Delta {
        let slot = Slot::At { item: self.index, part };
        Delta::new(0, slot, kind)
    }

    fn channel(&self) -> Channel {
        match self.role {
            Role::Reasoning => Channel::Reasoning,
            _ => Channel::Content,
        }
    }

    fn call(&self, flavor: CallFlavor, arguments: Option<Cow<'_, str>>) -> DeltaKind {
        DeltaKind::Call(CallDelta {
            id: self.id(),
            name: Some(self.name()),
            arguments: arguments.map(Into::into),
            flavor,
            starts: true,
            unopened: false,
            ..CallDelta::default()
        })
    }

    fn opaque(&self) -> DeltaKind {
        DeltaKind::Opaque { kind: self.kind.as_ref().into(), runs: self.runs(), bytes: self.item.raw().len() }
    }

    /// Who runs what is neither text nor a call that the client runs.
    fn runs(&self) -> Runs {
        if self.role == Role::Server { Runs::Server } else { Runs::Unknown }
    }

    /// The name of a call that the provider runs.
    fn server_call(&self) -> Option<Delta> {
        let name = self.own_name()?;
        Some(self.delta(0, DeltaKind::Call(CallDelta { name: Some(name), ..CallDelta::default() })))
    }

    /// The arguments of a call that the provider runs, once they are all there.
    fn server_arguments(&self) -> Option<Delta> {
        let copy = Restated { body: Some(self.server_body()?.into()), ..named(self.kind.clone()) };
        Some(self.delta(0, DeltaKind::Copy(copy)))
    }

    fn server_body(&self) -> Option<Cow<'a, str>> {
        let arguments = match &*self.kind {
            "mcp_call" | "tool_search_call" => self.item.get("arguments"),
            "web_search_call" => self.item.get("action"),
            _ => None,
        };
        match self.item.get("code") {
            Some(code) if self.kind == "code_interpreter_call" => {
                Some(Cow::Owned(Object::new().raw("code", code.raw()).finish()))
            }
            _ => grammar::loose(arguments).filter(|body| !body.is_empty()),
        }
    }

    fn id(&self) -> Option<Text> {
        grammar::id(self.item.get("call_id")).or_else(|| grammar::id(self.item.get("id")))
    }

    /// The name of a call. Clients run the API's own tools by their type, whatever else the item says.
    fn name(&self) -> Text {
        self.own_name().unwrap_or_else(|| self.kind.as_ref().into())
    }

    fn body(&self) -> Option<Cow<'a, str>> {
        let Role::Call(_, fields) = self.role else { return None };
        let mut bodies = fields.iter().filter_map(|name| Some((name, self.item.get(name)?)));
        let (name, first) = bodies.next()?;
        match bodies.next() {
            None => Some(first.text()),
            // All of it is run, so that all of it is judged.
            Some((other, second)) => {
                Some(Object::new().raw(name, first.raw()).raw(other, second.raw()).finish().into())
            }
        }
    }

    /// Whether what an opening item says of its arguments is never taken back.
    fn has_whole_body(&self) -> bool {
        matches!(self.role, Role::Call(_, ["arguments" | "input"]))
    }
}

/// What a part says.
pub(super) enum Said<'a> {
    Text(Channel, Cow<'a, str>),
    Opaque(Cow<'a, str>, usize),
}

pub(super) fn said(part: Value<'_>) -> Result<Said<'_>, DecodeError> {
    let kind = part_kind(part)?.unwrap_or(Cow::Borrowed("unknown"));
    Ok(match part_text(&kind) {
        Some((channel, field)) => Said::Text(channel, grammar::text(part.get(field), field)?),
        None => Said::Opaque(kind, part.raw().len()),
    })
}

/// The type of a part.
pub(super) fn part_kind(part: Value<'_>) -> Result<Option<Cow<'_, str>>, DecodeError> {
    Ok(grammar::string(part.expect_object("part")?.get("type")))
}

/// Whether a part has what belongs to a part of another type.
pub(super) fn is_foreign_part(part: Value<'_>) -> Result<bool, DecodeError> {
    let own = part_kind(part)?.as_deref().and_then(part_text);
    Ok(own.is_some_and(|(_, field)| normal::is_foreign_part(field, part)))
}

/// A part that is neither text nor known.
pub(super) fn opaque(kind: Cow<'_, str>, bytes: usize) -> DeltaKind {
    DeltaKind::Opaque { kind: kind.into(), runs: Runs::Unknown, bytes }
}

/// A copy of something opaque.
pub(super) fn named(kind: Cow<'_, str>) -> Restated {
    Restated { name: Some(kind.into()), flavor: CallFlavor::Builtin, ..Restated::default() }
}

/// The number of a part, below the offset that tells summaries from content.
pub(super) fn part_number(index: impl TryInto<u32>) -> Result<u32, DecodeError> {
    match index.try_into() {
        Ok(number) if number < SUMMARY - 1 => Ok(number),
        _ => Err(DecodeError::new(format!("a part number below {}", SUMMARY - 1), "a greater one")),
    }
}

fn parts<'d>(item: Value<'d>, list: &str) -> Result<impl Iterator<Item = Value<'d>>, DecodeError> {
    let parts = item.get(list).map(|parts| parts.expect_items(list)).transpose()?;
    Ok(parts.into_iter().flatten())
}

/// Where the parts of a reasoning summary start among the parts of their item.
pub(super) const SUMMARY: u32 = 1 << 31;

/// The types of items that have a name.
const NAMED: &[&str] = &["function_call", "custom_tool_call", "mcp_approval_request", "mcp_call"];

const ROLES: &[(&str, Role)] = &[
    ("message", Role::Message),
    ("reasoning", Role::Reasoning),
    ("function_call", Role::Call(CallFlavor::Function, &["arguments"])),
    ("custom_tool_call", Role::Call(CallFlavor::Custom, &["input"])),
    ("shell_call", Role::Call(CallFlavor::Builtin, &["action"])),
    ("local_shell_call", Role::Call(CallFlavor::Builtin, &["action"])),
    ("apply_patch_call", Role::Call(CallFlavor::Builtin, &["operation"])),
    ("computer_call", Role::Call(CallFlavor::Builtin, &["action", "actions"])),
    ("mcp_approval_request", Role::Call(CallFlavor::Builtin, &["arguments"])),
    ("web_search_call", Role::Server),
    ("file_search_call", Role::Server),
    ("code_interpreter_call", Role::Server),
    ("image_generation_call", Role::Server),
    ("mcp_call", Role::Server),
    ("mcp_list_tools", Role::Server),
    ("mcp_approval_response", Role::Server),
    ("tool_search_call", Role::Server),
    ("tool_search_output", Role::Server),
    ("compaction", Role::Server),
    ("program", Role::Server),
    ("program_output", Role::Server),
    ("function_call_output", Role::Server),
    ("custom_tool_call_output", Role::Server),
    ("shell_call_output", Role::Server),
    ("local_shell_call_output", Role::Server),
    ("apply_patch_call_output", Role::Server),
    ("computer_call_output", Role::Server),
];
