//! Rewriting documents: items, parts and responses that lost, or changed, some of what they said.
//!
//! What is kept stays as its raw bytes. Of what is touched only the fields named here survive: an unknown one may hold a
//! copy of what was dropped.

use std::borrow::Cow;

use super::item::{self, Role, SUMMARY};
use super::ledger::Replaced;
use crate::delta::{CallFlavor, Text};
use crate::json::{self, Object};

/// What a part, or a call, says now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Now {
    /// What it said.
    Same,
    Body(Text),
    Gone,
}

/// How to rewrite an item.
#[derive(Debug)]
pub(super) struct Rewrite<'a, F> {
    /// The item has opened on the wire: it stays, even if none of its parts does.
    pub(super) opened: bool,
    pub(super) replaced: Option<&'a Replaced>,
    /// What the part with this number says now; 0 is the call itself.
    pub(super) now: F,
}

impl<F: Fn(u32) -> Now> Rewrite<'_, F> {
    /// The item as it is to be written, `None` if it is not.
    pub(super) fn item<'a>(&self, raw: &'a str) -> Option<Cow<'a, str>> {
        let kind = json::member(raw, "type").and_then(json::unquote).unwrap_or_default();
        match Role::of(&kind) {
            Role::Message => self.parts(raw, true),
            Role::Reasoning => self.parts(raw, false),
            Role::Call(flavor, fields) => self.call(raw, flavor, fields),
            Role::Server | Role::Unknown => match (self.now)(0) {
                Now::Gone => None,
                _ => Some(Cow::Borrowed(raw)),
            },
        }
    }

    fn parts<'a>(&self, raw: &'a str, goes_when_empty: bool) -> Option<Cow<'a, str>> {
        let content = self.list(raw, "content", 0);
        let summary = self.list(raw, "summary", SUMMARY);
        let lists = [&content, &summary];
        if lists.iter().all(|list| list.is_none()) {
            return Some(Cow::Borrowed(raw));
        }
        if goes_when_empty && !self.opened && lists.into_iter().flatten().all(|list| list == "[]") {
            return None;
        }
        let new = |name: &str| match name {
            "content" => content.clone(),
            "summary" => summary.clone(),
            _ => None,
        };
        Some(Cow::Owned(keep(raw, ITEM_FIELDS, new)))
    }

    /// A list of parts, if anything in it changes.
    fn list(&self, raw: &str, name: &str, base: u32) -> Option<String> {
        let parts = json::items(json::member(raw, name)?)?;
        let mut changed = false;
        let mut kept = Vec::with_capacity(parts.len());
        for (number, raw) in (base..).zip(parts) {
            match (self.now)(number) {
                Now::Same => kept.push(Cow::Borrowed(raw)),
                Now::Body(body) => {
                    changed = true;
                    kept.extend(part(raw, &body).map(Cow::Owned));
                }
                Now::Gone => changed = true,
            }
        }
        changed.then(|| json::array(kept))
    }

    fn call<'a>(&self, raw: &'a str, flavor: CallFlavor, fields: &[&str]) -> Option<Cow<'a, str>> {
        let replaced = self.replaced;
        let body = match ((self.now)(0), replaced.and_then(|replaced| replaced.arguments.clone())) {
            (Now::Body(body), _) => Some(body),
            (Now::Same, None) if replaced.is_none() => return Some(Cow::Borrowed(raw)),
            (Now::Gone, None) => return None,
            (_, arguments) => arguments,
        };
        let id_field = if json::member(raw, "call_id").is_some() { "call_id" } else { "id" };
        let new = |name: &str| {
            let text = |text: &Text| json::quote(text);
            if fields.contains(&name) {
                return body.as_ref().map(|body| value(body, flavor, json::member(raw, name)));
            }
            match name {
                "name" => replaced.and_then(|call| call.name.as_ref()).map(text),
                _ if name == id_field => replaced.and_then(|call| call.id.as_ref()).map(text),
                _ => None,
            }
        };
        Some(Cow::Owned(keep(raw, ITEM_FIELDS, new)))
    }
}

/// A part with another text; `None` if it is no text.
pub(super) fn part(raw: &str, body: &str) -> Option<String> {
    let kind = json::unquote(json::member(raw, "type")?)?;
    let (_, field) = item::part_text(&kind)?;
    Some(keep(raw, PART_FIELDS, |name| match name {
        "annotations" | "logprobs" => Some("[]".to_owned()),
        _ if name == field => Some(json::quote(body)),
        _ => None,
    }))
}

/// A response with other values for some of its fields. Those it has none of are added.
pub(super) fn response(raw: &str, new: &[(&str, String)]) -> String {
    let mut object = Object::new();
    for (name, value) in json::members(raw).unwrap_or_default() {
        if let Some((_, new)) = new.iter().find(|(field, _)| *field == name) {
            object = object.raw(&name, new);
        } else if name == "error" && json::is_object(value) {
            object = object.raw("error", &keep(value, ERROR_FIELDS, |_| None));
        } else if RESPONSE_FIELDS.contains(&name.as_ref()) {
            object = object.raw(&name, value);
        }
    }
    for (name, value) in new {
        if json::member(raw, name).is_none() {
            object = object.raw(name, value);
        }
    }
    object.finish()
}

/// An object of the known fields of another, in its order, with new values for some.
pub(super) fn keep(raw: &str, fields: &[&str], new: impl Fn(&str) -> Option<String>) -> String {
    let members = json::members(raw).unwrap_or_default();
    let known = members.iter().filter(|(name, _)| fields.contains(&name.as_ref()));
    known
        .fold(Object::new(), |object, (name, value)| match new(name) {
            Some(new) => object.raw(name, &new),
            None => object.raw(name, value),
        })
        .finish()
}

/// Arguments as the item's field has them: a string, or for the API's own tools a JSON value.
fn value(body: &str, flavor: CallFlavor, old: Option<&str>) -> String {
    let was_string = old.is_none_or(|old| old.starts_with('"'));
    if flavor == CallFlavor::Builtin && !was_string && json::is_object(body) {
        return body.to_owned();
    }
    if flavor == CallFlavor::Builtin && !was_string && json::items(body).is_some() {
        return body.to_owned();
    }
    json::quote(body)
}

/// The envelope of an event. `logprobs` is emptied.
pub(super) const EVENT_FIELDS: &[&str] = &[
    "type",
    "sequence_number",
    "response_id",
    "item_id",
    "output_index",
    "content_index",
    "summary_index",
    "name",
    "item",
    "part",
    "response",
    "delta",
    "text",
    "refusal",
    "transcript",
    "arguments",
    "input",
    "logprobs",
];

const ITEM_FIELDS: &[&str] = &[
    "id",
    "type",
    "status",
    "role",
    "phase",
    "content",
    "summary",
    "encrypted_content",
    "call_id",
    "name",
    "namespace",
    "caller",
    "arguments",
    "input",
    "action",
    "actions",
    "operation",
    "environment",
    "pending_safety_checks",
    "server_label",
];

const PART_FIELDS: &[&str] = &["type", "text", "refusal", "transcript", "annotations", "logprobs"];

const ERROR_FIELDS: &[&str] = &["code", "message"];

const RESPONSE_FIELDS: &[&str] = &[
    "id",
    "object",
    "created_at",
    "completed_at",
    "status",
    "background",
    "conversation",
    "error",
    "frequency_penalty",
    "incomplete_details",
    "instructions",
    "max_output_tokens",
    "max_tool_calls",
    "metadata",
    "model",
    "output",
    "parallel_tool_calls",
    "presence_penalty",
    "previous_response_id",
    "prompt",
    "prompt_cache_key",
    "prompt_cache_retention",
    "reasoning",
    "safety_identifier",
    "service_tier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "usage",
    "user",
];
