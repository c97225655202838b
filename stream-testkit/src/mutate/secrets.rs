//! A secret in two pieces, so that some reading of the stream holds it whole.

use serde_json::{Value, json};

use super::Change;
use crate::WireKind;

/// The secret; the halves come in two events, with something between.
const HALVES: [&str; 2] = ["SECRET-", "1234"];

/// Puts the halves of a secret into the stream where one client joins them and another does not.
pub(super) fn change(change: &mut Change) -> Option<String> {
    match change.kind {
        WireKind::OpenAiChat => chat(change),
        WireKind::AnthropicMessages => anthropic(change),
        WireKind::Gemini => gemini(change),
        WireKind::OpenAiResponses => responses(change),
    }
}

fn chat(change: &mut Change) -> Option<String> {
    let chunk = |delta: Value| {
        json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
    };
    let how = change.below(6);
    let [one, two] = HALVES;
    let field = change.pick(&["content", "reasoning_content", "reasoning", "refusal"])?;
    let (first, between, second) = match how {
        0 => (
            json!({"reasoning_content": one, "reasoning": "x"}),
            None,
            json!({"reasoning_content": two, "reasoning": "y"}),
        ),
        1 => (
            json!({"content": one}),
            Some(json!({"content": [{"type": "text", "text": "x"}]})),
            json!({"content": two}),
        ),
        2 => (json!({field: one}), Some(json!({"content": "x"})), json!({field: two})),
        3 => (json!({field: one}), Some(json!({"reasoning": "x"})), json!({field: two})),
        4 => (json!({"content": one}), Some(json!({"refusal": "x"})), json!({"content": two})),
        _ => (json!({field: one}), None, json!({field: two})),
    };
    let at = 1.min(change.events.0.len());
    change.events.insert(at, None, chunk(first));
    if let Some(between) = between {
        change.events.insert(at + 1, None, chunk(between));
        change.events.insert(at + 2, None, chunk(second));
    } else {
        change.events.insert(at + 1, None, chunk(second));
    }
    Some(format!("a secret in two deltas, in the way {how} of {field}"))
}

fn anthropic(change: &mut Change) -> Option<String> {
    let stops = change.events.where_data(|data| data["type"] == "message_delta");
    let at = *stops.first()?;
    let used = change.events.having("index", Value::is_number);
    let top = used
        .iter()
        .filter_map(|(event, pointer)| change.events.0[*event].data.as_ref()?.pointer(pointer)?.as_u64());
    let next = top.max().map_or(0, |top| top + 1);
    let [one, two] = HALVES;
    let how = change.below(5);
    let start = |index: u64, block: Value| {
        (
            "content_block_start",
            json!({"type": "content_block_start", "index": index, "content_block": block}),
        )
    };
    let delta = |index: u64, delta: Value| {
        ("content_block_delta", json!({"type": "content_block_delta", "index": index, "delta": delta}))
    };
    let stop = |index: u64| ("content_block_stop", json!({"type": "content_block_stop", "index": index}));
    let text = |text: &str| json!({"type": "text_delta", "text": text});
    let empty = json!({"type": "text", "text": ""});
    let events = match how {
        0 => vec![
            start(next, empty.clone()),
            start(next + 1, empty),
            delta(next, text(one)),
            delta(next + 1, text("x")),
            delta(next, text(two)),
            stop(next),
            stop(next + 1),
        ],
        1 => vec![
            start(next, empty.clone()),
            delta(next, text(one)),
            stop(next),
            start(next + 1, empty),
            delta(next + 1, text(two)),
            stop(next + 1),
        ],
        2 => vec![
            start(next, json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}})),
            delta(
                next,
                json!({"type": "input_json_delta", "partial_json": format!("{{\"query\":\"{one}{two}\"}}")}),
            ),
            stop(next),
        ],
        3 => vec![start(next, json!({"type": "text", "text": one})), delta(next, text(two)), stop(next)],
        _ => vec![
            start(
                next,
                json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": [{"type": "web_search_result", "title": format!("{one}{two}"), "url": "u", "encrypted_content": "e", "page_age": null}]}),
            ),
            stop(next),
        ],
    };
    for (number, (name, data)) in events.into_iter().enumerate() {
        change.events.insert(at + number, Some(name), data);
    }
    Some(format!("a secret over blocks, in the way {how}"))
}

fn gemini(change: &mut Change) -> Option<String> {
    let [one, two] = HALVES;
    let chunk =
        |parts: Value| json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}]});
    let how = change.below(5);
    let events = match how {
        0 => vec![
            chunk(json!([{"text": one}])),
            json!({"candidates": [{"index": 7, "content": {"parts": [], "role": "model"}}, {"index": 0, "content": {"parts": [{"text": "x"}], "role": "model"}}]}),
            chunk(json!([{"text": two}])),
        ],
        1 => vec![chunk(json!([{"text": one}, {"text": "x", "thought": true}, {"text": two}]))],
        2 => vec![chunk(
            json!([{"executableCode": {"language": "PYTHON", "code": format!("print('{one}{two}')")}}]),
        )],
        3 => vec![
            chunk(json!([{"text": one}])),
            chunk(json!([{"inlineData": {"mimeType": "text/plain", "data": "eA=="}}])),
            chunk(json!([{"text": two}])),
        ],
        _ => vec![chunk(json!([{"text": one}, {"text": two}]))],
    };
    for (number, data) in events.into_iter().enumerate() {
        change.events.insert(number, None, data);
    }
    Some(format!("a secret over parts, in the way {how}"))
}

fn responses(change: &mut Change) -> Option<String> {
    let dones = change.events.where_data(|data| data["type"] == "response.completed");
    let at = *dones.first()?;
    let output = change.events.0[at].data.as_ref()?.pointer("/response/output")?.as_array()?.len();
    let next = u64::try_from(output).ok()?;
    let [one, two] = HALVES;
    let how = change.below(3);
    let item = |id: &str, texts: &[&str]| {
        let parts: Vec<Value> = texts
            .iter()
            .map(|text| json!({"type": "output_text", "text": text, "annotations": []}))
            .collect();
        json!({"id": id, "type": "message", "status": "completed", "role": "assistant", "content": parts})
    };
    let items = match how {
        0 => vec![item("s1", &[one]), item("s2", &[two])],
        1 => vec![item("s1", &[one, two])],
        _ => vec![
            json!({"id": "s1", "type": "code_interpreter_call", "status": "completed", "code": format!("print('{one}{two}')"), "outputs": [], "container_id": "c"}),
        ],
    };
    let mut events = Vec::new();
    for (number, item) in items.iter().enumerate() {
        let index = next + u64::try_from(number).unwrap_or_default();
        for kind in ["response.output_item.added", "response.output_item.done"] {
            events.push((
                kind,
                json!({"type": kind, "sequence_number": 70, "output_index": index, "item": item}),
            ));
        }
    }
    change.events.value(at, "/response/output")?.as_array_mut()?.extend(items);
    for (number, (name, data)) in events.into_iter().enumerate() {
        change.events.insert(at + number, Some(name), data);
    }
    Some(format!("a secret over items, in the way {how}"))
}
