//! The block of a delta, as the wire names it.

/// The block of a delta, as the wire names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Slot {
    /// No block.
    None,
    /// The running text of the delta's channel: consecutive text of one channel is one block, and any other delta of the choice ends it
    /// (chat, Gemini).
    Run,
    /// The transcript of spoken audio: running content, in a block of its own.
    Speech,
    /// A call named by index and id, either of which may be missing, repeated or wrong (chat; Gemini without both).
    Call {
        /// The index the provider sent, if it sent one.
        index: Option<u64>,
    },
    /// A numbered block that the format opens and closes itself (Anthropic `index`; Responses `output_index` and
    /// the part within).
    At {
        /// Anthropic `index`, Responses `output_index`.
        item: u32,
        /// The part within the item; [`Slot::ITEM`] is the item itself.
        part: u32,
    },
}

impl Slot {
    /// The `part` that stands for the item as a whole: an envelope around the blocks of its parts.
    pub const ITEM: u32 = u32::MAX;

    /// The slot of a numbered block without parts.
    #[must_use]
    pub const fn item(item: u32) -> Self {
        Self::At { item, part: 0 }
    }
}
