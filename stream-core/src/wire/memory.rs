//! What a reader remembers of the frames before: whether a frame is plain depends on them (rule 28).

use super::{Odd, anthropic, openai_responses};

/// What the frames before have said.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Whether frames are held against those before. Where nobody looks at them, they are not.
    pub(crate) is_on: bool,
    pub(crate) messages: anthropic::Order,
    pub(crate) responses: openai_responses::Order,
}

/// When a frame goes on: blocks that take turns go on one after the other, where some clients give what a block says to
/// the one that opened last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Lane {
    /// Now.
    #[default]
    Now,
    /// When the blocks before it have ended; a new lane starts with this frame.
    Opens,
    /// With the lane of this number.
    In(u64),
    /// Now, and behind it that many lanes which waited.
    Then(usize),
    /// After all that waits.
    Last,
    /// After the one frame that waits, which was not plain for this reason.
    After(Option<Odd>),
}
