//! The quirks of chat streams.

use std::collections::BTreeSet;

use serde_json::Value;

use super::quirks::Quirk;
use super::seen::{Seen, is_empty, says};

pub(super) const QUIRKS: &[Quirk] = &[
    // Who a call is.
    ("a call without index", |seen| calls(seen).any(|call| call.opens && call.delta.get("index").is_none())),
    ("two calls on one index", |seen| {
        let opened: Vec<_> =
            calls(seen).filter(|call| call.opens).map(|call| (call.choice, index(call.delta))).collect();
        opened.iter().collect::<BTreeSet<_>>().len() < opened.len()
    }),
    ("the first call above index 0", |seen| {
        calls(seen).next().is_some_and(|call| index(call.delta).is_some_and(|index| index > 0))
    }),
    ("the id again on a continuation", |seen| goes_on(seen, |delta| says(&delta["id"]))),
    ("an empty id on a continuation", |seen| goes_on(seen, |delta| is_empty(&delta["id"]))),
    ("a null id on a continuation", |seen| goes_on(seen, |delta| delta.get("id") == Some(&Value::Null))),
    ("no id on a continuation", |seen| goes_on(seen, |delta| delta.get("id").is_none())),
    ("a call that opens without id", |seen| opens(seen, |delta| !says(&delta["id"]))),
    ("one id on two calls", |seen| {
        let ids: Vec<_> =
            calls(seen).filter(|call| call.opens).filter_map(|call| call.delta["id"].as_str()).collect();
        ids.iter().collect::<BTreeSet<_>>().len() < ids.len()
    }),
    ("the name again on a continuation", |seen| goes_on(seen, |delta| says(&delta["function"]["name"]))),
    ("a null name on a continuation", |seen| {
        goes_on(seen, |delta| delta["function"].get("name") == Some(&Value::Null))
    }),
    ("an empty name on a continuation", |seen| goes_on(seen, |delta| is_empty(&delta["function"]["name"]))),
    ("a call that opens without type", |seen| opens(seen, |delta| delta.get("type").is_none())),
    ("the type again on a continuation", |seen| goes_on(seen, |delta| says(&delta["type"]))),
    // Arguments.
    ("null arguments at the opening", |seen| {
        opens(seen, |delta| delta["function"].get("arguments") == Some(&Value::Null))
    }),
    ("no arguments at the opening", |seen| opens(seen, |delta| delta["function"].get("arguments").is_none())),
    ("empty arguments on a continuation", |seen| {
        goes_on(seen, |delta| is_empty(&delta["function"]["arguments"]))
    }),
    ("arguments that begin at the opening", |seen| {
        let mut calls = calls(seen).peekable();
        while let Some(call) = calls.next() {
            if call.opens
                && says(&call.delta["function"]["arguments"])
                && calls.peek().is_some_and(|next| !next.opens)
            {
                return true;
            }
        }
        false
    }),
    ("a whole call in one delta", |seen| {
        opens(seen, |delta| whole(&delta["function"]["arguments"]).is_some_and(|whole| whole.is_object()))
    }),
    ("arguments that break off", |seen| {
        bodies(seen).iter().any(|body| !body.is_empty() && serde_json::from_str::<Value>(body).is_err())
    }),
    ("arguments empty in total", |seen| bodies(seen).iter().any(String::is_empty)),
    ("arguments that are JSON and no object", |seen| {
        bodies(seen)
            .iter()
            .any(|body| serde_json::from_str::<Value>(body).is_ok_and(|body| !body.is_object()))
    }),
    // Order.
    ("two calls in one chunk", |seen| {
        choices(seen)
            .any(|choice| choice["delta"]["tool_calls"].as_array().is_some_and(|calls| calls.len() > 1))
    }),
    ("calls that are interleaved", |seen| {
        let indices: Vec<_> = calls(seen).map(|call| index(call.delta)).collect();
        indices.windows(2).any(|pair| pair[1] < pair[0])
    }),
    ("content behind a call", |seen| behind_a_call(seen, "content")),
    ("reasoning behind a call", |seen| {
        behind_a_call(seen, "reasoning_details") || behind_a_call(seen, "reasoning")
    }),
    ("content and a call in one chunk", |seen| {
        choices(seen).any(|choice| says(&choice["delta"]["content"]) && has_call(choice))
    }),
    ("reasoning and content in one chunk", |seen| {
        choices(seen).any(|choice| says(&choice["delta"]["content"]) && reasons(choice))
    }),
    ("empty content beside a call", |seen| {
        choices(seen).any(|choice| is_empty(&choice["delta"]["content"]) && has_call(choice))
    }),
    ("null content beside a call", |seen| {
        choices(seen).any(|choice| choice["delta"].get("content") == Some(&Value::Null) && has_call(choice))
    }),
    // Finish.
    ("a finish beside a call", |seen| choices(seen).any(|choice| finishes(choice) && has_call(choice))),
    ("a finish beside content", |seen| {
        choices(seen).any(|choice| finishes(choice) && says(&choice["delta"]["content"]))
    }),
    ("a finish beside reasoning", |seen| choices(seen).any(|choice| finishes(choice) && reasons(choice))),
    ("`stop` although there are calls", |seen| calls(seen).next().is_some() && finish(seen, "stop")),
    ("`length` in a call", |seen| {
        finish(seen, "length") && bodies(seen).iter().any(|body| serde_json::from_str::<Value>(body).is_err())
    }),
    ("`length`", |seen| finish(seen, "length")),
    ("no finish", |seen| !choices(seen).any(finishes)),
    ("a finish that is said again", |seen| {
        choices(seen).filter(|choice| finishes(choice) && choice["index"] == 0).count() > 1
    }),
    ("content behind the finish", |seen| {
        choices(seen)
            .skip_while(|choice| !finishes(choice))
            .skip(1)
            .any(|choice| says(&choice["delta"]["content"]))
    }),
    ("a finish for each call", |seen| {
        choices(seen).skip_while(|choice| !finishes(choice)).skip(1).any(has_call)
    }),
    ("a reason of one's own", |seen| finish(seen, "eos")),
    ("a call in the legacy form", |seen| {
        finish(seen, "function_call")
            && choices(seen).any(|choice| choice["delta"]["function_call"].is_object())
    }),
    ("`native_finish_reason`", |seen| choices(seen).any(|choice| says(&choice["native_finish_reason"]))),
    ("`content_filter`", |seen| finish(seen, "content_filter")),
    ("an empty reason before the finish", |seen| {
        choices(seen).any(|choice| is_empty(&choice["finish_reason"]))
    }),
    // Usage, and chunks without choices.
    ("usage alone behind the finish", |seen| {
        seen.json().any(|json| json["usage"].is_object() && is_none(&json["choices"]))
    }),
    ("usage on every chunk", |seen| {
        let chunks: Vec<_> = seen.json().collect();
        chunks.len() > 2 && chunks.iter().all(|json| json["usage"].is_object())
    }),
    ("usage on some chunks", |seen| {
        let some = seen.json().filter(|json| json["usage"].is_object()).count();
        some > 1 && some < seen.json().count()
    }),
    ("no usage", |seen| !seen.member("usage", Value::is_object)),
    ("a first chunk without choices", |seen| {
        seen.json()
            .next()
            .is_some_and(|json| is_none(&json["choices"]) && !json["prompt_filter_results"].is_null())
    }),
    ("no choices and no usage later on", |seen| {
        seen.json().skip(1).any(|json| is_none(&json["choices"]) && json["usage"].is_null())
    }),
    ("a chunk without the key `choices`", |seen| seen.json().any(|json| json.get("choices").is_none())),
    ("a choice without delta", |seen| choices(seen).any(|choice| choice["delta"].is_null())),
    // The envelope.
    ("another `object`", |seen| seen.json().any(|json| json["object"] != "chat.completion.chunk")),
    ("an empty chunk id", |seen| seen.json().any(|json| is_empty(&json["id"]))),
    ("a chunk id that changes", |seen| changes(seen, "id")),
    ("a model that changes", |seen| changes(seen, "model")),
    ("the role on many chunks", |seen| {
        choices(seen).filter(|choice| says(&choice["delta"]["role"])).count() > 2
    }),
    ("no role", |seen| choices(seen).all(|choice| choice["delta"]["role"].is_null())),
    ("a null role", |seen| choices(seen).any(|choice| choice["delta"].get("role") == Some(&Value::Null))),
    ("the whole message beside each delta", |seen| choices(seen).any(|choice| choice["message"].is_object())),
    ("content as a list of parts", |seen| choices(seen).any(|choice| choice["delta"]["content"].is_array())),
    ("padding", |seen| seen.json().any(|json| says(&json["obfuscation"]) || says(&json["p"]))),
    ("several choices", |seen| choices(seen).any(|choice| choice["index"] == 1)),
    ("log probabilities", |seen| choices(seen).any(|choice| choice["logprobs"].is_object())),
    ("a refusal", |seen| choices(seen).any(|choice| says(&choice["delta"]["refusal"]))),
    ("speech", |seen| choices(seen).any(|choice| choice["delta"]["audio"].is_object())),
    ("annotations", |seen| {
        seen.json().any(|json| json["citations"].is_array())
            || choices(seen).any(|choice| choice["delta"]["annotations"].is_array())
    }),
    ("calls that are null", |seen| {
        choices(seen).any(|choice| choice["delta"].get("tool_calls") == Some(&Value::Null))
    }),
    ("an empty list of calls", |seen| {
        choices(seen).any(|choice| choice["delta"]["tool_calls"].as_array().is_some_and(Vec::is_empty))
    }),
    // Reasoning.
    ("`reasoning_content`", |seen| choices(seen).any(|choice| says(&choice["delta"]["reasoning_content"]))),
    ("`reasoning`", |seen| choices(seen).any(|choice| says(&choice["delta"]["reasoning"]))),
    ("`reasoning_details`", |seen| {
        choices(seen).any(|choice| choice["delta"]["reasoning_details"].is_array())
    }),
    ("one thought in two fields", |seen| {
        let twins =
            |delta: &Value| says(&delta["reasoning"]) && delta["reasoning"] == delta["reasoning_content"];
        choices(seen).any(|choice| twins(&choice["delta"]))
    }),
    // Frames and errors.
    ("no `[DONE]`", |seen| !seen.is_done()),
    ("data behind `[DONE]`", |seen| {
        seen.events.iter().skip_while(|event| event.data != "[DONE]").nth(1).is_some()
    }),
    ("comments", Seen::has_comment),
    ("CRLF", |seen| seen.text.contains("\r\n")),
    ("bare CR", |seen| seen.text.contains('\r') && !seen.text.contains('\n')),
    ("a byte order mark", |seen| seen.text.starts_with('\u{feff}')),
    ("data on several lines", |seen| seen.events.iter().any(|event| event.data.contains('\n'))),
    ("`id:` and `retry:` lines", |seen| {
        ["id:", "retry:"].iter().all(|field| seen.lines().any(|line| line.starts_with(field)))
    }),
    ("`data:` without a space", |seen| seen.lines().any(|line| line.starts_with("data:{"))),
    ("characters of several bytes", |seen| seen.text.chars().any(|letter| letter.len_utf8() == 4)),
    ("an `event:` line", |seen| seen.events.iter().any(|event| event.name.is_some())),
    ("a line that is no field", |seen| seen.lines().any(|line| line.starts_with("error: "))),
    ("no blank line at the end", |seen| seen.is_done() && seen.is_unterminated()),
    ("an unterminated tail", |seen| !seen.is_done() && seen.is_unterminated()),
    ("an error in the stream", |seen| seen.json().any(|json| json["error"].is_object())),
    ("an error beside a choice", |seen| {
        seen.json().any(|json| json["error"].is_object() && !is_none(&json["choices"]))
    }),
    ("an error without choices", |seen| {
        seen.json().any(|json| json["error"].is_object() && json.get("choices").is_none())
    }),
];

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
