//! A chunk or body as raw JSON slices, for writing it anew, and the events that are written.

use std::borrow::Cow;

use bytes::Bytes;

use super::view::{integer, is_void};
use crate::json::{self, Object};
use crate::sse;

/// The fields around the choices that survive a rebuild. Any other may hold a copy of what was dropped.
pub(super) const ENVELOPE: [&str; 7] =
    ["id", "object", "created", "model", "system_fingerprint", "service_tier", "provider"];

/// The fields of an error that survive a rebuild.
pub(super) const ERROR: [&str; 5] = ["message", "type", "param", "code", "status_code"];

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
                known if ENVELOPE.contains(&known) => chunk.envelope.push((name, value)),
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
        let Some(members) = json::members(error) else { return error.to_owned() };
        let mut object = Object::new();
        for (name, value) in members {
            if ERROR.contains(&name.as_ref()) || (with_generation && name == "failed_generation") {
                object = object.raw(&name, value);
            }
        }
        object.finish()
    }

    /// The envelope, as the text of an object to be continued.
    pub(super) fn object_text(&self) -> String {
        let mut text = self.object().finish();
        text.pop();
        text
    }

    /// An object that starts with the envelope.
    pub(super) fn object(&self) -> Object {
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

/// An event of one line.
pub(super) fn event(name: Option<&str>, document: &str) -> Bytes {
    sse::event(name, document, "\n")
}
