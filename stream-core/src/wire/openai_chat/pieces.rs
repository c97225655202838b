//! Strings of a delta that are part of no block, and log probabilities: the official SDKs concatenate strings and tokens over the
//! chunks of a stream, in unknown fields as in known ones.

use super::grammar::{CHUNK, number};
use crate::wire::document::{Of, Spans, Value};
use crate::wire::pieces::PiecePlace;
use crate::wire::{Piece, PieceName};

/// The strings of the deltas of a chunk that are part of no block.
pub(super) fn of(document: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut spans = Spans::default();
    let Ok(chunk) = spans.read(document, Of::Object(&CHUNK)) else { return pieces };
    for choice in chunk.get("choices").into_iter().flat_map(Value::items) {
        let name = PieceName::default().below(number(choice));
        if let Some(tokens) = choice.get("logprobs") {
            pieces.push(Piece::new(name, tokens.span().slice(document)));
        }
        for (key, value) in choice.get("delta").into_iter().flat_map(Value::members) {
            let shown: Vec<&[&str]> =
                SHOWN.iter().filter(|path| path[0] == key).map(|path| &path[1..]).collect();
            let is_shown = value.is_string() && shown.iter().any(|path| path.is_empty());
            if !is_shown && !value.is_null() {
                let said = value.span().slice(document);
                PiecePlace::new(name.below(&*key), shown).strings(said, &mut pieces);
            }
        }
    }
    pieces
}

/// The paths whose strings are part of a block, or compared by the reader.
const SHOWN: &[&[&str]] = &[
    &["role"],
    &["content"],
    &["content", "text"],
    &["content", "thinking"],
    &["content", "thinking", "text"],
    &["reasoning_content"],
    &["reasoning"],
    &["reasoning_details", "text"],
    &["reasoning_details", "summary"],
    &["refusal"],
    &["audio", "transcript"],
    &["function_call", "name"],
    &["function_call", "arguments"],
    &["tool_calls", "id"],
    &["tool_calls", "function", "name"],
    &["tool_calls", "function", "arguments"],
    &["tool_calls", "custom", "name"],
    &["tool_calls", "custom", "input"],
];
