//! The quirks of Messages streams.

use std::collections::BTreeSet;

use serde_json::Value;

use super::quirks::Quirk;
use super::seen::{Seen, is_empty};

pub(super) const QUIRKS: &[Quirk] = &[
    ("`ping` in an open block", |seen| {
        let kinds: Vec<_> = seen.json().filter_map(|json| json["type"].as_str()).collect();
        kinds.windows(2).any(|pair| pair == ["content_block_start", "ping"])
    }),
    ("`ping` behind `message_stop`", |seen| {
        seen.json().skip_while(|json| json["type"] != "message_stop").any(|json| json["type"] == "ping")
    }),
    ("an empty first delta of an input", |seen| seen.member("partial_json", is_empty)),
    ("an input that is empty in total", |seen| {
        tools(seen).any(|index| input(seen, index).as_deref() == Some(""))
    }),
    ("a tool without a delta", |seen| {
        let start =
            |index: u64| start_of(seen, index)["input"].as_object().is_some_and(serde_json::Map::is_empty);
        tools(seen).any(|index| input(seen, index).is_none() && start(index))
    }),
    ("an input at the start of its block", |seen| {
        tools(seen)
            .any(|index| start_of(seen, index)["input"].as_object().is_some_and(|input| !input.is_empty()))
    }),
    ("a block that is never stopped", |seen| {
        seen.has(&["message_stop"])
            && seen.typed(&["content_block_start"]).count() > seen.typed(&["content_block_stop"]).count()
    }),
    ("a second start at one index", |seen| {
        let starts: Vec<_> =
            seen.typed(&["content_block_start"]).filter_map(|json| json["index"].as_u64()).collect();
        starts.iter().collect::<BTreeSet<_>>().len() < starts.len()
    }),
    ("two `message_start`", |seen| seen.typed(&["message_start"]).count() > 1),
    ("an input that is no JSON before `tool_use`", |seen| {
        let is_broken = |index| {
            input(seen, index)
                .is_some_and(|input| !input.is_empty() && serde_json::from_str::<Value>(&input).is_err())
        };
        stops(seen, "tool_use") && tools(seen).any(is_broken)
    }),
    ("`max_tokens` in a tool", |seen| stops(seen, "max_tokens") && tools(seen).next().is_some()),
    ("several blocks open at once", |seen| open_at_once(seen) > 1),
    ("`message_start` with content", |seen| {
        let filled =
            |json: &Value| json["message"]["content"].as_array().is_some_and(|list| !list.is_empty());
        seen.typed(&["message_start"]).any(filled)
    }),
    ("thinking with a signature", |seen| delta(seen, "thinking_delta") && delta(seen, "signature_delta")),
    ("an empty delta of thinking", |seen| {
        seen.member("thinking", is_empty) && {
            let mut deltas = seen.typed(&["content_block_delta"]);
            deltas.any(|json| is_empty(&json["delta"]["thinking"]))
        }
    }),
    ("redacted thinking", |seen| block(seen, &["redacted_thinking"])),
    ("thinking behind text", |seen| {
        let mut kinds = seen.typed(&["content_block_start"]).map(|json| &json["content_block"]["type"]);
        kinds.any(|kind| kind == "text") && kinds.any(|kind| kind == "thinking")
    }),
    ("a tool that the provider runs", |seen| block(seen, &["server_tool_use"])),
    ("results of a web search", |seen| block(seen, &["web_search_tool_result"])),
    ("results of a page that was fetched", |seen| block(seen, &["web_fetch_tool_result"])),
    ("results of code", |seen| {
        block(seen, &["bash_code_execution_tool_result", "code_execution_tool_result"])
    }),
    ("results of an MCP server", |seen| block(seen, &["mcp_tool_use"]) && block(seen, &["mcp_tool_result"])),
    ("a search for tools", |seen| block(seen, &["tool_search_tool_result"])),
    ("an adviser", |seen| block(seen, &["advisor_tool_result"])),
    ("citations", |seen| delta(seen, "citations_delta")),
    ("a compaction", |seen| block(seen, &["compaction"]) && delta(seen, "compaction_delta")),
    ("`caller` on a tool", |seen| seen.member("caller", Value::is_object)),
    ("the stop `refusal`", |seen| stops(seen, "refusal")),
    ("a refusal without a block", |seen| stops(seen, "refusal") && !seen.has(&["content_block_start"])),
    ("blocks of kinds that nobody knows", |seen| {
        block(seen, &["fallback"]) && block(seen, &["container_upload"])
    }),
    ("the stop `pause_turn`", |seen| stops(seen, "pause_turn")),
    ("the stop `max_tokens`", |seen| stops(seen, "max_tokens")),
    ("the stop `stop_sequence`", |seen| stops(seen, "stop_sequence")),
    ("a comment", Seen::has_comment),
    ("`event: data` and `[DONE]`", |seen| {
        seen.is_done() && seen.events.iter().any(|event| event.name.as_deref() == Some("data"))
    }),
    ("no blank line at the end", Seen::is_unterminated),
    ("an error in the stream", |seen| {
        seen.events
            .iter()
            .any(|event| event.name.as_deref() == Some("error") && event.json["type"] == "error")
    }),
    ("no `message_stop`", |seen| !seen.has(&["message_stop", "error"])),
    ("CRLF", |seen| seen.text.contains("\r\n")),
    ("characters of several bytes", |seen| !seen.text.is_ascii()),
    ("members of a proxy's own", |seen| seen.text.contains("amazon-bedrock-invocationMetrics")),
];

fn stops(seen: &Seen, reason: &str) -> bool {
    seen.typed(&["message_delta"]).any(|json| json["delta"]["stop_reason"] == reason)
}

fn delta(seen: &Seen, kind: &str) -> bool {
    seen.typed(&["content_block_delta"]).any(|json| json["delta"]["type"] == kind)
}

fn block(seen: &Seen, kinds: &[&str]) -> bool {
    let kind =
        |json: &Value| json["content_block"]["type"].as_str().is_some_and(|kind| kinds.contains(&kind));
    seen.typed(&["content_block_start"]).any(kind)
}

/// The indices of tools.
fn tools(seen: &Seen) -> impl Iterator<Item = u64> {
    let tools =
        seen.typed(&["content_block_start"]).filter(|json| json["content_block"]["type"] == "tool_use");
    tools.filter_map(|json| json["index"].as_u64())
}

fn start_of(seen: &Seen, index: u64) -> &Value {
    let mut starts = seen.typed(&["content_block_start"]);
    starts.find(|json| json["index"] == index).map_or(&Value::Null, |json| &json["content_block"])
}

/// The deltas of a tool's input, put together. `None` where there is no delta.
fn input(seen: &Seen, index: u64) -> Option<String> {
    let deltas = seen.typed(&["content_block_delta"]).filter(|json| json["index"] == index);
    let pieces: Vec<&str> = deltas.filter_map(|json| json["delta"]["partial_json"].as_str()).collect();
    (!pieces.is_empty()).then(|| pieces.concat())
}

fn open_at_once(seen: &Seen) -> usize {
    let (mut open, mut most) = (BTreeSet::new(), 0);
    for json in seen.typed(&["content_block_start", "content_block_stop"]) {
        let index = json["index"].as_u64();
        if json["type"] == "content_block_start" {
            open.insert(index);
        } else {
            open.remove(&index);
        }
        most = most.max(open.len());
    }
    // A block that is never stopped is another quirk: the next one starts before it here.
    if seen.typed(&["content_block_stop"]).count() == seen.typed(&["content_block_start"]).count() {
        most
    } else {
        0
    }
}
