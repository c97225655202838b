//! The short way for what nearly every event is: more text, thinking or arguments in the shape the API documents.
//!
//! It reads in one pass and knows nothing else. Whatever does not fit, it leaves to the [general reader](super::read),
//! which is lenient where this is strict and says what is wrong.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Slot, Text};

use super::block::CHOICE;
use crate::spelling;

/// The delta of a plain `content_block_delta`; `None` for anything else.
pub(super) fn read(line: Option<&str>, data: &str) -> Option<Delta> {
    if line.is_some_and(|line| line != BLOCK_DELTA) {
        return None;
    }
    let event: Event<'_> = spelling::from_str(data).ok()?;
    if event.kind.0 != BLOCK_DELTA {
        return None;
    }
    let Fragment { kind, text, thinking, partial_json, signature, citation } = event.delta;
    let others = [&text, &thinking, &partial_json].into_iter().flatten().count();
    if others > 1 || signature.is_some() || citation.is_some() || event.content_block.is_some() {
        return None;
    }
    let filled =
        |field: Option<Word<'_>>| field.filter(|word| !word.0.is_empty()).map(|word| Text::from(word.0));
    let kind = match &*kind.0 {
        "text_delta" => DeltaKind::Text { channel: Channel::Content, text: filled(text)? },
        "thinking_delta" => DeltaKind::Text { channel: Channel::Reasoning, text: filled(thinking)? },
        "input_json_delta" => {
            DeltaKind::Call(CallDelta { arguments: Some(filled(partial_json)?), ..CallDelta::default() })
        }
        _ => return None,
    };
    Some(Delta::new(CHOICE, Slot::item(event.index), kind))
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Word<'a>,
    index: u32,
    #[serde(borrow)]
    delta: Fragment<'a>,
    content_block: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Fragment<'a> {
    #[serde(borrow, rename = "type")]
    kind: Word<'a>,
    #[serde(borrow)]
    text: Option<Word<'a>>,
    #[serde(borrow)]
    thinking: Option<Word<'a>>,
    #[serde(borrow)]
    partial_json: Option<Word<'a>>,
    signature: Option<IgnoredAny>,
    citation: Option<IgnoredAny>,
}

/// A string, borrowed where it has no escape (a `Cow` within an `Option` would always own).
#[derive(Deserialize)]
struct Word<'a>(#[serde(borrow)] Cow<'a, str>);

/// The event that this reads.
pub(super) const BLOCK_DELTA: &str = "content_block_delta";
