//! What is checked.

use crate::named::named;

named! {
    /// A rule that a stream can break. `docs/conformance.md` says what each means per format.
    pub enum Rule ("rule") {
        /// Every event ends with a blank line, the last one too.
        EventBorder = "event-border",
        /// Every line is a field of the standard or a comment.
        StrayLine = "stray-line",
        /// Comments only where clients take them: the google-genai SDK raises on one.
        Comment = "comment",
        /// The `event` line equals the type, or is absent where the format has none.
        EventLine = "event-line",
        /// The data of an event is one JSON value (or the terminal marker).
        MalformedJson = "malformed-json",
        /// No key comes twice in one object.
        DuplicateKey = "duplicate-key",
        /// The fields a client reads are there and of their type.
        Shape = "shape",
        /// The envelope is the same on every event: chat `id` and `object`.
        Envelope = "envelope",
        /// Events come in their order: opening first and once, usage after the finish.
        EventOrder = "event-order",
        /// The event belongs to the format.
        UnknownEvent = "unknown-event",
        /// Indices start at 0 and have no gap.
        Index = "index",
        /// `sequence_number` starts at 0 and rises by one.
        SequenceNumber = "sequence-number",
        /// The events of an item name the same item id.
        ItemId = "item-id",
        /// A call opens with an id and a name, once, and keeps them.
        CallIdentity = "call-identity",
        /// The arguments of a call that a client will run are empty or one JSON value.
        Arguments = "arguments",
        /// What opens closes once; deltas come between; one block is open at a time where the format says so.
        Pairing = "pairing",
        /// A delta is of the kind its block takes.
        DeltaType = "delta-type",
        /// A copy says what the deltas said.
        Copy = "copy",
        /// There is exactly one ending, valid for the format.
        Ending = "ending",
        /// Nothing comes after the ending.
        AfterEnding = "after-ending",
        /// The finish reason is known, and fits the calls that came.
        FinishReason = "finish-reason",
        /// Nothing but `tool_use` follows a `tool_use`: the next turn would be refused.
        AfterToolUse = "after-tool-use",
        /// Thinking ends with one signature: the next turn would be refused.
        Signature = "signature",
        /// A text block holds text: the next turn would be refused.
        EmptyBlock = "empty-block",
        /// A turn that ends plainly holds something.
        EmptyTurn = "empty-turn",
    }
}
