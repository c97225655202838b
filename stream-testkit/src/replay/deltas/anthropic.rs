//! Anthropic: a `content_block_delta` of text, thinking or input.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::plain::{Plain, place_in, string};

/// Reads a delta event whose every field is known.
pub(super) fn read(data: &str) -> Option<Plain> {
    let event: Event<'_> = serde_json::from_str(data).ok()?;
    let Delta { kind, text, thinking, partial_json } = event.delta;
    let kind = string(Some(kind))?;
    let (("text_delta", Some(value), None, None)
    | ("thinking_delta", None, Some(value), None)
    | ("input_json_delta", None, None, Some(value))) = (&kind[..], text, thinking, partial_json)
    else {
        return None;
    };
    if string(Some(event.kind))? != "content_block_delta" {
        return None;
    }
    let index = event.index;
    Some(Plain {
        lane: format!("{index} {kind}"),
        text: string(Some(value))?,
        opens: false,
        place: place_in(data, value),
        later: None,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: &'a RawValue,
    index: u64,
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: &'a RawValue,
    #[serde(borrow, default)]
    text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    thinking: Option<&'a RawValue>,
    #[serde(borrow, default)]
    partial_json: Option<&'a RawValue>,
}
