//! Wire formats: one place each for reading and writing.
//!
//! A format is two halves. [`WireFormat`] recognises the frames of its API and decodes them into [`Delta`](crate::delta::Delta)s; a format keeps
//! no state, so any frame can be decoded at any time. [`Writer`] writes the frames to the client; a writer keeps a record of
//! what was written, and is responsible for the validity of the client's stream (rule 17).

pub mod anthropic;
pub(crate) mod apis;
mod decoded;
pub(crate) mod document;
mod format;
pub mod gemini;
mod holes;
mod memory;
mod numbering;
mod odd;
pub mod openai_chat;
pub mod openai_responses;
mod outgoing;
mod pieces;
mod ping;
mod quoted;
mod sink;
mod template;
mod turn;
mod writer;
mod writing;

#[cfg(test)]
mod tests;

use std::sync::{Arc, LazyLock};

pub use decoded::{DecodeError, Decoded};
pub use format::{Traits, WireFormat};
pub use holes::{Fill, Hole};
pub(crate) use memory::{Due, Memory};
pub use odd::Odd;
pub use outgoing::{Fate, Outgoing, Part};
pub(crate) use outgoing::{STRAY, without_stray};
pub use pieces::{Piece, PieceName};
pub use quoted::Quoted;
pub use writing::{Writer, WriterOptions};

pub use crate::ending::{Ending, EndingKind};

/// A format shared between streams.
pub type SharedFormat = Arc<dyn WireFormat>;

/// The built-in formats, in the order in which they are tried.
#[must_use]
pub fn built_in() -> Vec<SharedFormat> {
    BUILT_IN.to_vec()
}

/// The built-in formats, once for all streams.
pub(crate) static BUILT_IN: LazyLock<[SharedFormat; 4]> = LazyLock::new(|| {
    [
        Arc::new(openai_chat::OpenAiChat),
        Arc::new(openai_responses::OpenAiResponses),
        Arc::new(anthropic::Anthropic),
        Arc::new(gemini::Gemini),
    ]
});

/// The built-in format of this name.
#[must_use]
pub fn named(name: &str) -> Option<SharedFormat> {
    built_in().into_iter().find(|format| format.name() == name)
}

/// The format of a stream with nothing but comments, bare errors and `[DONE]`, which are the same in all formats.
pub(crate) fn fallback() -> SharedFormat {
    Arc::new(openai_chat::OpenAiChat)
}
