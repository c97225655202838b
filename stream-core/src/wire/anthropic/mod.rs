//! Anthropic Messages: a message of numbered blocks, each opened, filled and closed by events of its own.
//!
//! Every block is one slot, [`Slot::item`](crate::delta::Slot::item) of its `index`; there is one choice, 0. Clients run
//! `tool_use` blocks (rule 7) in every form: opened by an event, with `input` already filled, or in the `content` of
//! `message_start`.
//!
//! # Copies
//!
//! The only copies are citations, which quote beside the text that they belong to: `citations_delta` and the `citations`
//! of a text block are [annotations](crate::delta::DeltaKind::Annotation) of their block (rule 19).
//!
//! # Reading
//!
//! ```
//! use stream_core::delta::{Channel, DeltaKind};
//! use stream_core::sse::Framer;
//! use stream_core::wire::anthropic::Anthropic;
//! use stream_core::wire::{Decoded, WireFormat};
//!
//! let mut framer = Framer::new(1024);
//! framer.push(b"event: content_block_delta\n");
//! framer.push(br#"data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#);
//! framer.push(b"\n\n");
//! let frame = framer.next_frame()?.unwrap();
//!
//! assert!(Anthropic.sniff(&frame));
//! let mut decoded = Decoded::new();
//! Anthropic.decode(&frame, &mut decoded)?;
//! assert_eq!(decoded.deltas[0].kind, DeltaKind::Text { channel: Channel::Content, text: "Hi".into() });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod block;
mod blocks;
mod grammar;
mod insert;
mod kinds;
mod normal;
mod order;
mod read;
mod templates;
mod whole;
mod write;

#[cfg(test)]
mod tests;

pub(crate) use order::MessageOrder;

use crate::delta::FinishKind;
use crate::sse::Frame;
use crate::wire::document::{Of, Spans, Value};
use crate::wire::pieces::PiecePlace;
use crate::wire::writer::FormatWriter;
use crate::wire::{DecodeError, Decoded, Hole, Piece, PieceName, Traits, WireFormat, Writer, WriterOptions};

/// The Anthropic Messages API, as Anthropic, Bedrock, Vertex and compatible servers speak it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Anthropic;

impl WireFormat for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic-messages"
    }

    fn sniff(&self, frame: &Frame) -> bool {
        read::sniff(frame)
    }

    fn decode(&self, frame: &Frame, into: &mut Decoded) -> Result<(), DecodeError> {
        read::decode(frame, into)
    }

    fn sniff_whole(&self, body: &[u8]) -> bool {
        read::sniff_whole(body)
    }

    fn decode_whole(&self, body: &[u8], into: &mut Decoded) -> Result<(), DecodeError> {
        read::decode_whole(body, into)
    }

    fn finish_word(&self, kind: FinishKind) -> Option<&'static str> {
        match kind {
            FinishKind::Stop => Some("end_turn"),
            FinishKind::ToolCalls => Some("tool_use"),
            _ => None,
        }
    }

    fn traits(&self) -> Traits {
        Traits { arguments_are_json: true, reasoning_is_signed: true, ..Traits::default() }
    }

    fn holes(&self) -> &'static [Hole] {
        crate::wire::holes::MESSAGES
    }

    /// LangChain concatenates the strings of a block, such as its signature, piece by piece.
    fn pieces<'d>(&self, document: &'d str) -> Vec<Piece<'d>> {
        // Calls and texts are parts of blocks; a citation is never concatenated.
        const OF_BLOCKS: [&str; 9] =
            ["type", "text", "thinking", "partial_json", "id", "name", "input", "citation", "citations"];
        const OF_DELTAS: [&str; 6] = ["type", "text", "thinking", "partial_json", "citation", "citations"];
        let mut pieces = Vec::new();
        let mut spans = Spans::default();
        let Ok(event) = spans.read(document, Of::Object(&grammar::EVENT)) else { return pieces };
        // What is said of the message itself has no number.
        let name = PieceName::default().below(event.get("index").map_or("", Value::raw));
        for (field, apart) in [("delta", &OF_DELTAS[..]), ("content_block", &OF_BLOCKS)] {
            let said = event.get(field).into_iter().flat_map(Value::members);
            for (key, value) in said.filter(|(key, _)| !apart.contains(&&**key)) {
                let said = value.span().slice(document);
                PiecePlace::new(name.below(&*key), Vec::new()).strings(said, &mut pieces);
            }
        }
        pieces
    }

    fn writer(&self, options: &WriterOptions) -> Box<dyn Writer> {
        Box::new(FormatWriter(write::MessagesWriter::new(options)))
    }
}
