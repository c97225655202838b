//! The values of a plain text frame that may differ from one frame to the next without another meaning.

/// A value of a frame that may differ in the next frame without changing the meaning of that frame, its text aside.
///
/// The engine compares a frame with the one before it, byte by byte, outside of the holes of the format. A value that is not
/// listed never becomes a hole, however often it differs: a `finish_reason` or a `role` changes the meaning of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hole {
    /// The path of the value, in keys and positions: `choices[0].delta.content`.
    pub path: &'static str,
    /// The values that are allowed there.
    pub fill: Fill,
}

impl Hole {
    /// The hole at a path.
    #[must_use]
    pub const fn new(path: &'static str, fill: Fill) -> Self {
        Self { path, fill }
    }
}

/// The values that are allowed in a [`Hole`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fill {
    /// The text of the frame's one delta, or its piece of a call's arguments: a string that is not empty. Where a frame has
    /// several, all of them are the same.
    Text,
    /// A string without a meaning to the engine and to clients.
    Word,
    /// A number of one to fifteen digits without a meaning to the engine and to clients.
    Digits,
    /// A number of one to fifteen digits that grows from frame to frame.
    Count,
    /// A string, or a number of one to fifteen digits, that names the block: the same value in all frames of a block, and
    /// another value in the frames of the next block.
    Name,
    /// Blanks before the last brace of the document; the path is empty.
    Blanks,
}

pub(super) const CHAT: &[Hole] = &[
    Hole::new("choices[0].delta.content", Fill::Text),
    Hole::new("choices[0].delta.reasoning_content", Fill::Text),
    Hole::new("choices[0].delta.reasoning", Fill::Text),
    Hole::new("choices[0].delta.reasoning_details[0].text", Fill::Text),
    Hole::new("choices[0].delta.refusal", Fill::Text),
    Hole::new("choices[0].message.content", Fill::Text),
    Hole::new("choices[0].text", Fill::Text),
    Hole::new("choices[0].delta.tool_calls[0].function.arguments", Fill::Text),
    Hole::new("choices[0].delta.tool_calls[0].index", Fill::Name),
    Hole::new("choices[0].index", Fill::Name),
    Hole::new("id", Fill::Word),
    Hole::new("obfuscation", Fill::Word),
    Hole::new("created", Fill::Digits),
    Hole::new("choices[0].token_id", Fill::Digits),
    Hole::new("choices[0].delta.token_id", Fill::Digits),
];

pub(super) const RESPONSES: &[Hole] = &[
    Hole::new("delta", Fill::Text),
    Hole::new("obfuscation", Fill::Word),
    Hole::new("sequence_number", Fill::Count),
    Hole::new("item_id", Fill::Name),
    Hole::new("output_index", Fill::Name),
    Hole::new("content_index", Fill::Name),
    Hole::new("summary_index", Fill::Name),
];

pub(super) const MESSAGES: &[Hole] = &[
    Hole::new("delta.text", Fill::Text),
    Hole::new("delta.thinking", Fill::Text),
    Hole::new("delta.partial_json", Fill::Text),
    Hole::new("index", Fill::Name),
    Hole::new("", Fill::Blanks),
];
