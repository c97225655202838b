//! Fields of a delta that nobody knows, and log probabilities: the official SDKs put their strings and tokens together over the
//! chunks of a stream, as they do with the fields they know.

use super::grammar::{CHUNK, number};
use crate::json;
use crate::wire::document::{Of, Spans, Value};
use crate::wire::{Piece, PieceName};

/// The strings of all unknown fields of the deltas of a chunk.
pub(super) fn of(document: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut spans = Spans::default();
    let Ok(chunk) = spans.read(document, Of::Object(&CHUNK)) else { return pieces };
    for choice in chunk.get("choices").into_iter().flat_map(Value::items) {
        if let Some(tokens) = choice.get("logprobs") {
            let (start, end) = tokens.span();
            pieces.push(Piece::new(PieceName::default().below(number(choice)), &document[start..end]));
        }
        let Some(delta) = choice.get("delta") else { continue };
        for (name, value) in delta.unknown() {
            let (start, end) = value.span();
            let name = PieceName::default().below(number(choice)).below(&*name);
            strings(name, &document[start..end], DEEPEST, &mut pieces);
        }
    }
    pieces
}

fn strings<'d>(name: PieceName, raw: &'d str, depth: u8, into: &mut Vec<Piece<'d>>) {
    match raw.as_bytes().first() {
        Some(b'"') => into.push(Piece::new(name, raw)),
        Some(b'{') if depth > 0 => {
            for (key, value) in json::members(raw).unwrap_or_default() {
                strings(name.below(&*key), value, depth - 1, into);
            }
        }
        Some(b'[') if depth > 0 => {
            for (at, item) in json::items(raw).unwrap_or_default().into_iter().enumerate() {
                strings(name.below(at), item, depth - 1, into);
            }
        }
        _ => {}
    }
}

/// How deep a field is looked into.
const DEEPEST: u8 = 6;
