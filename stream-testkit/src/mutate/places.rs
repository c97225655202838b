//! Positions against numbers: choices, candidates, blocks, items.

use serde_json::{Value, json};

use super::Change;
use crate::WireKind;

/// Something empty stands in front of what a list is about, or the list is turned around.
pub(super) fn position(change: &mut Change) -> Option<String> {
    let key = match change.kind {
        WireKind::OpenAiChat => "choices",
        WireKind::Gemini => "candidates",
        WireKind::OpenAiResponses => "output",
        WireKind::AnthropicMessages => return message_start(change),
    };
    let lists = change.events.having(key, |list| list.as_array().is_some_and(|list| !list.is_empty()));
    let at = change.below(lists.len());
    let (event, pointer) = lists.get(at)?.clone();
    let how = change.below(3);
    let number = change.below(7) + 1;
    let kind = change.kind;
    let list = change.events.value(event, &pointer)?.as_array_mut()?;
    match how {
        0 => list.reverse(),
        1 => list.insert(0, empty(kind, number)),
        _ => {
            let copy = list[0].clone();
            list.push(copy);
        }
    }
    Some(format!(
        "{pointer} of event {event}: {}",
        ["turned around", "an empty one first", "the first one twice"][how]
    ))
}

fn empty(kind: WireKind, number: usize) -> Value {
    match kind {
        WireKind::OpenAiChat => json!({"index": number, "delta": {}, "finish_reason": null}),
        WireKind::Gemini => json!({"index": number, "content": {"parts": [], "role": "model"}}),
        _ => {
            json!({"id": "m9", "type": "message", "status": "completed", "role": "assistant", "content": []})
        }
    }
}

/// `message_start` comes with content.
fn message_start(change: &mut Change) -> Option<String> {
    let starts = change.events.having("message", Value::is_object);
    let (event, pointer) = starts.first()?.clone();
    let block = match change.below(3) {
        0 => json!({"type": "text", "text": "SECRET-"}),
        1 => json!({"type": "tool_use", "id": "t0", "name": "rm", "input": {}}),
        _ => json!({"type": "tool_use", "id": "t0", "name": "ls", "input": {"p": "."}}),
    };
    let what = format!("message_start holds {block}");
    change.events.value(event, &pointer)?["content"] = json!([block]);
    Some(what)
}

/// A choice or candidate changes its number in the midst, or says its part under another's.
pub(super) fn choice(change: &mut Change) -> Option<String> {
    let key = match change.kind {
        WireKind::OpenAiChat => "choices",
        WireKind::Gemini => "candidates",
        _ => return None,
    };
    let lists = change.events.having(key, |list| list.as_array().is_some_and(|list| !list.is_empty()));
    let at = change.below(lists.len());
    let (event, pointer) = lists.get(at)?.clone();
    let number = change.below(3);
    let first = change.events.value(event, &format!("{pointer}/0"))?;
    match number {
        0 => {
            first.as_object_mut()?.remove("index");
        }
        number => first["index"] = json!(number),
    }
    Some(format!("the first of {pointer} of event {event} has the index {number} (0: none)"))
}

/// Blocks that open out of order, twice or not at all.
pub(super) fn block(change: &mut Change) -> Option<String> {
    let (kind, key) = match change.kind {
        WireKind::AnthropicMessages => ("content_block_start", "index"),
        WireKind::OpenAiResponses => ("response.output_item.added", "output_index"),
        _ => return None,
    };
    let starts = change.events.where_data(|data| data["type"] == kind);
    let deltas = change.events.where_data(|data| data.get(key).is_some() && data["type"] != kind);
    let (one, other) = (change.pick(&starts)?, change.pick(&starts)?);
    match change.below(5) {
        0 if one != other => {
            let number = change.events.0[one].data.as_ref()?[key].clone();
            let second = std::mem::replace(&mut change.events.data(other)?[key], number);
            change.events.data(one)?[key] = second;
            Some(format!("the blocks of events {one} and {other} change numbers at their start"))
        }
        1 => {
            let copy = change.events.0[one].clone();
            let at = change.pick(&deltas)?;
            change.events.0.insert(at, copy);
            Some(format!("the block of event {one} opens again before event {at}"))
        }
        2 => {
            let at = change.pick(&deltas)?;
            let number = change.events.0[one].data.as_ref()?[key].clone();
            change.events.data(at)?[key] = number;
            Some(format!("event {at} has the number of the block of event {one}"))
        }
        3 => {
            let number = change.events.0[one].data.as_ref()?[key].as_u64()? + 1;
            change.events.data(one)?[key] = json!(number);
            Some(format!("the block of event {one} opens with the number {number}"))
        }
        _ => {
            change.events.0.remove(one);
            Some(format!("the block of event {one} never opens"))
        }
    }
}
