//! Clients of Gemini.

use std::collections::BTreeMap;

use serde_json::Value;

use super::keys;
use super::lines::Sse;
use super::reading::{Call, Reading, Said};

/// The SDKs of Google: `candidates[0]` of every chunk.
pub(super) fn first_candidate(events: &[Sse]) -> Reading {
    read(events, |chunk| {
        let first = chunk.get("candidates").and_then(|all| all.get(0));
        first.map(|candidate| (String::new(), candidate)).into_iter().collect()
    })
}

/// Programs that keep candidates by `index`; a candidate without an index is the first.
pub(super) fn every_candidate(events: &[Sse]) -> Reading {
    read(events, |chunk| {
        let candidates = chunk.get("candidates").and_then(Value::as_array).into_iter().flatten();
        let zero = Value::from(0);
        let key = |candidate: &Value| keys::javascript(Some(candidate.get("index").unwrap_or(&zero)));
        candidates.map(|candidate| (key(candidate), candidate)).collect()
    })
}

fn read(events: &[Sse], candidates: impl Fn(&Value) -> Vec<(String, &Value)>) -> Reading {
    let mut reading = Reading::default();
    let mut answer = Answer::default();
    for event in events {
        let Ok(chunk) = serde_json::from_str::<Value>(&event.data) else {
            reading.raised = Some(format!("expected JSON, found {:?}", event.data));
            break;
        };
        if chunk.get("error").is_some_and(|error| !error.is_null()) {
            reading.raised = Some(chunk.to_string());
            break;
        }
        for (key, candidate) in candidates(&chunk) {
            answer.add(&key, candidate);
        }
    }
    answer.tell(&mut reading);
    reading
}

/// Candidates that are being built.
#[derive(Default)]
pub(super) struct Answer {
    calls: Vec<Call>,
    /// The call with partial arguments, by candidate.
    partial: BTreeMap<String, (usize, Vec<Value>)>,
    texts: BTreeMap<(String, bool), String>,
    pieces: Vec<Said>,
    others: Vec<Value>,
}

impl Answer {
    pub(super) fn add(&mut self, key: &str, candidate: &Value) {
        let parts = candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten();
        for part in parts {
            let thought = part.get("thought").is_some_and(|thought| thought == true);
            if let Some(text) = part.get("text").and_then(Value::as_str) {
                self.texts.entry((key.to_owned(), thought)).or_default().push_str(text);
                let said = text.to_owned();
                self.pieces.push(if thought { Said::Reasoning(said) } else { Said::Content(said) });
            }
            if let Some(call) = part.get("functionCall") {
                self.call(key, call);
            }
            for other in
                ["executableCode", "codeExecutionResult", "toolCall", "toolResponse", "functionResponse"]
            {
                self.others.extend(part.get(other).cloned());
            }
        }
        for other in ["groundingMetadata", "citationMetadata", "urlContextMetadata"] {
            self.others.extend(candidate.get(other).cloned());
        }
    }

    fn call(&mut self, key: &str, call: &Value) {
        let name = call.get("name").and_then(Value::as_str).unwrap_or_default();
        let continues = call.get("willContinue").is_some_and(|more| more == true);
        let parts = call.get("partialArgs").and_then(Value::as_array).cloned().unwrap_or_default();
        if let Some((at, pieces)) = self.partial.get_mut(key).filter(|_| name.is_empty()) {
            pieces.extend(parts);
            self.calls[*at].arguments = assembled(pieces).to_string();
            if !continues {
                self.partial.remove(key);
            }
            return;
        }
        let args = call.get("args").filter(|args| !args.is_null()).map(Value::to_string).unwrap_or_default();
        let mut made = Call::function(name, args);
        if continues || !parts.is_empty() {
            made.arguments = assembled(&parts).to_string();
        }
        self.calls.push(made);
        if continues {
            self.partial.insert(key.to_owned(), (self.calls.len() - 1, parts));
        }
    }

    pub(super) fn tell(self, reading: &mut Reading) {
        if reading.raised.is_none() {
            // A call without a name cannot be run.
            reading.calls = self.calls.into_iter().filter(|call| !call.name.is_empty()).collect();
        }
        for ((_, thought), text) in self.texts {
            reading.say(if thought { Said::Reasoning(text) } else { Said::Content(text) });
        }
        reading.say_blocks(self.pieces);
        for other in &self.others {
            reading.say_strings(other);
        }
    }
}

/// The arguments that are given as JSON paths (`$.a.b[0]`) with values.
fn assembled(parts: &[Value]) -> Value {
    let mut root = Value::Object(serde_json::Map::new());
    for part in parts {
        let path = part.get("jsonPath").and_then(Value::as_str).unwrap_or_default();
        let value = ["stringValue", "numberValue", "boolValue", "nullValue"]
            .iter()
            .find_map(|key| part.get(*key).map(|value| (*key, value)));
        let Some((key, value)) = value else { continue };
        let value = if key == "nullValue" { Value::Null } else { value.clone() };
        put(&mut root, &steps(path), value);
    }
    root
}

fn steps(path: &str) -> Vec<String> {
    let path =
        path.trim_start_matches('$').replace("['", ".").replace("']", "").replace('[', ".").replace(']', "");
    path.split('.').filter(|step| !step.is_empty()).map(str::to_owned).collect()
}

fn put(place: &mut Value, steps: &[String], value: Value) {
    let Some((step, rest)) = steps.split_first() else {
        match (place, value) {
            (Value::String(text), Value::String(more)) => text.push_str(&more),
            (place, value) => *place = value,
        }
        return;
    };
    if let Ok(at) = step.parse::<usize>().and_then(|at| {
        if place.is_object() && !place.as_object().is_some_and(serde_json::Map::is_empty) {
            "".parse()
        } else {
            Ok(at)
        }
    }) {
        if !place.is_array() {
            *place = Value::Array(Vec::new());
        }
        if let Some(list) = place.as_array_mut().filter(|_| at < 10_000) {
            while list.len() <= at {
                list.push(Value::Null);
            }
            put(&mut list[at], rest, value);
        }
        return;
    }
    if !place.is_object() {
        *place = Value::Object(serde_json::Map::new());
    }
    if let Some(members) = place.as_object_mut() {
        put(members.entry(step.clone()).or_insert(Value::Null), rest, value);
    }
}
