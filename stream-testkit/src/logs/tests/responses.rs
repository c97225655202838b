//! The quirks of Responses streams.

use std::collections::BTreeSet;

use serde_json::Value;

use super::quirks::Quirk;
use super::seen::{Seen, says};

pub(super) const QUIRKS: &[Quirk] = &[
    ("no `event:` line", |seen| seen.events.iter().all(|event| event.name.is_none())),
    ("`[DONE]` at the end", Seen::is_done),
    ("comments", Seen::has_comment),
    ("`keepalive` or `ping` events", |seen| seen.has(&["keepalive", "ping"])),
    ("an event behind the terminal one", |seen| {
        seen.json().skip_while(|json| !is_terminal(json)).nth(1).is_some()
    }),
    ("no `sequence_number`", |seen| seen.json().all(|json| json.get("sequence_number").is_none())),
    ("no `response.created`", |seen| !seen.has(&["response.created"])),
    ("a terminal event without output", |seen| {
        let output = |json: &Value| json["response"]["output"].as_array().is_none_or(Vec::is_empty);
        seen.has(&["response.output_item.done"]) && seen.typed(&["response.completed"]).any(output)
    }),
    ("`response.incomplete`", |seen| seen.has(&["response.incomplete"])),
    ("`response.incomplete` for a filter", |seen| {
        seen.typed(&["response.incomplete"])
            .any(|json| json["response"]["incomplete_details"]["reason"] == "content_filter")
    }),
    ("`error` and then `response.failed`", |seen| seen.has(&["error"]) && seen.has(&["response.failed"])),
    ("an `item_id` that is not the item's", |seen| {
        let ids: BTreeSet<_> = items(seen).filter_map(|(_, event)| event["item"]["id"].as_str()).collect();
        let mut named = seen.json().filter_map(|json| json["item_id"].as_str());
        named.any(|id| !ids.contains(id))
    }),
    ("an item with another id when done", |seen| {
        items(seen).any(|(added, event)| {
            let later = |(is_added, done): (bool, &Value)| {
                !is_added
                    && done["output_index"] == event["output_index"]
                    && done["item"]["id"] != event["item"]["id"]
            };
            added && items(seen).any(later)
        })
    }),
    ("two items open at once", |seen| open_at_once(seen) > 1),
    ("calls whose arguments take turns", |seen| {
        let deltas = seen.typed(&["response.function_call_arguments.delta"]);
        let indices: Vec<_> = deltas.filter_map(|json| json["output_index"].as_u64()).collect();
        indices.windows(2).any(|pair| pair[1] < pair[0])
    }),
    ("items that are done in another order", |seen| {
        let done: Vec<_> = items(seen)
            .filter(|(added, _)| !added)
            .filter_map(|(_, done)| done["output_index"].as_u64())
            .collect();
        done.windows(2).any(|pair| pair[1] < pair[0])
    }),
    ("an `output_index` that goes back", |seen| {
        let indices: Vec<_> = seen.json().filter_map(|json| json["output_index"].as_u64()).collect();
        indices.windows(2).any(|pair| pair[1] < pair[0])
    }),
    ("an item that is done and was not added", |seen| {
        items(seen).any(|(added, done)| {
            let same =
                |(is_added, event): (bool, &Value)| is_added && event["output_index"] == done["output_index"];
            !added && !items(seen).any(same)
        })
    }),
    ("an item that is never done", |seen| {
        seen.has(&["response.completed"])
            && items(seen).filter(|(added, _)| *added).count()
                > items(seen).filter(|(added, _)| !*added).count()
    }),
    ("a call without a delta of its arguments", |seen| {
        seen.has(&["response.function_call_arguments.done"])
            && !seen.has(&["response.function_call_arguments.delta"])
    }),
    ("a custom call", |seen| seen.has(&["response.custom_tool_call_input.delta"])),
    ("arguments that break off", |seen| {
        seen.typed(&["response.function_call_arguments.done", "response.output_item.done"]).any(|json| {
            let arguments = json["arguments"].as_str().or(json["item"]["arguments"].as_str());
            arguments.is_some_and(|arguments| serde_json::from_str::<Value>(arguments).is_err())
        })
    }),
    ("summaries of reasoning", |seen| seen.has(&["response.reasoning_summary_text.delta"])),
    ("reasoning as text", |seen| seen.has(&["response.reasoning_text.delta"])),
    ("a refusal", |seen| seen.has(&["response.refusal.delta"])),
    ("log probabilities", |seen| {
        let any = |json: &Value| json["logprobs"].as_array().is_some_and(|list| !list.is_empty());
        seen.typed(&["response.output_text.delta"]).any(any)
    }),
    ("padding", |seen| seen.member("obfuscation", says)),
    ("a web search", |seen| seen.has(&["response.web_search_call.completed"])),
    ("a file search", |seen| seen.has(&["response.file_search_call.completed"])),
    ("a code interpreter", |seen| seen.has(&["response.code_interpreter_call_code.delta"])),
    ("a call of an MCP server", |seen| seen.has(&["response.mcp_call_arguments.delta"])),
    ("a list of an MCP server's tools", |seen| item(seen, &["mcp_list_tools"])),
    ("partial images", |seen| seen.has(&["response.image_generation_call.partial_image"])),
    ("a local shell", |seen| item(seen, &["local_shell_call"])),
    ("a shell", |seen| item(seen, &["shell_call"])),
    ("a patch to apply", |seen| item(seen, &["apply_patch_call"])),
    ("a program, and a call that it makes", |seen| {
        item(seen, &["program"]) && seen.member("caller", Value::is_object)
    }),
    ("a compaction", |seen| item(seen, &["compaction"])),
    ("a search for tools", |seen| item(seen, &["tool_search_call"])),
    ("no blank line at the end", Seen::is_unterminated),
    ("characters of several bytes", |seen| !seen.text.is_ascii()),
];

fn is_terminal(json: &Value) -> bool {
    matches!(json["type"].as_str(), Some("response.completed" | "response.incomplete" | "response.failed"))
}

/// Items as they are added (true) and done.
fn items(seen: &Seen) -> impl Iterator<Item = (bool, &Value)> {
    let items = seen.typed(&["response.output_item.added", "response.output_item.done"]);
    items.map(|json| (json["type"] == "response.output_item.added", json))
}

fn item(seen: &Seen, types: &[&str]) -> bool {
    items(seen).any(|(_, event)| event["item"]["type"].as_str().is_some_and(|name| types.contains(&name)))
}

fn open_at_once(seen: &Seen) -> usize {
    let (mut open, mut most) = (BTreeSet::new(), 0);
    for (added, event) in items(seen) {
        let index = event["output_index"].as_u64();
        if added {
            open.insert(index);
        } else {
            open.remove(&index);
        }
        most = most.max(open.len());
    }
    most
}
