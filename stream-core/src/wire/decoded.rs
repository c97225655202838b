//! The deltas of a frame, or the reason why the frame cannot be decoded.

use std::fmt;

use super::{Due, Memory, Odd};
use crate::delta::{Delta, Text};

/// The output of [`WireFormat::decode`](super::WireFormat::decode).
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Decoded {
    /// The deltas, in wire order.
    pub deltas: Vec<Delta>,
    /// The id of the response, needed while [`wants_meta`](Self::wants_meta).
    pub id: Option<Text>,
    /// The name of the model, needed while [`wants_meta`](Self::wants_meta).
    pub model: Option<Text>,
    /// Whether id and model are still unknown; when false a decoder need not copy them.
    pub wants_meta: bool,
    /// The reason why the frame is not plain, by itself or after the frames before it (rule 28).
    pub odd: Option<Odd>,
    /// The memory of the frames before, where a policy looks at the stream.
    pub(crate) memory: Memory,
    /// The time at which the frame is passed to the stages.
    pub(crate) due: Due,
}

impl Decoded {
    /// An empty output that needs id and model.
    #[must_use]
    pub fn new() -> Self {
        Self { wants_meta: true, ..Self::default() }
    }

    /// Sets the reason why the frame is not plain; the first reason stays.
    pub(crate) fn mark(&mut self, odd: Option<Odd>) {
        self.odd = self.odd.or(odd);
    }
}

/// The reason why a frame could not be decoded: what was expected and what was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodeError {
    expected: String,
    found: String,
    ambiguous: bool,
}

impl DecodeError {
    /// An error that names both sides.
    #[must_use]
    pub fn new(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { expected: expected.into(), found: found.into(), ambiguous: false }
    }

    /// An error for a frame that clients read in different ways, so that the frame has no single meaning to write
    /// (rule 28).
    #[must_use]
    pub fn ambiguous(expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { ambiguous: true, ..Self::new(expected, found) }
    }

    /// Whether the frame can be decoded, in several ways.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.ambiguous
    }

    /// Wraps an error of serde_json. A message that would quote a value of the frame (a value of another type) is reduced
    /// to its line and column.
    #[must_use]
    pub fn json(expected: &str, error: &serde_json::Error) -> Self {
        let message = error.to_string();
        let names_a_field = message.starts_with("duplicate field") || message.starts_with("missing field");
        if error.is_data() && !names_a_field {
            let (line, column) = (error.line(), error.column());
            return Self::new(expected, format!("JSON of another shape at line {line} column {column}"));
        }
        Self::new(expected, message)
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for DecodeError {}
