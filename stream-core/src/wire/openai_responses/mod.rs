//! OpenAI Responses: typed events, keyed by `output_index`.
//!
//! A response is a list of *items* (messages, reasoning, calls, tools of the provider); a message and a reasoning item
//! are lists of *parts*. Items may overlap, and all payload is sent three or four times: in deltas, in the `done` event of
//! the part, in `output_item.done` and in the terminal event, whose calls the SDKs run.
//!
//! # Slots
//!
//! `item` is the `output_index`, never the `item_id`: one provider gives each event of an item another id. `part` is the
//! `content_index`, or the `summary_index` above an offset, or [`Slot::ITEM`](crate::delta::Slot::ITEM).
//! Calls and opaque items have the single part 0.
//!
//! # Copies
//!
//! All of these share the fate of the block that they repeat (rule 19): `*.done`, `content_part.done`, `reasoning_summary_part.done`,
//! `output_item.done`, `output` of `response.completed`, `response.incomplete` and `response.failed` (and of an opening
//! that has one), `output_text` beside it, `logprobs` and `annotations` of parts.

mod action;
mod ending;
mod grammar;
mod insert;
mod item;
mod items;
mod kinds;
mod normal;
mod order;
mod pieces;
mod read;
mod rebuild;
mod source;
mod templates;
mod whole;
mod write;

#[cfg(test)]
mod tests;

use memchr::memmem;

pub(crate) use order::ResponseOrder;

use super::writer::FormatWriter;
use super::{DecodeError, Decoded, Hole, Piece, Traits, WireFormat, Writer, WriterOptions};
use crate::delta::FinishKind;
use crate::sse::Frame;

/// The format of OpenAI's Responses API, and of compatible servers.
#[derive(Debug, Clone, Copy, Default)]
pub struct OpenAiResponses;

impl WireFormat for OpenAiResponses {
    fn name(&self) -> &'static str {
        "openai-responses"
    }

    fn sniff(&self, frame: &Frame) -> bool {
        frame.data_bytes().is_some_and(has_event_type)
    }

    fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
        match frame.data_bytes() {
            Some(data) => read::event(frame.event(), data, into),
            None => Ok(()),
        }
    }

    fn sniff_whole(&self, body: &[u8]) -> bool {
        read::sniff_whole(body)
    }

    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
        read::decode_whole(body, into)
    }

    /// The status says `completed` with calls and without.
    fn finish_word(&self, _: FinishKind) -> Option<&'static str> {
        None
    }

    fn traits(&self) -> Traits {
        Traits { restates: true, text_after_call: true, reasoning_is_signed: true, ..Traits::default() }
    }

    fn holes(&self) -> &'static [Hole] {
        super::holes::RESPONSES
    }

    fn pieces<'d>(&self, document: &'d str) -> Vec<Piece<'d>> {
        pieces::of(document)
    }

    fn writer(&self, options: &WriterOptions) -> Box<dyn Writer> {
        Box::new(FormatWriter(write::ResponsesWriter::new(options)))
    }
}

/// Whether a `type` member has a value that starts with `response.`. A quote inside a JSON string is escaped, so the
/// needle is only ever found as a whole string.
fn has_event_type(data: &[u8]) -> bool {
    let key = b"\"type\"";
    memmem::find_iter(data, key).any(|at| {
        data[at + key.len()..]
            .trim_ascii_start()
            .strip_prefix(b":")
            .is_some_and(|value| value.trim_ascii_start().starts_with(b"\"response."))
    })
}
