//! Clients of Chat Completions.

mod calls;
mod texts;

use calls::{Built, Name, Table};
use serde_json::Value;
pub(super) use texts::Texts;

use super::keys;
use super::lines::Sse;
use super::reading::Reading;

/// The stream helper of openai-python: the index is a position in the lists of choices and of calls; all strings are concatenated, names
/// included.
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

/// Loops over every choice: choices and calls are kept by `index` in a `dict`; all strings are concatenated.
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

/// The `stream_chunk_builder` of litellm: the texts of all choices are concatenated to one, and calls are kept by `index` alone, or, in
/// later versions, by choice and `index`. A field is read in chunks whose first choice has the field, and there in every choice; the texts
/// of a stream without calls are read in the first choice alone. A call whose arguments were joined from several choices and are not JSON
/// is dropped: no program can run it.
pub(super) fn joined_choices(events: &[Sse]) -> Reading {
    let mut calls: Table<(Vec<String>, Built)> = Table::default();
    let reading = walk(events, |chunk, reading, texts| {
        reading.say_strings(&strange(chunk));
        let Some(first) = list(chunk, "choices").next() else { return };
        let has = |field: &str| first.pointer(&format!("/delta/{field}")).is_some_and(|said| !said.is_null());
        texts.add("the first of each", &first["delta"]);
        for choice in list(chunk, "choices") {
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
    });
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

/// The fields of a delta whose texts litellm concatenates.
const TEXTS: [&str; 3] = ["content", "reasoning_content", "audio"];

/// The stream helper of openai-node: choices and calls are kept by `index` as a property key; the last name counts.
pub(super) fn by_property(events: &[Sse]) -> Reading {
    let mut calls: Table = Table::default();
    fold(events, keys::javascript, |choice, delta| {
        let key = keys::javascript(choice.get("index"));
        legacy(calls.at(&format!("{key} legacy")), delta, Name::Last);
        for part in list(delta, "tool_calls") {
            let key = format!("{key} {}", keys::javascript(part.get("index")));
            calls.one(&key).add(part, Name::Last);
        }
        // The helper assigns the other members of the delta to the message: `__proto__` becomes its prototype, and the message inherits
        // the calls of the prototype.
        for part in delta.get("__proto__").into_iter().flat_map(|inherited| list(inherited, "tool_calls")) {
            let key = format!("{key} inherited {}", keys::javascript(part.get("index")));
            calls.one(&key).add(part, Name::Last);
        }
        Ok(())
    })
    .with(calls.built())
}

/// The loop of every guide: `choices[0]` of every chunk; calls are kept by `index`, and the first name counts.
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

/// Earlier versions of Vercel's `ai`: `choices[0]` of every chunk; calls are kept by `index`, and a call is complete as soon as its
/// arguments parse.
pub(super) fn until_it_parses(events: &[Sse]) -> Reading {
    let mut calls: Table = Table::default();
    fold_first(events, |delta| {
        for part in list(delta, "tool_calls") {
            calls.one(&keys::javascript(part.get("index"))).extend(part);
        }
    })
    .with(calls.built())
}

/// Vercel's `ai`: `choices[0]` of every chunk; calls are kept by `index`, and another name opens another call. A part with the id of a call
/// at another index is dropped.
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

/// LangChain: entries with equal `index` are merged into one call, and an entry without an index is a call of its own; names are
/// concatenated.
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

/// Programs that open a call at each new id, and add every other part to the last call.
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

/// Reads every choice of every chunk. The texts of a choice are concatenated under its key.
fn fold(
    events: &[Sse],
    key: fn(Option<&Value>) -> String,
    mut each: impl FnMut(&Value, &Value) -> Result<(), String>,
) -> Reading {
    walk(events, |chunk, reading, texts| {
        reading.say_strings(&strange(chunk));
        for choice in list(chunk, "choices") {
            let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) else { continue };
            texts.add(&key(choice.get("index")), delta);
            if let Err(why) = each(choice, delta) {
                reading.raised = Some(why);
                break;
            }
        }
    })
}

/// Reads the first choice of every chunk, whatever its index.
fn fold_first(events: &[Sse], mut each: impl FnMut(&Value)) -> Reading {
    walk(events, |chunk, _, texts| {
        if let Some(delta) = list(chunk, "choices").next().and_then(|choice| choice.get("delta")) {
            texts.add("", delta);
            each(delta);
        }
    })
}

/// Calls `each` for every chunk up to the first at which the client raises an error, and adds the collected texts to the reading.
fn walk(events: &[Sse], mut each: impl FnMut(&Value, &mut Reading, &mut Texts)) -> Reading {
    let mut texts = Texts::default();
    let mut reading = Reading::default();
    for chunk in chunks(events) {
        match chunk {
            Ok(chunk) => each(&chunk, &mut reading, &mut texts),
            Err(why) => {
                reading.raised = Some(why);
                break;
            }
        }
    }
    texts.tell(&mut reading);
    reading
}

/// The chunks up to `[DONE]`; an error where the client raises one.
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

/// Whether a value is true in Python and JavaScript; here the number 0 and empty containers count as true, too.
fn is_true(value: &Value) -> bool {
    !matches!(value, Value::Null | Value::Bool(false)) && value.as_str() != Some("")
}

/// The values of a chunk whose keys are not part of the API.
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

impl Reading {
    /// Adds the calls, unless the client raised an error: such a client runs nothing. A call without a name cannot be run.
    fn with(mut self, calls: impl Iterator<Item = Built>) -> Self {
        if self.raised.is_none() {
            self.calls = calls.filter(|call| !call.name.is_empty()).map(Built::call).collect();
        }
        self
    }
}
