//! Strings that no block shows: fields nobody knows, opaque payload, annotations, ids, errors (rule 28).
//!
//! A policy that takes text out of an answer sees text, arguments and names block by block. Every other string of a
//! frame passes its [`Scrub`], each by itself. A frame in which one was changed is written anew with the other string,
//! and read again: what every policy sees is what the client gets.

mod document;
mod joints;
mod known;
mod logprobs;
mod words;

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use self::joints::Joints;
pub(crate) use self::joints::{Remainder, end_of, has_pieces};
pub(crate) use self::known::ShownTexts;
use crate::policy::Replacement;
use crate::sse::Frame;
use crate::wire::{Decoded, Ending, WireFormat};

/// Takes text out of the strings of frames that no block shows. One value per stream, made by
/// [`Needs::scrub`](crate::policy::Needs::scrub).
pub trait Scrub: fmt::Debug + Send + Sync {
    /// What stands in the place of a string (a key, a value, a whole number, a comment), with the reason for the record;
    /// `None` if the string stays as it came.
    ///
    /// The answer depends on the string alone: copies of a string stay copies.
    fn scrub(&self, text: &str) -> Option<Replacement>;

    /// How the stream ends when something is found in [texts of several choices](crate::policy::Needs::joined); `None` if the
    /// stream goes on without it.
    fn ending(&self) -> Option<Ending> {
        None
    }
}

/// What a search of a frame came to.
#[derive(Debug)]
pub(crate) enum Scrubbed {
    /// All strings were searched, and nothing was found, not even in what blocks show. Nothing of the frame is put together
    /// with other frames.
    Clean,
    /// All strings stay.
    Kept,
    /// The frame with other strings, and why, as the policy said.
    Changed { frame: Frame, reason: Option<String> },
}

/// The strings of frames, as one policy wants them.
#[derive(Debug)]
pub(crate) struct Scrubber {
    scrub: Arc<dyn Scrub>,
    /// The document before, in which nothing was found: what both begin and end with need not be searched again.
    last: Vec<u8>,
    joints: Joints,
}

impl Scrubber {
    pub(crate) fn new(scrub: Arc<dyn Scrub>) -> Self {
        Self { scrub, last: Vec::new(), joints: Joints::default() }
    }

    /// Whether something is found in bytes that are no event.
    pub(crate) fn finds_in(&self, bytes: &[u8]) -> bool {
        self.scrub.scrub(&String::from_utf8_lossy(bytes)).is_some()
    }

    /// Whether something is found in a string of a document: `inside` stands between its quotes, as JSON.
    pub(crate) fn finds_in_string(&self, inside: &str) -> bool {
        let text = document::string_of(inside, || format!("\"{inside}\""));
        !text.is_empty() && self.scrub.scrub(&text).is_some()
    }

    /// Whether something is found in a whole number of a document.
    pub(crate) fn finds_in_number(&self, digits: &str) -> bool {
        document::is_searched(digits) && self.scrub.scrub(digits).is_some()
    }

    /// Searches the strings of a frame.
    pub(crate) fn frame(
        &mut self,
        frame: &Frame,
        known: &ShownTexts<'_>,
        format: &dyn WireFormat,
        whole: bool,
    ) -> Scrubbed {
        let mut reason = None;
        let data = frame.data().or_else(|| frame.lenient_data());
        let Some(data) = data else {
            return match self.scrub.scrub(&String::from_utf8_lossy(frame.raw())) {
                Some(found) => Scrubbed::Changed { frame: Frame::filler(), reason: found.reason },
                None => Scrubbed::Kept,
            };
        };
        let around = !whole && self.is_found_around(frame, &data, &mut reason);
        let unnamed;
        let frame = match frame.event() {
            Some(name) if around && self.scrub.scrub(name).is_some() => {
                unnamed = frame.without_name();
                &unnamed
            }
            _ => frame,
        };
        let Ok(document) = std::str::from_utf8(&data) else { return Scrubbed::Kept };
        let mut found = document::search(document, &self.last, known, &*self.scrub);
        let is_joined = !whole && self.joints.search(document, format, &*self.scrub, &mut found);
        let is_clean = found.is_nothing() && !is_joined && !around;
        // What is found in a block's own text would be found in the same bytes of a frame without the block.
        self.remember(if found.is_nothing() { &data } else { b"" });
        reason = reason.or_else(|| found.reason.clone());
        let with = |document: &str| match whole {
            true => Frame::whole(Bytes::from(document.to_owned())),
            false => frame.with_document(document),
        };
        let changed = found.changed(known, |marked| shown(&with(marked), format, whole));
        if !around && changed.is_none() {
            return if is_clean { Scrubbed::Clean } else { Scrubbed::Kept };
        }
        let frame = with(changed.as_deref().unwrap_or(document));
        Scrubbed::Changed { frame, reason }
    }

    /// Whether something is found in the lines around the data: comments, ids, names of events.
    fn is_found_around(&self, frame: &Frame, data: &Bytes, reason: &mut Option<String>) -> bool {
        let raw = frame.raw();
        let start = (data.as_ptr() as usize).wrapping_sub(raw.as_ptr() as usize);
        let end = start.saturating_add(data.len());
        let around = match (raw.get(..start), raw.get(end..)) {
            (Some(head), Some(tail)) => [head, tail],
            // Data of several lines is no slice of the frame.
            _ => [&raw[..], &[][..]],
        };
        let mut lines = around.into_iter().flat_map(|text| text.split(|byte| matches!(byte, b'\n' | b'\r')));
        let found = lines.find_map(|line| match line {
            b"" | b"data: " | b"data:" => None,
            line if line.strip_prefix(b"event: ").is_some_and(is_known) => None,
            line => self.scrub.scrub(&String::from_utf8_lossy(line)),
        });
        let is_found = found.is_some();
        *reason = reason.take().or(found.and_then(|found| found.reason));
        is_found
    }

    fn remember(&mut self, data: &[u8]) {
        self.last.clear();
        if data.len() <= REMEMBERED {
            self.last.extend_from_slice(data);
        }
    }
}

/// Searches the strings of an error that is no frame: those of JSON, or the whole text. `None` if nothing was found.
#[cfg(feature = "processor")]
pub(crate) fn error(body: &[u8], scrub: &dyn Scrub) -> Option<Replacement> {
    let text = String::from_utf8_lossy(body);
    if serde_json::from_slice::<serde::de::IgnoredAny>(body).is_err() {
        return scrub.scrub(&text);
    }
    let known = ShownTexts::default();
    let mut found = document::search(&text, &[], &known, scrub);
    let reason = found.reason.take();
    let replacement = Replacement::text(found.changed(&known, |_| document::Shown::default())?);
    Some(match reason {
        Some(reason) => replacement.because(reason),
        None => replacement,
    })
}

/// The texts that blocks show in a frame. One that cannot be read shows none.
fn shown(frame: &Frame, format: &dyn WireFormat, whole: bool) -> document::Shown {
    let mut decoded = Decoded::default();
    let read = match whole {
        true => format.decode_whole(frame.raw(), &mut decoded),
        false => format.decode(frame, &mut decoded),
    };
    match read {
        Ok(()) => ShownTexts::of(decoded.deltas.iter()).into_texts(),
        Err(_) => document::Shown::default(),
    }
}

/// Whether the name of an event is a word of the protocol.
fn is_known(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(words::is_known)
}

/// Whether a key or a value is a word of letters, as those of the protocol are.
fn is_word(text: &str) -> bool {
    text.as_bytes().iter().all(is_letter)
}

fn is_letter(byte: &u8) -> bool {
    byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'.')
}

/// The longest document that is remembered, in bytes: most events are shorter.
const REMEMBERED: usize = 1024;
