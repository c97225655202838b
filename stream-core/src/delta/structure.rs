//! The content of structure: finish reasons, token counts and errors of the upstream.

use std::fmt;

use super::Text;

/// The reason of the end of a choice: a kind, and the provider's word.
#[derive(Clone, PartialEq, Eq)]
pub struct FinishReason {
    kind: FinishKind,
    raw: Text,
}

impl FinishReason {
    /// Creates a reason from its kind and the provider's word.
    #[must_use]
    pub fn new(kind: FinishKind, raw: impl Into<Text>) -> Self {
        Self { kind, raw: raw.into() }
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> FinishKind {
        self.kind
    }

    /// The provider's word.
    #[must_use]
    pub fn raw(&self) -> &str {
        &self.raw
    }
}

impl fmt::Debug for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({:?})", self.kind, self.raw)
    }
}

impl fmt::Display for FinishReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.raw)
    }
}

/// The kinds of finish reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FinishKind {
    /// A natural end (`stop`, `end_turn`, `stop_sequence`, `STOP`, `completed`, `eos`).
    Stop,
    /// The model waits for tool results (`tool_calls`, `function_call`, `tool_use`).
    ToolCalls,
    /// A token limit (`length`, `max_tokens`, `MAX_TOKENS`, `incomplete` for that reason).
    Length,
    /// A filter (`content_filter`, `SAFETY`, `RECITATION` …).
    Filter,
    /// The model refused (`refusal`).
    Refusal,
    /// The provider paused a long turn (`pause_turn`).
    Pause,
    /// The provider failed (`error`, `failed`, `MALFORMED_FUNCTION_CALL`).
    Error,
    /// Any other word.
    Other,
}

/// Token counts, as far as the upstream has sent them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request.
    pub input: Option<u64>,
    /// Tokens of the answer.
    pub output: Option<u64>,
    /// Tokens of both.
    pub total: Option<u64>,
}

impl Usage {
    /// Creates the counts of the tokens of the request and of the answer.
    #[must_use]
    pub fn new(input: Option<u64>, output: Option<u64>) -> Self {
        Self { input, output, total: None }
    }

    /// Replaces every count that `later` has.
    pub fn merge(&mut self, later: Usage) {
        self.input = later.input.or(self.input);
        self.output = later.output.or(self.output);
        self.total = later.total.or(self.total);
    }
}

/// An error that the upstream reports in the stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpstreamError {
    /// The code or the type, as text.
    pub code: Option<Text>,
    /// The message.
    pub message: Option<Text>,
}

impl UpstreamError {
    /// Creates an error with a code and a message.
    #[must_use]
    pub fn new(code: impl Into<Text>, message: impl Into<Text>) -> Self {
        Self { code: Some(code.into()), message: Some(message.into()) }
    }
}
