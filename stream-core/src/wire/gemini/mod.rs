//! Gemini `generateContent` and `streamGenerateContent`.
//!
//! Every event is a whole `GenerateContentResponse`: there is no opening, no terminal marker and no numbering, so
//! that the end of bytes after a `finishReason` is a regular end. No event repeats an earlier one; the copies within an
//! event are the fields of a candidate beside its content: grounding, citations, URL context, log probabilities and the
//! `finishMessage`.

mod calls;
mod grammar;
mod partial;
mod read;
mod rebuild;
mod templates;
mod whole;
mod write;

#[cfg(test)]
mod tests;

pub use partial::join_partial_args;

use crate::delta::FinishKind;
use crate::sse::Frame;
use crate::wire::document::{Of, Spans, Value};
use crate::wire::writer::FormatWriter;
use crate::wire::{DecodeError, Decoded, Odd, Piece, PieceName, Traits, WireFormat, Writer, WriterOptions};

/// The format of Gemini's `streamGenerateContent` (`alt=sse`, or a JSON array as a whole body) and
/// `generateContent`, on the Gemini API and on Vertex AI.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gemini;

impl WireFormat for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn sniff(&self, frame: &Frame) -> bool {
        frame.data_bytes().is_some_and(grammar::is_response)
    }

    fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
        read::event(frame.data_bytes().unwrap_or_default(), into)?;
        // Google's own SDK fails on a named event.
        into.mark(frame.event().map(|_| Odd::Lines));
        Ok(())
    }

    fn sniff_whole(&self, body: &[u8]) -> bool {
        grammar::is_whole(body)
    }

    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
        read::whole(body, into)
    }

    fn finish_word(&self, _kind: FinishKind) -> Option<&'static str> {
        // `STOP` ends both an answer and a turn that calls tools.
        None
    }

    fn join_arguments(&self, raw: &str) -> Option<String> {
        join_partial_args(raw)
    }

    fn traits(&self) -> Traits {
        Traits {
            text_after_call: true,
            finish_is_terminal: true,
            arguments_are_json: true,
            mixes_reasoning: true,
            ..Traits::default()
        }
    }

    fn pieces<'d>(&self, document: &'d str) -> Vec<Piece<'d>> {
        let mut spans = Spans::default();
        let Ok(response) = spans.read(document, Of::Object(&grammar::RESPONSE)) else { return Vec::new() };
        let candidates = response.get("candidates").into_iter().flat_map(Value::items);
        let tokens = candidates.filter_map(|candidate| {
            let tokens = candidate.get("logprobsResult")?.span();
            let name = PieceName::default().below(candidate.get("index").map_or("0", Value::raw));
            Some(Piece::new(name, tokens.slice(document)))
        });
        tokens.collect()
    }

    fn writer(&self, options: &WriterOptions) -> Box<dyn Writer> {
        Box::new(FormatWriter(write::GeminiWriter::new(options)))
    }
}
