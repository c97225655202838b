//! What the model said in a turn, as the message that goes back to it.

use std::collections::{HashMap, HashSet};

use serde_json::Value;
use stream_core::CallFlavor;

use super::super::join::Answered;
use super::super::json::{Object, array, items, quote};

/// The texts of a turn, field by field, and what its calls have beside name and arguments.
#[derive(Debug, Default)]
pub(super) struct Said {
    texts: Vec<(&'static str, String)>,
    /// OpenRouter's reasoning, to be sent back as it came.
    details: Vec<Value>,
    /// Fields of calls that are not the API's own, by id: Google's signatures travel so.
    extras: HashMap<String, Object>,
    last_id: String,
}

impl Said {
    /// Gathers a delta, or the message of a whole answer.
    pub(super) fn add(&mut self, delta: &Object) {
        for field in TEXTS {
            let text = match delta.get(field) {
                Some(list) if list.starts_with('[') => texts_of(list),
                _ => delta.text(field).unwrap_or_default(),
            };
            if !text.is_empty() {
                match self.texts.iter_mut().find(|(known, _)| known == &field) {
                    Some((_, all)) => all.push_str(&text),
                    None => self.texts.push((field, text)),
                }
            }
        }
        for detail in delta.items("reasoning_details") {
            if let Ok(detail) = serde_json::from_str(&detail) {
                merge(&mut self.details, detail);
            }
        }
        for call in delta.items("tool_calls") {
            if let Ok(call) = Object::parse(&call) {
                self.call(&call);
            }
        }
    }

    /// One text of the turn.
    pub(super) fn text(&self, field: &str) -> &str {
        self.texts.iter().find(|(known, _)| *known == field).map_or("", |(_, text)| text)
    }

    fn call(&mut self, call: &Object) {
        if let Some(id) = call.text("id").filter(|id| !id.is_empty()) {
            self.last_id = id;
        }
        for (key, value) in call.iter().filter(|(key, _)| !OWN.contains(key)) {
            self.extras.entry(self.last_id.clone()).or_default().set(key, value);
        }
    }

    /// The assistant's message, and one for the result of each call.
    pub(super) fn messages(&self, answered: &[Answered]) -> Vec<String> {
        let mut message = Object::default();
        message.set("role", quote("assistant"));
        message.set("content", "null");
        for (field, text) in &self.texts {
            message.set(field, quote(text));
        }
        if !self.details.is_empty() {
            message.set("reasoning_details", array(self.details.iter().map(Value::to_string)));
        }
        let mut results = Vec::new();
        let mut calls = Vec::new();
        let mut known = HashSet::new();
        for (place, call) in answered.iter().enumerate() {
            let content = quote(&call.result.text);
            let (name, arguments) = (quote(&call.name), quote(&call.arguments));
            if call.flavor == CallFlavor::LegacyFunction {
                message.set("function_call", format!(r#"{{"name":{name},"arguments":{arguments}}}"#));
                results.push(format!(r#"{{"role":"function","name":{name},"content":{content}}}"#));
                continue;
            }
            // Some providers send no id, or one for all: results would be nobody's.
            let given = call.id.clone().filter(|id| known.insert(id.clone()));
            let id = quote(&given.unwrap_or_else(|| format!("call_{place}")));
            let mut object = Object::default();
            object.set("id", id.as_str());
            if call.flavor == CallFlavor::Custom {
                object.set("type", quote("custom"));
                object.set("custom", format!(r#"{{"name":{name},"input":{arguments}}}"#));
            } else {
                object.set("type", quote("function"));
                object.set("function", format!(r#"{{"name":{name},"arguments":{arguments}}}"#));
            }
            let extras = call.id.as_ref().and_then(|id| self.extras.get(id));
            for (key, value) in extras.into_iter().flat_map(Object::iter) {
                object.set(key, value);
            }
            calls.push(object.to_string());
            results.push(format!(r#"{{"role":"tool","tool_call_id":{id},"content":{content}}}"#));
        }
        if !calls.is_empty() {
            message.set("tool_calls", array(calls));
        }
        results.insert(0, message.to_string());
        results
    }
}

/// The text of a content that is a list of parts.
fn texts_of(list: &str) -> String {
    let parts = items(list).unwrap_or_default();
    let texts = parts.iter().filter_map(|part| {
        let part = Object::parse(part).ok()?;
        part.text("type").filter(|kind| kind == "text")?;
        part.text("text")
    });
    texts.collect()
}

/// A piece of reasoning belongs to the one before it if both have the same type and index.
fn merge(details: &mut Vec<Value>, detail: Value) {
    let same = |known: &&mut Value| known["type"] == detail["type"] && known["index"] == detail["index"];
    let Some(Value::Object(known)) = details.last_mut().filter(same) else { return details.push(detail) };
    let Value::Object(detail) = detail else { return };
    for (key, value) in detail {
        match (known.get_mut(&key), value) {
            (Some(Value::String(all)), Value::String(more)) if GROWS.contains(&key.as_str()) => {
                all.push_str(&more);
            }
            (_, Value::Null) => {}
            (_, value) => {
                known.insert(key, value);
            }
        }
    }
}

/// The texts of a message. A provider that sends reasoning in one of these fields wants it back there.
const TEXTS: [&str; 4] = ["content", "reasoning_content", "reasoning", "refusal"];
const OWN: [&str; 5] = ["index", "id", "type", "function", "custom"];
const GROWS: [&str; 3] = ["text", "summary", "data"];
