//! Responses: the `delta` events, and the numbers of all events after them.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::plain::{Plain, place_in, splice, string};

/// Reads a delta event whose every field is known.
pub(super) fn read(data: &str) -> Option<Plain> {
    let event: Event<'_> = serde_json::from_str(data).ok()?;
    let kind = string(event.kind)?;
    if !DELTAS.contains(&&kind[..]) || event.logprobs.is_some_and(|probs| !probs.is_empty()) {
        return None;
    }
    let Event { item_id, output_index, content_index, summary_index, .. } = event;
    let place = [item_id, output_index, content_index, summary_index].map(|value| value.map(RawValue::get));
    Some(Plain {
        lane: format!("{kind} {place:?}"),
        text: string(event.delta)?,
        opens: false,
        place: place_in(data, event.delta?),
        later: None,
    })
}

/// The event with its number moved; `None` if it has none that could be.
pub(super) fn renumber(data: &str, shift: i64) -> Option<String> {
    #[derive(Deserialize)]
    struct Numbered<'a> {
        #[serde(borrow)]
        sequence_number: &'a RawValue,
    }
    let number = serde_json::from_str::<Numbered<'_>>(data).ok()?.sequence_number;
    let moved = number.get().parse::<i64>().ok()?.checked_add(shift)?;
    Some(splice(data, &place_in(data, number), &moved.to_string()))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "all fields that may be there are named")]
struct Event<'a> {
    #[serde(borrow, default, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(default)]
    sequence_number: IgnoredAny,
    #[serde(borrow, default)]
    item_id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    output_index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    content_index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    summary_index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    delta: Option<&'a RawValue>,
    #[serde(default)]
    logprobs: Option<Vec<IgnoredAny>>,
    #[serde(default)]
    obfuscation: IgnoredAny,
}

const DELTAS: [&str; 6] = [
    "response.output_text.delta",
    "response.refusal.delta",
    "response.reasoning_text.delta",
    "response.reasoning_summary_text.delta",
    "response.function_call_arguments.delta",
    "response.custom_tool_call_input.delta",
];
