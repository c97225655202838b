//! Keys of blocks.

use std::fmt;

/// The key of a block, unique in its stream. Effects name blocks by their keys alone, since the ids and indices of a provider may repeat
/// ([rule 6](crate::guide::rules#rule-6)).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey(pub(crate) u32);

impl BlockKey {
    /// The key of block `index` in a stage. Each stage has a fold of its own, and the writer still accounts for blocks that an earlier stage
    /// dropped, so keys must not repeat between stages.
    pub(crate) fn new(stage: u8, index: u32) -> Self {
        Self(u32::from(stage) << INDEX_BITS | index)
    }

    /// The stage whose fold made the block.
    pub(crate) fn stage(self) -> usize {
        (self.0 >> INDEX_BITS) as usize
    }

    /// The position of the block in the state of its stage.
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

/// The number of bits of a key for the block within its stage; the other bits are the number of the stage.
const INDEX_BITS: u32 = 26;

/// The largest number of blocks of a stage.
pub(crate) const MAX_BLOCKS: usize = 1 << INDEX_BITS;

/// The largest number of stages of a stream.
pub(crate) const MAX_STAGES: usize = 1 << (u32::BITS - INDEX_BITS);
