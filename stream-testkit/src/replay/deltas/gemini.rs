//! Gemini: a chunk of one candidate with one text part. Arguments are values, and are not split.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::plain::{Plain, place_in, string};

/// Reads a chunk whose every field is known. A part with a signature is none of these: there is one signature.
pub(super) fn read(data: &str) -> Option<Plain> {
    let chunk: Chunk<'_> = serde_json::from_str(data).ok()?;
    let [candidate] = &chunk.candidates[..] else { return None };
    let [part] = &candidate.content.parts[..] else { return None };
    if candidate.finish_reason.is_some() {
        return None;
    }
    let (index, thought) = (candidate.index, part.thought.unwrap_or_default());
    Some(Plain {
        lane: format!("{index:?} {thought}"),
        text: string(Some(part.text))?,
        opens: false,
        place: place_in(data, part.text),
        later: None,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[allow(dead_code, reason = "all fields that may be there are named")]
struct Chunk<'a> {
    #[serde(borrow)]
    candidates: Vec<Candidate<'a>>,
    // Counts so far, which later chunks say again.
    #[serde(default)]
    usage_metadata: IgnoredAny,
    #[serde(default)]
    model_version: IgnoredAny,
    #[serde(default)]
    response_id: IgnoredAny,
    #[serde(default)]
    create_time: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Candidate<'a> {
    #[serde(borrow)]
    content: Content<'a>,
    #[serde(default)]
    index: Option<u64>,
    #[serde(default)]
    finish_reason: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "all fields that may be there are named")]
struct Content<'a> {
    #[serde(borrow)]
    parts: Vec<Part<'a>>,
    #[serde(default)]
    role: IgnoredAny,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part<'a> {
    #[serde(borrow)]
    text: &'a RawValue,
    #[serde(default)]
    thought: Option<bool>,
}
