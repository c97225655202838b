//! Clients of Chat Completions.

use std::collections::BTreeMap;

use serde_json::Value;

use super::keys;
use super::lines::Sse;
use super::reading::{Call, CallKind, Reading, Said};

/// openai-python's stream helper: choices and calls by position, strings put together, names too.
pub(super) fn by_position(events: &[Sse]) -> Reading {
    let mut choices: Vec<Vec<Built>> = Vec::new();
    let mut functions = Table::default();
    fold(events, keys::python, |choice, delta| {
        let at = keys::position(choice.get("index"), choices.len())?.min(choices.len());
        if at == choices.len() {
            choices.push(Vec::new());
        }
        legacy(functions.at(&at.to_string()), delta, Name::Joined);
        for part in list(delta, "tool_calls") {
            let calls = &mut choices[at];
            let index = keys::position(part.get("index"), calls.len())?.min(calls.len());
            if index == calls.len() {
                calls.push(Built::default());
            }
            calls[index].add(part, Name::Joined);
        }
        Ok(())
    })
    .with(functions.built().chain(choices.into_iter().flatten()))
}

/// Loops over every choice: choices and calls by `index` in a `dict`, strings put together.
pub(super) fn every_choice(events: &[Sse]) -> Reading {
    let mut calls: Table = Table::default();
    fold(events, keys::python, |choice, delta| {
        let key = keys::python(choice.get("index"));
        legacy(calls.at(&format!("{key} legacy")), delta, Name::Joined);
        for part in list(delta, "tool_calls") {
            let key = format!("{key} {}", keys::python(part.get("index")));
            calls.one(&key).add(part, Name::Joined);
        }
        Ok(())
    })
    .with(calls.built())
}

/// litellm's `stream_chunk_builder`: the texts of all choices are one, and calls go by their `index` alone, or, in later versions, by that
/// and their choice. A field counts in chunks whose first choice has it, and there in every choice; texts without calls count in the first
/// choice alone. Arguments that several choices have written and that are no JSON are no call to anybody.
pub(super) fn joined_choices(events: &[Sse]) -> Reading {
    let mut reading = Reading::default();
    let mut calls: Table<(Vec<String>, Built)> = Table::default();
    let mut texts = Texts::default();
    for chunk in chunks(events) {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(why) => {
                reading.raised = Some(why);
                break;
            }
        };
        reading.say_strings(&strange(&chunk));
        let Some(first) = list(&chunk, "choices").next() else { continue };
        let has = |field: &str| first.pointer(&format!("/delta/{field}")).is_some_and(|said| !said.is_null());
        texts.add("the first of each", &first["delta"]);
        for choice in list(&chunk, "choices") {
            let (of, delta) = (keys::python(choice.get("index")), &choice["delta"]);
            for field in TEXTS.into_iter().filter(|field| has(field)) {
                texts.add("all", &serde_json::json!({ field: delta[field] }));
            }
            let parts =
                list(delta, "tool_calls").map(|part| (keys::python(part.get("index")), part, Name::Last));
            let parts = parts.filter(|_| has("tool_calls"));
            let legacy = delta.get("function_call").filter(|call| call.is_object() && has("function_call"));
            let legacy = legacy.map(|call| (LEGACY.to_owned(), call, Name::First));
            for (index, part, name) in parts.chain(legacy) {
                for key in [index.clone(), format!("{of} {index}")] {
                    let (choices, built) = calls.one(&key);
                    if !choices.contains(&of) {
                        choices.push(of.clone());
                    }
                    if index == LEGACY { built.fields(part, name) } else { built.add(part, name) }
                }
            }
        }
    }
    texts.tell(&mut reading);
    let runs = |(choices, call): &(Vec<String>, Built)| {
        let is_json = || serde_json::from_str::<Value>(&call.arguments).is_ok();
        choices.len() < 2 || call.custom || call.arguments.trim().is_empty() || is_json()
    };
    let mut read = reading.with(calls.built().filter(runs).map(|(_, call)| call));
    let mut listed = Vec::new();
    read.calls.retain(|call| {
        !listed.contains(call) && {
            listed.push(call.clone());
            true
        }
    });
    read
}

const LEGACY: &str = "function_call";

/// The fields of a delta whose texts litellm puts together.
const TEXTS: [&str; 3] = ["content", "reasoning_content", "audio"];

/// openai-node's stream helper: choices and calls by `index` as a property key; the last name stays.
pub(super) fn by_property(events: &[Sse]) -> Reading {
    let mut calls: Table = Table::default();
    fold(events, keys::javascript, |choice, delta| {
        let key = keys::javascript(choice.get("index"));
        legacy(calls.at(&format!("{key} legacy")), delta, Name::Last);
        for part in list(delta, "tool_calls") {
            let key = format!("{key} {}", keys::javascript(part.get("index")));
            calls.one(&key).add(part, Name::Last);
        }
        // The rest of the delta is assigned to the message: this becomes its prototype, whose calls are the message's.
        for part in delta.get("__proto__").into_iter().flat_map(|inherited| list(inherited, "tool_calls")) {
            let key = format!("{key} inherited {}", keys::javascript(part.get("index")));
            calls.one(&key).add(part, Name::Last);
        }
        Ok(())
    })
    .with(calls.built())
}

/// The loop of every guide: `choices[0]`, calls by `index`, the first name stays.
pub(super) fn first_choice(events: &[Sse]) -> Reading {
    let mut calls: Table = Table::default();
    fold_first(events, |delta| {
        legacy(calls.at("legacy"), delta, Name::First);
        for part in list(delta, "tool_calls") {
            calls.one(&keys::javascript(part.get("index"))).add(part, Name::First);
        }
    })
    .with(calls.built())
}

/// Earlier versions of Vercel's `ai`: `choices[0]`, calls by `index`; a call is over as soon as its arguments parse.
pub(super) fn until_it_parses(events: &[Sse]) -> Reading {
    let mut calls: Table = Table::default();
    fold_first(events, |delta| {
        for part in list(delta, "tool_calls") {
            calls.one(&keys::javascript(part.get("index"))).extend(part);
        }
    })
    .with(calls.built())
}

/// Vercel's `ai`: `choices[0]`, calls by `index`, where another name opens another call; a part with the id of a call at
/// another index is dropped.
pub(super) fn by_index_and_name(events: &[Sse]) -> Reading {
    let mut calls: Vec<(String, String, Built)> = Vec::new();
    fold_first(events, |delta| {
        for part in list(delta, "tool_calls") {
            let index = keys::javascript(part.get("index"));
            let id = text(part, "id").unwrap_or_default().to_owned();
            let name = part.pointer("/function/name").and_then(Value::as_str).unwrap_or_default();
            let fits = |(at, _, call): &(String, String, Built)| {
                *at == index && (name.is_empty() || call.name == name)
            };
            let known = calls.iter().rposition(fits);
            let is_anothers =
                !id.is_empty() && calls.iter().any(|(at, other, _)| *other == id && *at != index);
            match known {
                _ if is_anothers && name.is_empty() => {}
                Some(at) => calls[at].2.extend(part),
                None => {
                    let mut call = Built::default();
                    call.add(part, Name::First);
                    calls.push((index, id, call));
                }
            }
        }
    })
    .with(calls.into_iter().map(|(_, _, call)| call))
}

/// LangChain: chunks are merged, entries with one `index` into one, entries without into none; names are put together.
pub(super) fn merged(events: &[Sse]) -> Reading {
    let mut calls: Table = Table::default();
    let mut lone = 0;
    fold_first(events, |delta| {
        for part in list(delta, "tool_calls") {
            let index = part.get("index").filter(|index| !index.is_null());
            let key = if index.is_some() {
                keys::python(index)
            } else {
                lone += 1;
                format!("alone {lone}")
            };
            calls.one(&key).add(part, Name::Joined);
        }
    })
    .with(calls.built())
}

/// Programs that open a call at each new id, and give all else to the last one.
pub(super) fn by_id(events: &[Sse]) -> Reading {
    let mut calls: Vec<(String, Built)> = Vec::new();
    fold_first(events, |delta| {
        for part in list(delta, "tool_calls") {
            let id = text(part, "id").filter(|id| !id.is_empty());
            let is_new = id.is_some_and(|id| calls.iter().all(|(known, _)| known != id));
            if is_new || calls.is_empty() {
                calls.push((id.unwrap_or_default().to_owned(), Built::default()));
            }
            if let Some((_, call)) = calls.last_mut() {
                call.add(part, Name::First);
            }
        }
    })
    .with(calls.into_iter().map(|(_, call)| call))
}

/// Every choice of every chunk, and its texts.
fn fold(
    events: &[Sse],
    key: fn(Option<&Value>) -> String,
    mut each: impl FnMut(&Value, &Value) -> Result<(), String>,
) -> Reading {
    let mut texts = Texts::default();
    let mut reading = Reading::default();
    for chunk in chunks(events) {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(why) => {
                reading.raised = Some(why);
                break;
            }
        };
        reading.say_strings(&strange(&chunk));
        for choice in list(&chunk, "choices") {
            let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) else { continue };
            texts.add(&key(choice.get("index")), delta);
            if let Err(why) = each(choice, delta) {
                reading.raised = Some(why);
                break;
            }
        }
    }
    texts.tell(&mut reading);
    reading
}

/// The first choice of every chunk, whatever its index.
fn fold_first(events: &[Sse], mut each: impl FnMut(&Value)) -> Reading {
    let mut texts = Texts::default();
    let mut reading = Reading::default();
    for chunk in chunks(events) {
        let chunk = match chunk {
            Ok(chunk) => chunk,
            Err(why) => {
                reading.raised = Some(why);
                break;
            }
        };
        if let Some(delta) = list(&chunk, "choices").next().and_then(|choice| choice.get("delta")) {
            texts.add("", delta);
            each(delta);
        }
    }
    texts.tell(&mut reading);
    reading
}

/// The chunks up to `[DONE]`, or the error that a client raises at one.
fn chunks(events: &[Sse]) -> impl Iterator<Item = Result<Value, String>> + '_ {
    let events = events.iter().take_while(|event| !event.data.starts_with("[DONE]"));
    events.filter(|event| !event.data.trim().is_empty()).map(|event| {
        let chunk: Value = serde_json::from_str(&event.data).map_err(|error| error.to_string())?;
        match chunk.get("error").filter(|error| is_true(error)) {
            Some(error) => Err(error.to_string()),
            None => Ok(chunk),
        }
    })
}

/// What Python and JavaScript take for true, nearly.
fn is_true(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("")
}

/// The fields of a chunk that are none of the API's own.
fn strange(chunk: &Value) -> Value {
    const KNOWN: [&str; 8] =
        ["id", "object", "created", "model", "choices", "usage", "service_tier", "system_fingerprint"];
    let members = chunk.as_object().into_iter().flatten();
    members.filter(|(key, _)| !KNOWN.contains(&key.as_str())).map(|(_, value)| value.clone()).collect()
}

fn list<'a>(value: &'a Value, key: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    value.get(key).and_then(Value::as_array).into_iter().flatten()
}

fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

fn legacy(calls: &mut Vec<Built>, delta: &Value, name: Name) {
    let Some(function) = delta.get("function_call").filter(|call| call.is_object()) else { return };
    if calls.is_empty() {
        calls.push(Built::default());
    }
    calls[0].fields(function, name);
}

/// What happens to a second name of a call.
#[derive(Clone, Copy)]
enum Name {
    Joined,
    First,
    Last,
}

/// A call as it is put together.
#[derive(Debug, Clone, Default)]
struct Built {
    custom: bool,
    name: String,
    arguments: String,
}

impl Built {
    fn add(&mut self, part: &Value, name: Name) {
        if let Some(function) = part.get("function") {
            self.fields(function, name);
        }
        if let Some(custom) = part.get("custom").filter(|custom| custom.is_object()) {
            self.custom = true;
            self.fields(custom, name);
        }
    }

    /// Adds a part, unless the arguments are one whole value by now.
    fn extend(&mut self, part: &Value) {
        let is_over = !self.arguments.is_empty() && serde_json::from_str::<Value>(&self.arguments).is_ok();
        if !is_over {
            self.add(part, Name::First);
        }
    }

    fn fields(&mut self, fields: &Value, name: Name) {
        if let Some(said) = text(fields, "name").filter(|said| !said.is_empty()) {
            match name {
                Name::Joined => self.name.push_str(said),
                Name::Last => said.clone_into(&mut self.name),
                Name::First if self.name.is_empty() => said.clone_into(&mut self.name),
                Name::First => {}
            }
        }
        match fields.get("arguments").or_else(|| fields.get("input")) {
            Some(Value::String(text)) => self.arguments.push_str(text),
            Some(Value::Null) | None => {}
            Some(other) => self.arguments.push_str(&other.to_string()),
        }
    }

    fn call(self) -> Call {
        let kind = if self.custom { CallKind::Custom } else { CallKind::Function };
        Call { kind, name: self.name, arguments: self.arguments }
    }
}

/// Calls by a key, in the order they came up.
struct Table<T = Built>(Vec<(String, Vec<T>)>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> Table<T> {
    fn at(&mut self, key: &str) -> &mut Vec<T> {
        let at = self.0.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
            self.0.push((key.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    fn one(&mut self, key: &str) -> &mut T {
        let calls = self.at(key);
        if calls.is_empty() {
            calls.push(T::default());
        }
        &mut calls[0]
    }

    fn built(self) -> impl Iterator<Item = T> {
        self.0.into_iter().flat_map(|(_, calls)| calls)
    }
}

impl Reading {
    /// With these calls, unless the client raised before it could run them. A client that has no name for a call
    /// cannot run it.
    fn with(mut self, calls: impl Iterator<Item = Built>) -> Self {
        if self.raised.is_none() {
            self.calls = calls.filter(|call| !call.name.is_empty()).map(Built::call).collect();
        }
        self
    }
}

/// The texts of choices, field by field.
#[derive(Default)]
pub(super) struct Texts(BTreeMap<(String, &'static str), String>);

impl Texts {
    /// A delta, or the message of a whole response.
    pub(super) fn add(&mut self, choice: &str, delta: &Value) {
        let mut put = |field, text: &str| {
            self.0.entry((choice.to_owned(), field)).or_default().push_str(text);
        };
        match delta.get("content") {
            Some(Value::String(text)) => {
                put("content", text);
                put("content, lists too", text);
            }
            Some(Value::Array(parts)) => {
                for part in parts {
                    put("content, lists too", text(part, "text").unwrap_or_default());
                    put("content, lists alone", text(part, "text").unwrap_or_default());
                    for thought in list(part, "thinking") {
                        put("reasoning in content", text(thought, "text").unwrap_or_default());
                    }
                }
            }
            _ => {}
        }
        for field in ["refusal", "reasoning_content", "reasoning"] {
            put(field, text(delta, field).unwrap_or_default());
        }
        for detail in list(delta, "reasoning_details") {
            put("reasoning_details", text(detail, "text").or(text(detail, "summary")).unwrap_or_default());
        }
        put("audio", delta.pointer("/audio/transcript").and_then(Value::as_str).unwrap_or_default());
    }

    pub(super) fn tell(self, reading: &mut Reading) {
        for ((_, field), text) in self.0 {
            reading.say(match field {
                "refusal" => Said::Refusal(text),
                "content" | "content, lists too" | "content, lists alone" | "audio" => Said::Content(text),
                _ => Said::Reasoning(text),
            });
        }
    }
}
