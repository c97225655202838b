//! Clients of Responses.

use serde_json::Value;

use super::keys;
use super::lines::Sse;
use super::reading::{Call, CallKind, Reading, Said};

/// The stream helpers: the output of the final response; the items of `output_item.done` events where the final response has no list of
/// output.
pub(super) fn final_response(events: &[Sse]) -> Reading {
    let mut last = None;
    let mut done = Vec::new();
    let mut reading = each(events, |kind, event| match kind {
        "response.completed" | "response.incomplete" => last = Some(event["response"]["output"].clone()),
        "response.output_item.done" => done.push(event["item"].clone()),
        _ => {}
    });
    let output = last.as_ref().and_then(Value::as_array);
    tell(&mut reading, output.unwrap_or(&done));
    reading
}

/// Programs that read each item of an `output_item.done` event.
pub(super) fn items_done(events: &[Sse]) -> Reading {
    let mut done = Vec::new();
    let mut reading = each(events, |kind, event| {
        if kind == "response.output_item.done" {
            done.push(event["item"].clone());
        }
    });
    tell(&mut reading, &done);
    reading
}

/// Programs that concatenate deltas by `output_index`.
pub(super) fn by_output_index(events: &[Sse]) -> Reading {
    deltas(
        events,
        |event| keys::javascript(event.get("output_index")),
        |event| keys::javascript(event.get("output_index")),
    )
}

/// Programs that concatenate deltas by `item_id`.
pub(super) fn by_item_id(events: &[Sse]) -> Reading {
    deltas(
        events,
        |event| keys::javascript(event["item"].get("id")),
        |event| keys::javascript(event.get("item_id")),
    )
}

/// Programs that append an item when it opens, and use `output_index` as a position.
pub(super) fn appended(events: &[Sse]) -> Reading {
    let mut opened: usize = 0;
    let mut count = 0;
    for event in events {
        count += usize::from(kind_of(event) == "response.output_item.added");
    }
    let key = move |event: &Value| match keys::position(event.get("output_index"), count) {
        Ok(at) => at.to_string(),
        Err(why) => why,
    };
    deltas(
        events,
        move |_| {
            opened += 1;
            (opened - 1).to_string()
        },
        key,
    )
}

fn kind_of(event: &Sse) -> String {
    let value: Value = serde_json::from_str(&event.data).unwrap_or_default();
    value["type"].as_str().unwrap_or_default().to_owned()
}

/// The events up to `[DONE]` or an error.
fn each(events: &[Sse], mut take: impl FnMut(&str, &Value)) -> Reading {
    let mut reading = Reading::default();
    for event in events {
        if event.data.starts_with("[DONE]") {
            break;
        }
        let Ok(value) = serde_json::from_str::<Value>(&event.data) else {
            reading.raised = Some(format!("expected JSON, found {:?}", event.data));
            break;
        };
        let kind = value["type"].as_str().unwrap_or_default();
        if kind == "error" || kind == "response.failed" || value.get("error").is_some_and(Value::is_object) {
            reading.raised = Some(value.to_string());
            break;
        }
        take(kind, &value);
    }
    reading
}

/// The items, built from their openings and deltas. A copy is read only where the upstream sends no deltas.
fn deltas(
    events: &[Sse],
    mut opened: impl FnMut(&Value) -> String,
    mut key: impl FnMut(&Value) -> String,
) -> Reading {
    let mut items: Vec<Item> = Vec::new();
    let mut reading = each(events, |kind, event| {
        if kind == "response.output_item.added" {
            items.push(Item { key: opened(event), item: event["item"].clone(), ..Item::default() });
            return;
        }
        if kind == "response.output_item.done" && is_builtin(&event["item"]) {
            // Built-in tools have no deltas: their actions are in `output_item.done`.
            let key = key(event);
            let is_it = |item: &&mut Item| item.key == key || item.item["id"] == event["item"]["id"];
            if let Some(item) = items.iter_mut().rev().find(is_it) {
                (item.item, item.done) = (event["item"].clone(), true);
            }
            return;
        }
        let key = key(event);
        let Some(item) = items.iter_mut().rev().find(|item| item.key == key) else { return };
        if kind == "response.function_call_arguments.done" && item.arguments.is_empty() {
            // LM Studio sends no deltas of arguments, only the copy.
            item.arguments = event["arguments"].as_str().unwrap_or_default().to_owned();
        }
        let Some(delta) = event["delta"].as_str() else { return };
        let content = keys::javascript(event.get("content_index"));
        match kind {
            "response.function_call_arguments.delta"
            | "response.custom_tool_call_input.delta"
            | "response.mcp_call_arguments.delta"
            | "response.code_interpreter_call_code.delta" => item.arguments.push_str(delta),
            "response.output_text.delta" => item.say(&content, Said::Content(delta.to_owned())),
            "response.refusal.delta" => item.say(&content, Said::Refusal(delta.to_owned())),
            "response.reasoning_text.delta" => item.say(&content, Said::Reasoning(delta.to_owned())),
            "response.reasoning_summary_text.delta" => {
                let summary = keys::javascript(event.get("summary_index"));
                item.say(&format!("summary {summary}"), Said::Reasoning(delta.to_owned()));
            }
            _ => {}
        }
    });
    reading.say_blocks(items.iter().flat_map(|item| item.parts.iter().map(|(_, said)| said.clone())));
    let mut calls = Vec::new();
    for item in items.into_iter().filter(|item| item.done || !is_builtin(&item.item)) {
        match call(&item.item, Some(&item.arguments)) {
            Some(call) => calls.push(call),
            None => reading.say(Said::Other(item.arguments)),
        }
    }
    if reading.raised.is_none() {
        reading.calls = calls;
    }
    reading
}

#[derive(Default)]
struct Item {
    key: String,
    item: Value,
    done: bool,
    arguments: String,
    parts: Vec<(String, Said)>,
}

impl Item {
    fn say(&mut self, part: &str, said: Said) {
        let same = |(key, known): &&mut (String, Said)| {
            key == part && std::mem::discriminant(known) == std::mem::discriminant(&said)
        };
        match (self.parts.iter_mut().find(same), &said) {
            (
                Some((_, Said::Content(text) | Said::Refusal(text) | Said::Reasoning(text))),
                Said::Content(more) | Said::Refusal(more) | Said::Reasoning(more),
            ) => text.push_str(more),
            _ => self.parts.push((part.to_owned(), said)),
        }
    }
}

/// Whether an item is a call of a built-in tool of the API that the client runs.
fn is_builtin(item: &Value) -> bool {
    matches!(
        item["type"].as_str(),
        Some(
            "shell_call" | "local_shell_call" | "computer_call" | "apply_patch_call" | "mcp_approval_request"
        )
    )
}

/// The reading of complete items.
pub(super) fn tell(reading: &mut Reading, items: &[Value]) {
    let mut said = Vec::new();
    let mut calls = Vec::new();
    for item in items {
        match item["type"].as_str().unwrap_or_default() {
            "message" => {
                for part in item["content"].as_array().into_iter().flatten() {
                    said.extend(part["text"].as_str().map(|text| Said::Content(text.to_owned())));
                    said.extend(part["refusal"].as_str().map(|text| Said::Refusal(text.to_owned())));
                    reading.say_strings(&part["annotations"]);
                }
            }
            "reasoning" => {
                for list in ["content", "summary"] {
                    for part in item[list].as_array().into_iter().flatten() {
                        said.extend(part["text"].as_str().map(|text| Said::Reasoning(text.to_owned())));
                    }
                }
            }
            _ => match call(item, None) {
                Some(call) => calls.push(call),
                None => reading.say_strings(item),
            },
        }
    }
    reading.say_blocks(said);
    if reading.raised.is_none() {
        reading.calls = calls;
    }
}

/// The call that an item asks the client to run, by the type of the item. A `name` is not read on an item of a type without names.
fn call(item: &Value, arguments: Option<&str>) -> Option<Call> {
    let text = |key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let built =
        |key: &str| arguments.filter(|built| !built.is_empty()).map_or_else(|| text(key), str::to_owned);
    let kind = item["type"].as_str().unwrap_or_default();
    let made = match kind {
        "function_call" => Call::function(text("name"), built("arguments")),
        "custom_tool_call" => Call { kind: CallKind::Custom, name: text("name"), arguments: built("input") },
        "mcp_approval_request" => Call {
            kind: CallKind::Builtin(kind.to_owned()),
            name: text("name"),
            arguments: text("arguments"),
        },
        "shell_call" | "local_shell_call" | "computer_call" | "apply_patch_call" => {
            let action = item.get("action").or_else(|| item.get("operation"));
            let action = action.or_else(|| item.get("actions"));
            Call {
                kind: CallKind::Builtin(kind.to_owned()),
                name: kind.to_owned(),
                arguments: action.map(Value::to_string).unwrap_or_default(),
            }
        }
        _ => return None,
    };
    // A call without a name cannot be run.
    Some(made).filter(|call| !call.name.is_empty())
}
