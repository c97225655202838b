//! Writing a touched chunk anew: the chunk or body as raw JSON slices, and the chunks that say what is left of it.

use std::borrow::Cow;

use bytes::Bytes;

use super::grammar::{KEPT_OF_CHUNK, KEPT_OF_ERROR, integer, is_void};
use super::place::{self, Field};
use super::templates::{self, Finish, Members};
use super::write::ChatWriter;
use crate::delta::DeltaKind;
use crate::json::{self, Object};
use crate::sse::Frame;
use crate::wire::{Fate, Part};

/// A chunk, or a whole response.
#[derive(Debug, Default)]
pub(super) struct RawChunk<'a> {
    pub(super) envelope: Vec<(Cow<'a, str>, &'a str)>,
    pub(super) choices: Vec<RawChoice<'a>>,
    pub(super) usage: Option<&'a str>,
    error: Option<&'a str>,
    document: &'a str,
}

impl<'a> RawChunk<'a> {
    pub(super) fn read(data: &'a [u8]) -> Option<Self> {
        let document = std::str::from_utf8(data).ok()?;
        let mut chunk = Self { document, ..Self::default() };
        let mut groq = None;
        for (name, value) in json::members(document)? {
            match name.as_ref() {
                "choices" => {
                    let choices = json::items(value).unwrap_or_default();
                    chunk.choices = choices.into_iter().map(RawChoice::read).collect();
                }
                "usage" => chunk.usage = Some(value).filter(|raw| *raw != "null"),
                "error" => chunk.error = Some(value).filter(|raw| !is_void(raw)),
                "x_groq" => groq = json::member(value, "usage"),
                known if KEPT_OF_CHUNK.contains(&known) => chunk.envelope.push((name, value)),
                _ => {}
            }
        }
        let of_choice = || chunk.choices.iter().find_map(|choice| choice.get("usage"));
        chunk.usage = chunk.usage.or_else(of_choice).or(groq).filter(|raw| *raw != "null");
        Some(chunk)
    }

    /// The error with its known fields, and `failed_generation` only if it may leave.
    pub(super) fn error(&self, with_generation: bool) -> String {
        // An `event: error` frame may hold the error's own fields.
        let error = self.error.unwrap_or(self.document);
        let is_kept =
            |name: &str| KEPT_OF_ERROR.contains(&name) || (with_generation && name == "failed_generation");
        match json::is_object(error) {
            true => json::map(error, |name, raw| is_kept(name).then_some(Cow::Borrowed(raw))).finish(),
            false => error.to_owned(),
        }
    }

    /// The envelope, as the text of an object to be continued.
    pub(super) fn object_text(&self, object: &str) -> String {
        let mut text = self.object(object).finish();
        text.pop();
        text
    }

    /// An object that starts with the envelope, which is one made here where none came.
    pub(super) fn object(&self, object: &str) -> Object {
        match self.envelope.is_empty() {
            true => templates::envelope(object),
            false => self.known(),
        }
    }

    /// An object of what there is of the envelope.
    pub(super) fn known(&self) -> Object {
        self.envelope.iter().fold(Object::new(), |object, (name, value)| object.raw(name, value))
    }
}

/// One of `choices`, with its `delta` or `message`.
#[derive(Debug, Default)]
pub(super) struct RawChoice<'a> {
    pub(super) raw: &'a str,
    members: Vec<(Cow<'a, str>, &'a str)>,
    body: Vec<(Cow<'a, str>, &'a str)>,
    /// The items of each of [`LISTS`], cut once: a frame may have thousands of parts.
    lists: [Vec<&'a str>; 3],
}

const LISTS: [&str; 3] = ["content", "tool_calls", "reasoning_details"];

impl<'a> RawChoice<'a> {
    fn read(raw: &'a str) -> Self {
        let members = json::members(raw).unwrap_or_default();
        let of = |name: &str| members.iter().find(|(key, _)| key == name).map(|(_, value)| *value);
        let body = of("delta").and_then(json::members).unwrap_or_default();
        Self { raw, lists: lists(&body), members, body }
    }

    /// The same choice, read for its `message`: whole responses have that in place of a `delta`.
    pub(super) fn of_message(mut self) -> Self {
        if let Some(message) = self.get("message").and_then(json::members) {
            self.lists = lists(&message);
            self.body = message;
        }
        self
    }

    /// A member's raw value; `None` for null.
    pub(super) fn get(&self, name: &str) -> Option<&'a str> {
        get(&self.members, name)
    }

    /// The raw value of a member of the delta or message; `None` for null.
    pub(super) fn body(&self, name: &str) -> Option<&'a str> {
        get(&self.body, name)
    }

    /// The members of the delta or message, in their order.
    pub(super) fn body_members(&self) -> &[(Cow<'a, str>, &'a str)] {
        &self.body
    }

    pub(super) fn number(&self) -> u32 {
        self.get("index").and_then(integer).and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
    }

    /// An item of a list in the delta or message.
    pub(super) fn item(&self, name: &str, index: usize) -> Option<&'a str> {
        let list = LISTS.iter().position(|list| *list == name)?;
        self.lists[list].get(index).copied()
    }

    /// The items of `reasoning_details`.
    pub(super) fn details(&self) -> &[&'a str] {
        &self.lists[2]
    }

    /// Whether it says again what was said before, or holds call fragments too empty to be parts: both are
    /// stale once the choice was edited. `calls` is how many parts are calls.
    pub(super) fn has_leftovers(&self, calls: usize) -> bool {
        let items = self.lists[1].len();
        let legacy = usize::from(self.body("function_call").is_some());
        items + legacy != calls
            || ["message", "text", "logprobs"]
                .iter()
                .any(|name| self.get(name).is_some_and(|value| !is_void(value)))
    }
}

fn lists<'a>(body: &[(Cow<'a, str>, &'a str)]) -> [Vec<&'a str>; 3] {
    LISTS.map(|name| {
        get(body, name).filter(|raw| raw.starts_with('[')).and_then(json::items).unwrap_or_default()
    })
}

fn get<'a>(members: &[(Cow<'a, str>, &'a str)], name: &str) -> Option<&'a str> {
    members.iter().find(|(key, _)| key == name).map(|(_, value)| *value).filter(|raw| *raw != "null")
}

impl ChatWriter {
    /// Writes what is left of a chunk, part by part.
    pub(super) fn rebuild(
        &mut self,
        frame: Option<&Frame>,
        data: Option<&Bytes>,
        parts: &[Part],
        out: &mut Vec<Bytes>,
    ) {
        let raw = data.and_then(|data| RawChunk::read(data)).unwrap_or_default();
        let mut events = Vec::new();
        let mut usage = None;
        let mut error = None;
        let mut with_generation = false;
        for part in parts {
            let left = part.fate != Fate::Dropped;
            events.extend(self.notices(part));
            let index = self.state.turns.track(part);
            let normal = match (self.state.normalise, part.fate) {
                (true, Fate::Kept | Fate::Edited) => self.state.turns.normal(part),
                _ => Some(part.clone()),
            };
            let Some(part) = &normal else { continue };
            match &part.delta.kind {
                _ if !left => {}
                DeltaKind::Usage(_) => usage = raw.usage,
                DeltaKind::Error(_) => error = Some(raw.error(with_generation)),
                DeltaKind::Opaque { .. }
                    if place::field(part.delta.place) == Some(Field::FailedGeneration) =>
                {
                    with_generation |= part.fate == Fate::Kept;
                }
                _ => events.extend(self.rebuilt_part(part, &raw, index)),
            }
        }
        for choice in &raw.choices {
            // The role survives the loss of everything beside it.
            let number = choice.number();
            if choice.body("role").is_some() && !self.state.turns.turn(number).opened {
                events.push(self.choice(number, Members::new(), None));
            }
        }
        let name = frame.and_then(error_name);
        let envelope =
            if raw.envelope.is_empty() { self.envelope() } else { raw.object_text(templates::CHUNK) };
        if events.is_empty() && usage.is_some() {
            events.push(String::new());
        }
        let last = events.len().saturating_sub(1);
        for (position, choice) in events.iter().enumerate() {
            let usage = usage.filter(|_| position == last);
            self.state.sink.event(name, &templates::chunk(&envelope, choice, usage), out);
        }
        if let Some(error) = error {
            let document = raw.known().raw("error", &error).finish();
            self.state.sink.event(name, &document, out);
        }
    }

    /// One of `choices`, with what a part says.
    fn rebuilt_part(&mut self, part: &Part, raw: &RawChunk<'_>, index: Option<u64>) -> Option<String> {
        let number = part.delta.choice?;
        let nothing = RawChoice::default();
        let choice = match part.fate {
            Fate::Inserted => raw.choices.iter().find(|choice| choice.number() == number),
            _ => raw.choices.get(part.delta.place.outer as usize),
        };
        let choice = choice.unwrap_or(&nothing);
        match &part.delta.kind {
            DeltaKind::Finish(reason) => {
                let native = choice.get("native_finish_reason").map(|native| match part.fate {
                    Fate::Edited => json::quote(reason.raw()),
                    _ => native.to_owned(),
                });
                let finish = Finish { reason: Some(json::quote(reason.raw())), native };
                Some(self.choice(number, Members::new(), Some(finish)))
            }
            _ => {
                let members = templates::members(part, choice, index, true);
                (!members.is_empty()).then(|| self.choice(number, members, None))
            }
        }
    }

    /// One of `choices`; the first of its number carries the role.
    pub(super) fn choice(&mut self, number: u32, members: Members, finish: Option<Finish>) -> String {
        let turn = self.state.turns.turn(number);
        let opens = !std::mem::replace(&mut turn.opened, true);
        let choice = templates::choice(number, opens, members, &finish.unwrap_or_default());
        if !self.state.by_position() {
            return choice;
        }
        // Where a reader by position and a reader by number both find it.
        (0..number).map(templates::no_choice).chain([choice]).collect::<Vec<_>>().join(",")
    }
}

/// The name that an event keeps: clients read an error by it.
pub(super) fn error_name(frame: &Frame) -> Option<&str> {
    frame.event().filter(|name| *name == "error")
}
