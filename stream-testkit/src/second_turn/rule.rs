//! What is checked.

use std::fmt;
use std::str::FromStr;

/// A rule that the next request can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Rule {
    /// The assistant's turn holds something: a text, a call, a refusal.
    EmptyTurn,
    /// A text block or message holds text; Anthropic's more than white space.
    EmptyText,
    /// Thinking has its signature, redacted thinking its data, a reasoning item its id and summary.
    Signature,
    /// What the upstream signed is still there.
    SignatureLost,
    /// What the upstream signed says what it said, or nothing.
    SignedTextEdited,
    /// Anthropic: a turn with thinking starts with it, and does not end with it.
    ThinkingOrder,
    /// Anthropic: only `tool_use` follows a `tool_use`.
    ToolUseLast,
    /// Responses: a reasoning item is followed by what it led to.
    ReasoningFollowed,
    /// Calls have a name, and where the API knows them by it an id of their own; items have ids of their own.
    Identity,
    /// Every call has exactly one result, right behind its turn, and every result a call.
    CallAnswered,
    /// Arguments are an object where the API takes one, else a string.
    Arguments,
    /// Roles and fields are there and of their type.
    Shape,
}

impl Rule {
    /// All of them, in the order they are documented.
    pub const ALL: [Self; 12] = [
        Self::EmptyTurn,
        Self::EmptyText,
        Self::Signature,
        Self::SignatureLost,
        Self::SignedTextEdited,
        Self::ThinkingOrder,
        Self::ToolUseLast,
        Self::ReasoningFollowed,
        Self::Identity,
        Self::CallAnswered,
        Self::Arguments,
        Self::Shape,
    ];

    /// The stable name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::EmptyTurn => "empty-turn",
            Self::EmptyText => "empty-text",
            Self::Signature => "signature",
            Self::SignatureLost => "signature-lost",
            Self::SignedTextEdited => "signed-text-edited",
            Self::ThinkingOrder => "thinking-order",
            Self::ToolUseLast => "tool-use-last",
            Self::ReasoningFollowed => "reasoning-followed",
            Self::Identity => "identity",
            Self::CallAnswered => "call-answered",
            Self::Arguments => "arguments",
            Self::Shape => "shape",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Rule {
    type Err = UnknownRule;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|rule| rule.name() == name);
        known.ok_or_else(|| UnknownRule { found: name.to_owned() })
    }
}

/// A name that is none of a [`Rule`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownRule {
    found: String,
}

impl fmt::Display for UnknownRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected the name of a rule of the second turn, found {:?}", self.found)
    }
}

impl std::error::Error for UnknownRule {}
