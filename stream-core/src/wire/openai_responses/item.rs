//! Reading an item: where it opens, where it is repeated, and in a whole response.

use std::borrow::Cow;

use super::kinds::{ItemType, PartType, Role};
use super::{grammar, normal};
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind, Restated, Runs, Slot, Text};
use crate::json::Object;
use crate::wire::DecodeError;
use crate::wire::document::Value;

/// The place of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ItemPlace {
    /// `output_item.added`: the item opens, empty as a rule.
    Added,
    /// `output_item.done`: the item is repeated, and complete.
    Done,
    /// The `output` of a response that was streamed: the item is repeated.
    Listed,
    /// The `output` of a whole response.
    Whole,
}

/// Reads one item.
#[derive(Debug)]
pub(super) struct ItemReader<'a> {
    pub(super) index: u32,
    kind: Cow<'a, str>,
    known: Option<&'static ItemType>,
    role: Role,
    item: Value<'a>,
}

impl<'a> ItemReader<'a> {
    pub(super) fn read(item: Value<'a>, index: u32) -> Result<Self, DecodeError> {
        let item = item.expect_object("item")?;
        let kind = item.word("type").unwrap_or(Cow::Borrowed("unknown"));
        let known = ItemType::of(&kind);
        let role = match known.map_or(Role::Unknown, |known| known.role) {
            // A search for the client to run.
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

    /// The action of a call of the API's own tools.
    pub(super) fn action(&self) -> Option<&'a str> {
        let Role::Call(CallFlavor::Builtin) = self.role else { return None };
        ["action", "operation", "actions"].iter().find_map(|name| self.item.get(name)).map(Value::raw)
    }

    /// Whether the item or one of its parts has fields of another type.
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

    /// Calls `each` with the number of every part; an item that is neither message nor reasoning has no parts.
    pub(super) fn each_part(
        &self,
        mut each: impl FnMut(u32, Value<'a>) -> Result<(), DecodeError>,
    ) -> Result<(), DecodeError> {
        for (list, base) in [("summary", SUMMARY), ("content", 0)] {
            let Some(parts) = self.item.get(list).filter(|_| self.role.has_parts()) else { continue };
            for (at, part) in parts.expect_items(list)?.enumerate() {
                each(base + part_number(at)?, part)?;
            }
        }
        Ok(())
    }

    /// Adds the deltas of the item.
    pub(super) fn deltas(&self, place: ItemPlace, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
        match self.role {
            Role::Message | Role::Reasoning => self.part_deltas(place, into)?,
            Role::Call(flavor) => into.push(self.delta(0, self.call(flavor, place))),
            Role::Server | Role::Unknown => self.opaque_deltas(place, into),
        }
        if matches!(place, ItemPlace::Done | ItemPlace::Whole) {
            let stops = if self.role.has_parts() { Slot::ITEM } else { 0 };
            into.push(self.delta(stops, DeltaKind::Stop));
        }
        Ok(())
    }

    fn part_deltas(&self, place: ItemPlace, into: &mut Vec<Delta>) -> Result<(), DecodeError> {
        if matches!(place, ItemPlace::Added | ItemPlace::Whole) {
            into.push(self.delta(Slot::ITEM, DeltaKind::ItemStart { channel: self.channel() }));
        }
        self.each_part(|number, part| {
            let mut push = |kind| into.push(self.delta(number, kind));
            match (place, part_body(part)?) {
                (ItemPlace::Added, body) => body.opens(false, push),
                (ItemPlace::Whole, body) => {
                    body.opens(true, &mut push);
                    push(DeltaKind::Stop);
                }
                (ItemPlace::Done | ItemPlace::Listed, body) => push(DeltaKind::Copy(body.restated())),
            }
            Ok(())
        })
    }

    fn opaque_deltas(&self, place: ItemPlace, into: &mut Vec<Delta>) {
        let body = self.server_body().map(Into::into);
        let runs = if self.role == Role::Server { Runs::Server } else { Runs::Unknown };
        if place == ItemPlace::Listed {
            let copy = Restated { runs: Some(runs), tool: self.own_name(), body, ..named(self.kind.clone()) };
            return into.push(self.delta(0, DeltaKind::Copy(copy)));
        }
        let bytes = self.item.raw().len();
        into.push(self.delta(0, DeltaKind::Opaque { kind: self.kind.as_ref().into(), runs, bytes }));
        if let Some(name) = self.own_name() {
            into.push(self.delta(0, DeltaKind::Call(CallDelta { name: Some(name), ..CallDelta::default() })));
        }
        // The arguments of an opening item may be incomplete.
        if let Some(body) = body.filter(|_| place != ItemPlace::Added) {
            let copy = Restated { body: Some(body), ..named(self.kind.clone()) };
            into.push(self.delta(0, DeltaKind::Copy(copy)));
        }
    }

    /// The rest of `text` behind the content of this message; all of `text` if it does not start with that content.
    pub(super) fn strip_text<'t>(&self, mut text: &'t str) -> Result<&'t str, DecodeError> {
        if self.role == Role::Message {
            self.each_part(|_, part| {
                if let PartBody::Text(Channel::Content, body) = part_body(part)? {
                    text = text.strip_prefix(body.as_ref()).unwrap_or(text);
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

    fn call(&self, flavor: CallFlavor, place: ItemPlace) -> DeltaKind {
        let (id, name) = (self.id(), Some(self.name()));
        let arguments = match place {
            // An action is still incomplete here and would contradict the final one.
            ItemPlace::Added => self.body().filter(|body| !body.is_empty() && self.has_whole_body()),
            ItemPlace::Whole => self.body(),
            ItemPlace::Done | ItemPlace::Listed => {
                // Clients take missing arguments for empty ones.
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

    /// The name of a call. Clients run the API's own tools by their type.
    fn name(&self) -> Text {
        self.own_name().unwrap_or_else(|| self.kind.as_ref().into())
    }

    fn body(&self) -> Option<Cow<'a, str>> {
        let mut bodies = self.argument_fields().filter_map(|name| Some((name, self.item.get(name)?)));
        let (name, first) = bodies.next()?;
        match bodies.next() {
            None => Some(first.text()),
            // Clients run both fields, so that both are judged.
            Some((other, second)) => {
                Some(Object::new().raw(name, first.raw()).raw(other, second.raw()).finish().into())
            }
        }
    }

    /// Whether the arguments of an opening item are final.
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
) -> Result<impl Iterator<Item = Result<ItemReader<'d>, DecodeError>>, DecodeError> {
    let items = response.get("output").map(|output| output.expect_items("output")).transpose()?;
    let items = items.into_iter().flatten().enumerate();
    Ok(items.map(|(at, item)| ItemReader::read(item, part_number(at)?)))
}

/// The body of a part.
pub(super) enum PartBody<'a> {
    Text(Channel, Cow<'a, str>),
    Opaque(Cow<'a, str>, usize),
}

impl PartBody<'_> {
    /// Pushes the deltas of a part that opens; with `starts`, the start of its block too.
    pub(super) fn opens(self, starts: bool, mut push: impl FnMut(DeltaKind)) {
        match self {
            PartBody::Text(channel, text) => {
                if starts {
                    push(DeltaKind::Start { channel });
                }
                if !text.is_empty() {
                    push(DeltaKind::Text { channel, text: text.into() });
                }
            }
            PartBody::Opaque(kind, bytes) => push(opaque(kind, bytes)),
        }
    }

    /// A copy of the part.
    pub(super) fn restated(self) -> Restated {
        match self {
            PartBody::Text(_, text) => Restated::body(text),
            PartBody::Opaque(kind, _) => named(kind),
        }
    }
}

/// Reads the body of a part.
pub(super) fn part_body(part: Value<'_>) -> Result<PartBody<'_>, DecodeError> {
    let kind = part_kind(part)?.unwrap_or(Cow::Borrowed("unknown"));
    Ok(match PartType::of(&kind) {
        Some(known) => PartBody::Text(known.channel, grammar::text(part.get(known.field), known.field)?),
        None => PartBody::Opaque(kind, part.raw().len()),
    })
}

/// The type of a part.
pub(super) fn part_kind(part: Value<'_>) -> Result<Option<Cow<'_, str>>, DecodeError> {
    Ok(part.expect_object("part")?.word("type"))
}

/// Whether a part has fields of another type of part.
pub(super) fn is_foreign_part(part: Value<'_>) -> Result<bool, DecodeError> {
    let known = part_kind(part)?.as_deref().and_then(PartType::of);
    Ok(known.is_some_and(|known| normal::is_foreign_part(known, part)))
}

/// The delta of an unknown part.
pub(super) fn opaque(kind: Cow<'_, str>, bytes: usize) -> DeltaKind {
    DeltaKind::Opaque { kind: kind.into(), runs: Runs::Unknown, bytes }
}

/// A copy of an opaque block.
fn named(kind: Cow<'_, str>) -> Restated {
    Restated { name: Some(kind.into()), flavor: CallFlavor::Builtin, ..Restated::default() }
}

/// The number of a part, below the offset of summaries.
pub(super) fn part_number(index: impl TryInto<u32>) -> Result<u32, DecodeError> {
    match index.try_into() {
        Ok(number) if number < SUMMARY - 1 => Ok(number),
        _ => Err(DecodeError::new(format!("a part number below {}", SUMMARY - 1), "a greater one")),
    }
}

/// The offset of the parts of a reasoning summary among the parts of their item.
pub(super) const SUMMARY: u32 = 1 << 31;
