//! How an item is told: when it opens, when it is restated, and in a response that was not streamed.

use std::borrow::Cow;

use super::kinds::{ItemType, PartType, Role};
use super::{grammar, normal};
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind, Restated, Runs, Slot, Text};
use crate::json::Object;
use crate::wire::DecodeError;
use crate::wire::document::Value;

/// Where an item is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Telling {
    /// In `output_item.added`: the item opens, empty as a rule.
    Added,
    /// In `output_item.done`: the item is restated, and complete.
    Done,
    /// In the `output` of a response that was streamed: the item is restated.
    Listed,
    /// In the `output` of a response that was not streamed.
    Whole,
}

/// An item with its raw bytes and type.
#[derive(Debug)]
pub(super) struct Told<'a> {
    pub(super) index: u32,
    kind: Cow<'a, str>,
    known: Option<&'static ItemType>,
    role: Role,
    item: Value<'a>,
}

impl<'a> Told<'a> {
    pub(super) fn read(item: Value<'a>, index: u32) -> Result<Self, DecodeError> {
        let item = item.expect_object("item")?;
        let kind = item.word("type").unwrap_or(Cow::Borrowed("unknown"));
        let known = ItemType::of(&kind);
        let role = match known.map_or(Role::Unknown, |known| known.role) {
            // A search that the client is to run.
            Role::Server if item.word("execution").as_deref() == Some("client") => Role::Unknown,
            role => role,
        };
        Ok(Self { index, kind, known, role, item })
    }

    /// The type.
    pub(super) fn kind(&self) -> &str {
        &self.kind
    }

    /// The id of the item itself, rather than of its call.
    pub(super) fn item_id(&self) -> Option<Cow<'a, str>> {
        grammar::id_text(self.item.get("id"))
    }

    /// The name, where items of the type have one.
    pub(super) fn own_name(&self) -> Option<Text> {
        self.item.name("name").filter(|_| self.known.is_some_and(ItemType::is_named))
    }

    /// What a call of the API's own tools asks for.
    pub(super) fn action(&self) -> Option<&'a str> {
        let Role::Call(CallFlavor::Builtin) = self.role else { return None };
        ["action", "operation", "actions"].iter().find_map(|name| self.item.get(name)).map(Value::raw)
    }

    /// Whether the item or one of its parts has what belongs to another type.
    pub(super) fn is_foreign(&self) -> Result<bool, DecodeError> {
        let mut foreign = self.known.is_some_and(|known| normal::is_foreign_item(known, self.item));
        if !foreign {
            self.each_part(|_, part| {
                foreign |= is_foreign_part(part)?;
                Ok(())
            })?;
        }
        Ok(foreign)
    }

    /// Walks over the parts with their numbers; an item of another role has none.
    pub(super) fn each_part(
        &self,
        mut tell: impl FnMut(u32, Value<'a>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        for (list, base) in [("summary", SUMMARY), ("content", 0)] {
            let Some(parts) = self.item.get(list).filter(|_| self.role.has_parts()) else { continue };
            for (at, part) in parts.expect_items(list)?.enumerate() {
                tell(base + part_number(at)?, part)?;
            }
        }
        Ok(())
    }

    /// The deltas of the item.
    pub(super) fn tell(&self, telling: Telling, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
        match self.role {
            Role::Message | Role::Reasoning => self.tell_parts(telling, into)?,
            Role::Call(flavor) => into.push(self.delta(0, self.call(flavor, telling))),
            Role::Server | Role::Unknown => self.tell_opaque(telling, into),
        }
        if matches!(telling, Telling::Done | Telling::Whole) {
            let stops = if self.role.has_parts() { Slot::ITEM } else { 0 };
            into.push(self.delta(stops, DeltaKind::Stop));
        }
        Ok(())
    }

    fn tell_parts(&self, telling: Telling, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
        if matches!(telling, Telling::Added | Telling::Whole) {
            into.push(self.delta(Slot::ITEM, DeltaKind::ItemStart { channel: self.channel() }));
        }
        self.each_part(|number, part| {
            let mut push = |kind| into.push(self.delta(number, kind));
            match (telling, said(part)?) {
                (Telling::Added, said) => said.opens(false, push),
                (Telling::Whole, said) => {
                    said.opens(true, &mut push);
                    push(DeltaKind::Stop);
                }
                (Telling::Done | Telling::Listed, said) => push(DeltaKind::Copy(said.restated())),
            }
            Ok(())
        })
    }

    fn tell_opaque(&self, telling: Telling, into: &mut Vec<Delta>) {
        let body = self.server_body().map(Into::into);
        let runs = if self.role == Role::Server { Runs::Server } else { Runs::Unknown };
        if telling == Telling::Listed {
            let copy = Restated { runs: Some(runs), tool: self.own_name(), body, ..named(self.kind.clone()) };
            return into.push(self.delta(0, DeltaKind::Copy(copy)));
        }
        let bytes = self.item.raw().len();
        into.push(self.delta(0, DeltaKind::Opaque { kind: self.kind.as_ref().into(), runs, bytes }));
        if let Some(name) = self.own_name() {
            into.push(self.delta(0, DeltaKind::Call(CallDelta { name: Some(name), ..CallDelta::default() })));
        }
        // Arguments count once they are all there.
        if let Some(body) = body.filter(|_| telling != Telling::Added) {
            let copy = Restated { body: Some(body), ..named(self.kind.clone()) };
            into.push(self.delta(0, DeltaKind::Copy(copy)));
        }
    }

    /// What is left of `text` behind the content of this message; all of it where it does not start with that.
    pub(super) fn strip_text<'t>(&self, mut text: &'t str) -> Result<&'t str, DecodeError> {
        if self.role == Role::Message {
            self.each_part(|_, part| {
                if let Said::Text(Channel::Content, said) = said(part)? {
                    text = text.strip_prefix(said.as_ref()).unwrap_or(text);
                }
                Ok(())
            })?;
        }
        Ok(text)
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

    fn call(&self, flavor: CallFlavor, telling: Telling) -> DeltaKind {
        let (id, name) = (self.id(), Some(self.name()));
        let arguments = match telling {
            // An action is still incomplete here and would contradict the one that is done.
            Telling::Added => self.body().filter(|body| !body.is_empty() && self.has_whole_body()),
            Telling::Whole => self.body(),
            Telling::Done | Telling::Listed => {
                // To a client, arguments that are missing are none.
                let body = self.body().or_else(|| self.has_whole_body().then_some("".into()));
                let body = body.map(Into::into);
                return DeltaKind::Copy(Restated { flavor, id, name, body, ..Restated::default() });
            }
        };
        let arguments = arguments.map(Into::into);
        DeltaKind::Call(CallDelta { id, name, arguments, flavor, starts: true, ..CallDelta::default() })
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
        let mut bodies = self.argument_fields().filter_map(|name| Some((name, self.item.get(name)?)));
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
        self.argument_fields().any(|field| matches!(field, "arguments" | "input"))
    }

    fn argument_fields(&self) -> impl Iterator<Item = &'static str> {
        self.known.into_iter().flat_map(ItemType::arguments)
    }
}

/// The items that a response lists: positions in `output` are the output indices.
pub(super) fn listed<'d>(
    response: Value<'d>,
) -> Result<impl Iterator<Item = Result<Told<'d>, DecodeError>>, DecodeError> {
    let items = response.get("output").map(|output| output.expect_items("output")).transpose()?;
    let items = items.into_iter().flatten().enumerate();
    Ok(items.map(|(at, item)| Told::read(item, part_number(at)?)))
}

/// What a part says.
pub(super) enum Said<'a> {
    Text(Channel, Cow<'a, str>),
    Opaque(Cow<'a, str>, usize),
}

impl Said<'_> {
    /// What is said where the part opens; `starts` where that is told of the part by itself.
    pub(super) fn opens(self, starts: bool, mut push: impl FnMut(DeltaKind)) {
        match self {
            Said::Text(channel, text) => {
                if starts {
                    push(DeltaKind::Start { channel });
                }
                if !text.is_empty() {
                    push(DeltaKind::Text { channel, text: text.into() });
                }
            }
            Said::Opaque(kind, bytes) => push(opaque(kind, bytes)),
        }
    }

    /// A copy of the part.
    pub(super) fn restated(self) -> Restated {
        match self {
            Said::Text(_, text) => Restated::body(text),
            Said::Opaque(kind, _) => named(kind),
        }
    }
}

pub(super) fn said(part: Value<'_>) -> Result<Said<'_>, DecodeError> {
    let kind = part_kind(part)?.unwrap_or(Cow::Borrowed("unknown"));
    Ok(match PartType::of(&kind) {
        Some(known) => Said::Text(known.channel, grammar::text(part.get(known.field), known.field)?),
        None => Said::Opaque(kind, part.raw().len()),
    })
}

/// The type of a part.
pub(super) fn part_kind(part: Value<'_>) -> Result<Option<Cow<'_, str>>, DecodeError> {
    Ok(part.expect_object("part")?.word("type"))
}

/// Whether a part has what belongs to a part of another type.
pub(super) fn is_foreign_part(part: Value<'_>) -> Result<bool, DecodeError> {
    let known = part_kind(part)?.as_deref().and_then(PartType::of);
    Ok(known.is_some_and(|known| normal::is_foreign_part(known, part)))
}

/// A part that is neither text nor known.
pub(super) fn opaque(kind: Cow<'_, str>, bytes: usize) -> DeltaKind {
    DeltaKind::Opaque { kind: kind.into(), runs: Runs::Unknown, bytes }
}

/// A copy of something opaque.
fn named(kind: Cow<'_, str>) -> Restated {
    Restated { name: Some(kind.into()), flavor: CallFlavor::Builtin, ..Restated::default() }
}

/// The number of a part, below the offset that tells summaries from content.
pub(super) fn part_number(index: impl TryInto<u32>) -> Result<u32, DecodeError> {
    match index.try_into() {
        Ok(number) if number < SUMMARY - 1 => Ok(number),
        _ => Err(DecodeError::new(format!("a part number below {}", SUMMARY - 1), "a greater one")),
    }
}

/// Where the parts of a reasoning summary start among the parts of their item.
pub(super) const SUMMARY: u32 = 1 << 31;
