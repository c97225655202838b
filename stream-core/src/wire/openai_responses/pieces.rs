//! Log probabilities, and the deltas of events without an item.

use memchr::memmem;

use super::grammar::EVENT;
use super::kinds::EventType;
use crate::wire::document::{Of, Spans, Value};
use crate::wire::pieces::PiecePlace;
use crate::wire::{Piece, PieceName};

/// The pieces of an event.
pub(super) fn of(document: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let has = |word: &str| memmem::find(document.as_bytes(), word.as_bytes()).is_some();
    // Any other event belongs to an item, and its text is part of a block.
    if !has("logprobs") && has("\"output_index\"") && !has("\\u") {
        return pieces;
    }
    let mut spans = Spans::default();
    let Ok(event) = spans.read(document, Of::Object(&EVENT)) else { return pieces };
    let raw = |name| event.get(name).map_or("", Value::raw);
    if let Some(tokens) = event.get("logprobs") {
        let name = PieceName::default().below(raw("output_index")).below(raw("content_index"));
        pieces.push(Piece::new(name, tokens.span().slice(document)));
    }
    let kind = event.word("type").unwrap_or_default();
    let is_known = EventType::of(&kind).is_some_and(|known| known.body.is_some());
    if let (Some(delta), None, false) = (event.get("delta"), event.get("output_index"), is_known) {
        let name = PieceName::default().below(&*kind);
        PiecePlace::new(name, Vec::new()).strings(delta.span().slice(document), &mut pieces);
    }
    pieces
}
