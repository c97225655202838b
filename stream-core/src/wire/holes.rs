//! Which values of a plain text frame may differ from one frame to the next without meaning anything else.

/// A value of a frame that may be another one in the next frame, and the frame says the same but for its text.
///
/// The engine compares a frame with the one before it, byte by byte, outside of the holes of its format. A value that is not
/// listed never becomes a hole, however often it differs: a `finish_reason` or a `role` changes what a frame says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    /// Where the value stands: keys and positions, `choices[0].delta.content`.
    pub path: &'static str,
    /// What may stand there.
    pub fill: Fill,
}

/// What may stand in a [`Hole`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fill {
    /// The text of the frame's one delta, or its piece of a call's arguments: a string that is not empty. Where a frame has
    /// several, all of them are the same.
    Text,
    /// A string that nothing depends on.
    Word,
    /// A number of one to fifteen digits that nothing depends on.
    Digits,
    /// A number of one to fifteen digits that grows from frame to frame.
    Count,
    /// A string, or a number of one to fifteen digits, that names the block: the same in all frames of a block, and another one
    /// in those of the next.
    Name,
    /// Blanks before the last brace of the document; the path is empty.
    Blanks,
}

const fn hole(path: &'static str, fill: Fill) -> Hole {
    Hole { path, fill }
}

pub(super) const CHAT: &[Hole] = &[
    hole("choices[0].delta.content", Fill::Text),
    hole("choices[0].delta.reasoning_content", Fill::Text),
    hole("choices[0].delta.reasoning", Fill::Text),
    hole("choices[0].delta.reasoning_details[0].text", Fill::Text),
    hole("choices[0].delta.refusal", Fill::Text),
    hole("choices[0].message.content", Fill::Text),
    hole("choices[0].text", Fill::Text),
    hole("choices[0].delta.tool_calls[0].function.arguments", Fill::Text),
    hole("choices[0].delta.tool_calls[0].index", Fill::Name),
    hole("choices[0].index", Fill::Name),
    hole("id", Fill::Word),
    hole("obfuscation", Fill::Word),
    hole("created", Fill::Digits),
    hole("choices[0].token_id", Fill::Digits),
    hole("choices[0].delta.token_id", Fill::Digits),
];

pub(super) const RESPONSES: &[Hole] = &[
    hole("delta", Fill::Text),
    hole("obfuscation", Fill::Word),
    hole("sequence_number", Fill::Count),
    hole("item_id", Fill::Name),
    hole("output_index", Fill::Name),
    hole("content_index", Fill::Name),
    hole("summary_index", Fill::Name),
];

pub(super) const MESSAGES: &[Hole] = &[
    hole("delta.text", Fill::Text),
    hole("delta.thinking", Fill::Text),
    hole("delta.partial_json", Fill::Text),
    hole("index", Fill::Name),
    hole("", Fill::Blanks),
];
