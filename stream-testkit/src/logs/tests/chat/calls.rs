//! Who a call is, its arguments, and what stands beside it.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::quirks::Quirk;
use super::super::seen::{is_empty, says};
use super::{
    behind_a_call, bodies, calls, choices, finish, finishes, goes_on, has_call, index, opens, reasons, whole,
};

pub(in super::super) const QUIRKS: &[Quirk] = &[
    // Who a call is.
    ("a call without index", |seen| calls(seen).any(|call| call.opens && call.delta.get("index").is_none())),
    ("two calls without index", |seen| {
        calls(seen).filter(|call| call.opens && call.delta.get("index").is_none()).count() > 1
    }),
    ("a continuation with neither id nor index", |seen| {
        goes_on(seen, |delta| delta.get("id").is_none() && delta.get("index").is_none())
    }),
    ("a null index", |seen| calls(seen).any(|call| call.delta.get("index") == Some(&Value::Null))),
    ("an index that is a string", |seen| calls(seen).any(|call| call.delta["index"].is_string())),
    ("a gap between the indices", |seen| {
        let indices: Vec<_> =
            calls(seen).filter(|call| call.opens).filter_map(|call| index(call.delta)).collect();
        indices.windows(2).any(|pair| pair[1] > pair[0] + 1)
    }),
    ("a call that goes on at another index", |seen| {
        calls(seen).any(|call| call.opens && !says(&call.delta["id"]) && call.delta.get("type").is_none())
    }),
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
    ("the word `null` for an id", |seen| calls(seen).any(|call| call.delta["id"] == "null")),
    ("an id within the function", |seen| calls(seen).any(|call| says(&call.delta["function"]["id"]))),
    ("a number for an id, on every delta", |seen| {
        let of = |id: &str| calls(seen).filter(|call| call.delta["id"] == id).count() > 1;
        of("0") && of("1")
    }),
    ("no id on a continuation", |seen| goes_on(seen, |delta| delta.get("id").is_none())),
    ("a call that opens without id", |seen| opens(seen, |delta| !says(&delta["id"]))),
    ("one index for all calls, and empty ids on continuations", |seen| {
        calls(seen).filter(|call| call.opens).count() > 1
            && calls(seen).all(|call| index(call.delta) == Some(0))
            && goes_on(seen, |delta| is_empty(&delta["id"]))
    }),
    ("one id on two calls", |seen| {
        let ids: Vec<_> =
            calls(seen).filter(|call| call.opens).filter_map(|call| call.delta["id"].as_str()).collect();
        ids.iter().collect::<BTreeSet<_>>().len() < ids.len()
    }),
    ("the name again on a continuation", |seen| goes_on(seen, |delta| says(&delta["function"]["name"]))),
    ("a name that comes late", |seen| {
        opens(seen, |delta| is_empty(&delta["function"]["name"]))
            && goes_on(seen, |delta| says(&delta["function"]["name"]))
    }),
    ("arguments before the name", |seen| {
        opens(seen, |delta| says(&delta["function"]["arguments"]) && delta["function"].get("name").is_none())
    }),
    ("id, name and type again beside the finish", |seen| {
        let again = |choice: &Value| {
            let call = &choice["delta"]["tool_calls"][0];
            finishes(choice) && says(&call["id"]) && says(&call["function"]["name"])
        };
        calls(seen).count() > 1 && choices(seen).any(again) && goes_on(seen, |delta| says(&delta["type"]))
    }),
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
    ("null arguments and nothing behind them", |seen| {
        calls(seen).count() == 1
            && opens(seen, |delta| delta["function"].get("arguments") == Some(&Value::Null))
    }),
    ("arguments that are an object", |seen| {
        calls(seen).any(|call| call.delta["function"]["arguments"].is_object())
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
    ("`tool_calls` although the arguments break off", |seen| {
        finish(seen, "tool_calls")
            && bodies(seen)
                .iter()
                .any(|body| !body.is_empty() && serde_json::from_str::<Value>(body).is_err())
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
    ("reasoning that resumes behind text", |seen| {
        let mut behind = choices(seen).skip_while(|choice| !says(&choice["delta"]["content"]));
        choices(seen).take_while(|choice| !says(&choice["delta"]["content"])).any(reasons)
            && behind.any(reasons)
    }),
    ("content that spells the call behind it", |seen| {
        let spelled: String =
            choices(seen).filter_map(|choice| choice["delta"]["content"].as_str()).collect();
        serde_json::from_str::<Value>(&spelled)
            .is_ok_and(|spelled| calls(seen).any(|call| call.delta["function"]["name"] == spelled["name"]))
    }),
    ("text in one choice and a call in another", |seen| {
        calls(seen).any(|call| call.choice == 1)
            && choices(seen).any(|choice| choice["index"] == 0 && says(&choice["delta"]["content"]))
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
];
