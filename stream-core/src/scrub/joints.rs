//! Strings that clients put together over the frames of a stream.

use std::collections::HashMap;

use super::document::Found;
use super::{Scrub, logprobs};
use crate::json;
use crate::wire::{Piece, PieceName, WireFormat};

/// The ends of what has been said so far, by the names of the pieces.
#[derive(Debug, Default)]
pub(super) struct Joints(HashMap<PieceName, String>);

impl Joints {
    /// Searches the pieces of a document behind those before them: what begins in an earlier frame, which has left, does not
    /// end in this one. Answers whether there are any that say something.
    pub(super) fn search(
        &mut self,
        document: &str,
        format: &dyn WireFormat,
        scrub: &dyn Scrub,
        found: &mut Found<'_>,
    ) -> bool {
        let mut any = false;
        let pieces = format.pieces(document);
        // A piece with two names stands there twice.
        for same in pieces.chunk_by(|one, next| std::ptr::eq(one.raw(), next.raw())) {
            let Some(raw) = same.first().map(Piece::raw) else { continue };
            let start = (raw.as_ptr() as usize).wrapping_sub(document.as_ptr() as usize);
            let stop = start.saturating_add(raw.len());
            let says = says(raw);
            any |= !says.is_empty();
            if document.get(start..stop) != Some(raw) || says.is_empty() {
                continue;
            }
            let is_string = raw.starts_with('"');
            let put = |text: &str| if is_string { json::quote(text) } else { "null".to_owned() };
            let new = same.iter().filter(|piece| !self.0.contains_key(&piece.name())).count();
            if self.0.len() + new > MOST {
                found.change(start, stop, put(""), None);
                continue;
            }
            // What is found in the piece itself is taken out already; tokens go as a whole.
            let leaves = |text: &str| if is_string { text.to_owned() } else { String::new() };
            let own = scrub.scrub(&says).map(|own| leaves(own.body()));
            let mut text = own.unwrap_or(says);
            let mut joined = None;
            for round in 0..=ROUNDS {
                let ends = same.iter().filter_map(|piece| self.0.get(&piece.name()));
                let mut ends = ends.filter(|_| !text.is_empty());
                let Some(Remainder { rest, reason }) = ends.find_map(|end| Remainder::of(end, &text, scrub))
                else {
                    break;
                };
                text = if round < ROUNDS { leaves(&rest) } else { String::new() };
                joined = Some(reason);
            }
            if let Some(reason) = joined {
                found.change(start, stop, put(&text), reason);
            }
            for piece in same {
                let end = self.0.entry(piece.name()).or_default();
                end.push_str(end_of(&text));
                end.drain(..end.len() - end_of(end).len());
            }
        }
        any
    }
}

/// Whether a document has pieces that say something.
pub(crate) fn has_pieces(document: &str, format: &dyn WireFormat) -> bool {
    format.pieces(document).iter().any(|piece| !says(piece.raw()).is_empty())
}

/// What a piece says: a string, or log probabilities.
fn says(raw: &str) -> String {
    match raw.starts_with('"') {
        true => json::unquote(raw).unwrap_or_default(),
        false => logprobs::spelled(raw),
    }
}

/// What is left of a text, of which something began in the text before it.
#[derive(Debug)]
pub(crate) struct Remainder {
    pub(crate) rest: String,
    pub(crate) reason: Option<String>,
}

impl Remainder {
    /// Searches a text behind the end of what was said before it. `None` if it stays as it came.
    pub(crate) fn of(end: &str, says: &str, scrub: &dyn Scrub) -> Option<Self> {
        if end.is_empty() {
            return None;
        }
        let both = [end, says].concat();
        let found = scrub.scrub(&both)?;
        let body = found.body();
        let kept = both.bytes().zip(body.bytes()).take(end.len()).take_while(|(old, new)| old == new).count();
        let rest = body.char_indices().find(|(at, _)| *at >= kept).map_or("", |(at, _)| &body[at..]);
        Some(Self { rest: rest.to_owned(), reason: found.reason.clone() })
    }
}

/// The end of a text, as much of it as is kept.
pub(crate) fn end_of(text: &str) -> &str {
    let mut start = text.len().saturating_sub(LONGEST);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    &text[start..]
}

/// The most pieces whose ends are kept; strings of more names do not leave.
const MOST: usize = 1 << 14;

/// How often a piece of several names is searched again behind the end of each, without what was found behind another.
const ROUNDS: usize = 3;

/// How much is kept of each, in bytes: longer than what patterns match.
const LONGEST: usize = 512;
