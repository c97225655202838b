//! What a strict client has received.

/// What a client that reads in wire order and repairs nothing ends up with.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct View {
    /// The choices (candidates) by index. Formats without choices have one.
    pub choices: Vec<ChoiceView>,
    /// How the stream ended.
    pub ended: Ended,
    /// Whether usage came.
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
    /// The provider's id; empty if none came.
    pub id: String,
    /// The name; the item type for calls that have none.
    pub name: String,
    /// The arguments as they came. Where a format sends a JSON value, its compact form.
    pub arguments: String,
    /// What the format calls it: `function`, `tool_use`, `function_call`, `shell_call`, `functionCall`…
    pub kind: String,
}

/// How a stream ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ended {
    /// With the format's ending.
    Clean,
    /// With the format's refusal: `content_filter`, `refusal`, `response.incomplete` for a filter, `SAFETY`.
    Refused,
    /// With an in-band error.
    Error,
    /// With the bytes: no ending came.
    #[default]
    Open,
}
