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
            let before = end.len();
            end.push_str(&says);
            if scrub.scrub(&says).is_some() {
                // It is taken out already.
                end.clear();
            } else if before > 0
                && let Some(joined) = scrub.scrub(end)
            {
                let body = joined.body();
                let both = end.bytes().zip(body.bytes()).take(before);
                let kept = both.take_while(|(old, new)| old == new).count();
                let rest = body.char_indices().find(|(at, _)| *at >= kept).map_or("", |(at, _)| &body[at..]);
                found.change(start, stop, put(rest), joined.reason.clone());
                end.clear();
            }
            if end.len() > LONGEST {
                let cut = end.char_indices().map(|(at, _)| at).find(|at| end.len() - at <= LONGEST);
                end.drain(..cut.unwrap_or(0));
            }
        }
    }
}

/// The most pieces whose ends are kept; strings of more names do not leave.
const MOST: usize = 1 << 14;

/// How much is kept of each, in bytes: longer than what patterns match.
const LONGEST: usize = 512;
