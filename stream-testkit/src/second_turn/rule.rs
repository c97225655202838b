//! What is checked.

use crate::named::named;

named! {
    /// A rule that the next request can break.
    pub enum Rule ("rule of the second turn") {
        /// The assistant's turn holds something: a text, a call, a refusal.
        EmptyTurn = "empty-turn",
        /// A text block or message holds text; Anthropic's more than white space.
        EmptyText = "empty-text",
        /// Thinking has its signature, redacted thinking its data, a reasoning item its id and summary.
        Signature = "signature",
        /// What the upstream signed is still there.
        SignatureLost = "signature-lost",
        /// What the upstream signed says what it said, or nothing.
        SignedTextEdited = "signed-text-edited",
        /// Anthropic: a turn with thinking starts with it, and does not end with it.
        ThinkingOrder = "thinking-order",
        /// Anthropic: only `tool_use` follows a `tool_use`.
        ToolUseLast = "tool-use-last",
        /// Responses: a reasoning item is followed by what it led to.
        ReasoningFollowed = "reasoning-followed",
        /// Calls have a name, and where the API knows them by it an id of their own; items have ids of their own.
        Identity = "identity",
        /// Every call has exactly one result, right behind its turn, and every result a call.
        CallAnswered = "call-answered",
        /// Arguments are an object where the API takes one, else a string.
        Arguments = "arguments",
        /// Roles and fields are there and of their type.
        Shape = "shape",
    }
}
