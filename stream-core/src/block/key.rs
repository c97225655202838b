//! The names of blocks.

use std::fmt;

/// Names a block. Opaque, unique in its stream, and the only name that effects take: ids and indices are what the
/// provider sent (rule 6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey(pub(crate) u32);

impl BlockKey {
    /// The key of block `index` in a stage. Stages fold on their own, and what one of them dropped is still
    /// accounted for by the writer, so keys must not repeat between them.
    pub(crate) fn new(stage: u8, index: u32) -> Self {
        Self(u32::from(stage) << INDEX_BITS | index)
    }

    /// The stage that folded it.
    pub(crate) fn stage(self) -> usize {
        (self.0 >> INDEX_BITS) as usize
    }

    /// Where the block stands in its stage's state.
    pub(crate) fn index(self) -> usize {
        (self.0 & ((1 << INDEX_BITS) - 1)) as usize
    }
}

impl fmt::Debug for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index())
    }
}

impl fmt::Display for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.index())
    }
}

/// How many bits of a key number the block within its stage; the rest number the stage.
const INDEX_BITS: u32 = 26;

/// The most blocks a stage can name.
pub(crate) const MAX_BLOCKS: usize = 1 << INDEX_BITS;

/// The most stages a stream can have.
pub(crate) const MAX_STAGES: usize = 1 << (u32::BITS - INDEX_BITS);
