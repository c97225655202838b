//! OpenAI Chat Completions, and the many servers that speak it.
//!
//! # Copies
//!
//! The copies of this format (rule 19), and how each is handled:
//!
//! | copy | of | handling |
//! |---|---|---|
//! | `reasoning` beside `reasoning_content`, text of `reasoning_details` | reasoning | one delta where the texts are the same, else one each; a rebuilt frame has only the text of its deltas |
//! | `choices[].message`, `choices[].text` beside `delta` | the delta, or all of the choice so far | a [`Copy`](crate::delta::DeltaKind::Copy), unless it equals the delta beside it; not written for a choice that was edited |
//! | `choices[].logprobs` | tokens of text and of calls | not written for a choice that was edited; an annotation *ahead* without a delta beside it |
//! | `error.failed_generation` | a call that the provider refused | an [`Opaque`](crate::delta::DeltaKind::Opaque) of its own, before the error |
//! | `audio.transcript` | spoken audio | content; the sound is opaque |

mod body;
mod calls;
mod grammar;
mod interleaved;
mod passed_over;
mod pieces;
mod positions;
mod read;
mod rebuild;
mod templates;
mod whole;
mod write;

#[cfg(test)]
mod tests;

pub(super) use passed_over::{ChunkFields, are_token_list};
pub(super) use templates::error;

use super::writer::FormatWriter;
use super::{DecodeError, Decoded, Hole, Piece, Traits, WireFormat, Writer, WriterOptions};
use crate::delta::FinishKind;
use crate::sse::Frame;

/// OpenAI Chat Completions: `data: {"choices":[{"delta":…}]}` chunks, then `data: [DONE]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OpenAiChat;

impl WireFormat for OpenAiChat {
    fn name(&self) -> &'static str {
        "openai-chat"
    }

    fn sniff(&self, frame: &Frame) -> bool {
        frame.data_bytes().is_some_and(grammar::is_chunk)
    }

    fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
        read::frame(frame, into)
    }

    fn sniff_whole(&self, body: &[u8]) -> bool {
        grammar::is_completion(body)
    }

    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
        read::whole(body, into)
    }

    fn finish_word(&self, kind: FinishKind) -> Option<&'static str> {
        match kind {
            FinishKind::Stop => Some("stop"),
            FinishKind::ToolCalls => Some("tool_calls"),
            _ => None,
        }
    }

    fn traits(&self) -> Traits {
        Traits { text_after_call: true, finish_is_terminal: true, ..Traits::default() }
    }

    fn holes(&self) -> &'static [Hole] {
        super::holes::CHAT
    }

    fn pieces<'d>(&self, document: &'d str) -> Vec<Piece<'d>> {
        pieces::of(document)
    }

    fn writer(&self, options: &WriterOptions) -> Box<dyn Writer> {
        Box::new(FormatWriter(write::ChatWriter::new(options)))
    }
}
