//! What a strict client has received.

/// An answer, as a client reads it that goes by the wire order and repairs nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct View {
    /// The choices (candidates) by index. Formats without choices have one.
    pub choices: Vec<ChoiceView>,
    /// The end of the stream.
    pub ended: Ended,
    /// `true` if the stream has usage.
    pub usage: bool,
}

/// One choice of a [`View`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChoiceView {
    /// Its index.
    pub index: u64,
    /// The whole text.
    pub content: String,
    /// The whole reasoning, summaries included.
    pub reasoning: String,
    /// The whole refusal.
    pub refusal: String,
    /// The whole transcript of what is spoken.
    pub spoken: String,
    /// The calls the client is asked to run, in the order they opened.
    pub calls: Vec<CallView>,
    /// The last finish reason, in the provider's own word.
    pub finish: Option<String>,
}

/// One call of a [`ChoiceView`].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallView {
    /// The provider's id; empty for a call without one.
    pub id: String,
    /// The name; the item type for calls that have none.
    pub name: String,
    /// The arguments, unchanged. Where a format sends a JSON value, its compact form.
    pub arguments: String,
    /// The format's word for the call: `function`, `tool_use`, `function_call`, `shell_call`, `functionCall`…
    pub kind: String,
}

/// The end of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ended {
    /// The format's own ending.
    Clean,
    /// With the format's refusal: `content_filter`, `refusal`, `response.incomplete` for a filter, `SAFETY`.
    Refused,
    /// An error in the stream.
    Error,
    /// The bytes ended without an ending.
    #[default]
    Open,
}
