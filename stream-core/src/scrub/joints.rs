//! Strings that clients put together over the frames of a stream.

use std::collections::HashMap;

use super::document::Found;
use super::{Scrub, logprobs};
use crate::json;
use crate::wire::{PieceName, WireFormat};

/// The ends of what has been said so far, by the names of the pieces.
#[derive(Debug, Default)]
pub(super) struct Joints(HashMap<PieceName, String>);

impl Joints {
    /// Searches the pieces of a document behind those before them: what begins in an earlier frame, which has left, does not
    /// end in this one.
    pub(super) fn search(
        &mut self,
        document: &str,
        format: &dyn WireFormat,
        scrub: &dyn Scrub,
        found: &mut Found<'_>,
    ) {
        for piece in format.pieces(document) {
            let start = (piece.raw().as_ptr() as usize).wrapping_sub(document.as_ptr() as usize);
            let stop = start.saturating_add(piece.raw().len());
            if document.get(start..stop) != Some(piece.raw()) {
                continue;
            }
            let is_string = piece.raw().starts_with('"');
            let says = match is_string {
                true => json::unquote(piece.raw()).unwrap_or_default(),
                false => logprobs::spelled(piece.raw()),
            };
            let put = |text: &str| if is_string { json::quote(text) } else { "null".to_owned() };
            if says.is_empty() {
                continue;
            }
            if !self.0.contains_key(&piece.name()) && self.0.len() >= MOST {
                found.change(start, stop, put(""), None);
                continue;
            }
            let end = self.0.entry(piece.name()).or_default();
            if scrub.scrub(&says).is_some() {
                // It is taken out already.
                end.clear();
            } else if let Some(Remainder { rest, reason }) = Remainder::of(end, &says, scrub) {
                found.change(start, stop, put(&rest), reason);
            }
        }
    }
}

/// What is left of a text, of which something began in the text before it.
#[derive(Debug)]
pub(crate) struct Remainder {
    pub(crate) rest: String,
    pub(crate) reason: Option<String>,
}

impl Remainder {
    /// Searches a text behind the end of what was said before it, and adds the text to that. `None` if it stays as it came.
    pub(crate) fn of(end: &mut String, says: &str, scrub: &dyn Scrub) -> Option<Self> {
        let before = end.len();
        end.push_str(says);
        let found = if before > 0 { scrub.scrub(end) } else { None };
        let joined = found.map(|found| {
            let body = found.body();
            let both = end.bytes().zip(body.bytes()).take(before);
            let kept = both.take_while(|(old, new)| old == new).count();
            let rest = body.char_indices().find(|(at, _)| *at >= kept).map_or("", |(at, _)| &body[at..]);
            Self { rest: rest.to_owned(), reason: found.reason.clone() }
        });
        if joined.is_some() {
            end.clear();
        }
        let cut = end.len() - end_of(end).len();
        end.drain(..cut);
        joined
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

/// How much is kept of each, in bytes: longer than what patterns match.
const LONGEST: usize = 512;
