//! The quirks of chat streams.

mod calls;
mod stream;

use std::collections::BTreeSet;

use serde_json::Value;

use super::quirks::Quirk;
use super::seen::{Seen, says};

/// Of calls, and of all else.
pub(super) const QUIRKS: [&[Quirk]; 2] = [calls::QUIRKS, stream::QUIRKS];

fn choices(seen: &Seen) -> impl Iterator<Item = &Value> {
    seen.json().filter_map(|json| json["choices"].as_array()).flatten()
}

fn finishes(choice: &Value) -> bool {
    says(&choice["finish_reason"])
}

fn finish(seen: &Seen, reason: &str) -> bool {
    choices(seen).any(|choice| choice["finish_reason"] == reason)
}

fn has_call(choice: &Value) -> bool {
    choice["delta"]["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty())
}

fn reasons(choice: &Value) -> bool {
    ["reasoning", "reasoning_content"].iter().any(|field| says(&choice["delta"][field]))
}

fn is_none(choices: &Value) -> bool {
    choices.as_array().is_none_or(Vec::is_empty)
}

fn changes(seen: &Seen, member: &str) -> bool {
    let values: BTreeSet<_> = seen.json().filter_map(|json| json[member].as_str()).collect();
    values.iter().filter(|value| !value.is_empty()).count() > 1
}

fn behind_a_call(seen: &Seen, member: &str) -> bool {
    let behind = choices(seen).skip_while(|choice| !has_call(choice)).skip(1);
    behind.into_iter().any(|choice| says(&choice["delta"][member]) || choice["delta"][member].is_array())
}

/// A delta of a call.
struct Call<'a> {
    choice: u64,
    opens: bool,
    delta: &'a Value,
    /// Which call of the stream.
    number: usize,
}

/// The deltas of calls, in order. A call opens at an index of its choice that is new, and with an id that is new.
fn calls(seen: &Seen) -> impl Iterator<Item = Call<'_>> {
    let mut open: Vec<(u64, Option<u64>, String)> = Vec::new();
    let deltas = choices(seen).flat_map(|choice| {
        let calls = choice["delta"]["tool_calls"].as_array().into_iter().flatten();
        calls.map(|delta| (choice["index"].as_u64().unwrap_or_default(), delta))
    });
    deltas.map(move |(choice, delta)| {
        let (index, id) = (index(delta), delta["id"].as_str().unwrap_or_default());
        let known = open.iter().rposition(|(of, at, known)| {
            *of == choice && (index.is_none() || *at == index) && (id.is_empty() || id == known)
        });
        let number = known.unwrap_or(open.len());
        if known.is_none() {
            open.push((choice, index, id.to_owned()));
        }
        Call { choice, opens: known.is_none(), delta, number }
    })
}

fn index(delta: &Value) -> Option<u64> {
    delta["index"].as_u64()
}

fn opens(seen: &Seen, test: impl Fn(&Value) -> bool) -> bool {
    calls(seen).any(|call| call.opens && test(call.delta))
}

fn goes_on(seen: &Seen, test: impl Fn(&Value) -> bool) -> bool {
    calls(seen).any(|call| !call.opens && test(call.delta))
}

fn whole(arguments: &Value) -> Option<Value> {
    serde_json::from_str(arguments.as_str()?).ok()
}

/// The arguments of each call, put together.
fn bodies(seen: &Seen) -> Vec<String> {
    let mut bodies = Vec::new();
    for call in calls(seen) {
        bodies.resize(bodies.len().max(call.number + 1), String::new());
        bodies[call.number] += call.delta["function"]["arguments"].as_str().unwrap_or_default();
    }
    bodies
}
