//! Anthropic Messages: numbered blocks, each opened and stopped.

use super::events::{Event, Events, members, string, value};
use super::item::{Finish, Item};
use super::{MODEL, Script};

pub(super) fn stream(script: &Script) -> Events {
    let mut events = Events::new(script);
    let (input, output) = script.usage.unwrap_or_default();
    let message = message("[]", "null", input, 0);
    events.push(event("message_start", &format!(",\"message\":{message}")));
    let last = script.of(0).count();
    for (index, entry) in script.of(0).enumerate() {
        let start = events.len();
        events.push(event(
            "content_block_start",
            &format!(",\"index\":{index},\"content_block\":{}", block(&entry.item, false)),
        ));
        if script.pings {
            events.push(event("ping", ""));
        }
        for delta in deltas(script, &entry.item) {
            events.push(event("content_block_delta", &format!(",\"index\":{index},\"delta\":{delta}")));
        }
        if !(script.cut && index + 1 == last) {
            events.push(event("content_block_stop", &format!(",\"index\":{index}")));
        }
        events.pause_at(start, entry.pause);
    }
    let tail = events.len();
    if let Some(message) = &script.error {
        events.push(event("error", &error_fields(message)));
    } else if !script.cut {
        let delta = format!("{{\"stop_reason\":\"{}\",\"stop_sequence\":null}}", word(script.finish_of(0)));
        let usage = format!("{{\"output_tokens\":{output}}}");
        events.push(event("message_delta", &format!(",\"delta\":{delta},\"usage\":{usage}")));
        events.push(event("message_stop", ""));
    }
    events.pause_at(tail, script.pause);
    events
}

pub(super) fn whole(script: &Script) -> String {
    if let Some(message) = &script.error {
        return format!("{{\"type\":\"error\"{}}}", error_fields(message));
    }
    let blocks: Vec<String> = script.of(0).map(|entry| block(&entry.item, true)).collect();
    let (input, output) = script.usage.unwrap_or_default();
    message(&format!("[{}]", blocks.join(",")), &string(word(script.finish_of(0))), input, output)
}

/// A content block, empty as it opens or filled.
fn block(item: &Item, filled: bool) -> String {
    let text = |text: &str| string(if filled { text } else { "" });
    match item {
        // The format has no refusal but the stop reason.
        Item::Text(said) | Item::Refusal(said) => format!("{{\"type\":\"text\",\"text\":{}}}", text(said)),
        Item::Reasoning(said) => {
            let signature = text(SIGNATURE);
            format!("{{\"type\":\"thinking\",\"thinking\":{},\"signature\":{signature}}}", text(said))
        }
        Item::Call { id, name, arguments } => {
            let input = if filled { value(arguments) } else { "{}" };
            let (id, name) = (string(id), string(name));
            format!("{{\"type\":\"tool_use\",\"id\":{id},\"name\":{name},\"input\":{input}}}")
        }
        Item::Opaque { kind, json } => format!("{{\"type\":{}{}}}", string(kind), members(json)),
    }
}

fn deltas(script: &Script, item: &Item) -> Vec<String> {
    let fragments = script.fragments(item);
    let each = |kind: &str, key: &str| -> Vec<String> {
        let delta = |text: &&str| format!("{{\"type\":\"{kind}\",\"{key}\":{}}}", string(text));
        fragments.iter().map(delta).collect()
    };
    match item {
        Item::Text(_) | Item::Refusal(_) => each("text_delta", "text"),
        Item::Reasoning(_) => {
            let mut deltas = each("thinking_delta", "thinking");
            deltas.push(format!("{{\"type\":\"signature_delta\",\"signature\":\"{SIGNATURE}\"}}"));
            deltas
        }
        Item::Call { .. } => {
            // The real ones start with an empty fragment.
            let mut deltas = vec!["{\"type\":\"input_json_delta\",\"partial_json\":\"\"}".to_owned()];
            deltas.extend(each("input_json_delta", "partial_json"));
            deltas
        }
        Item::Opaque { .. } => Vec::new(),
    }
}

fn event(name: &str, fields: &str) -> Event {
    Event::named(name, format!("{{\"type\":\"{name}\"{fields}}}"))
}

fn message(content: &str, stop_reason: &str, input: u64, output: u64) -> String {
    format!(
        "{{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"{MODEL}\",\
         \"content\":{content},\"stop_reason\":{stop_reason},\"stop_sequence\":null,\
         \"usage\":{{\"input_tokens\":{input},\"output_tokens\":{output}}}}}"
    )
}

fn error_fields(message: &str) -> String {
    format!(",\"error\":{{\"type\":\"api_error\",\"message\":{}}}", string(message))
}

fn word(finish: Finish) -> &'static str {
    match finish {
        Finish::Stop => "end_turn",
        Finish::ToolCalls => "tool_use",
        Finish::Length => "max_tokens",
        Finish::Filter => "refusal",
    }
}

/// Stands for the signature of a thinking block.
const SIGNATURE: &str = "c2lnbmF0dXJl";
