//! Blocks: what a stream is folded into.

use std::fmt;

use crate::delta::{CallFlavor, Channel, Runs, Text};

/// Names a block. Opaque, unique in its stream, and the only name that effects take: ids and indices are what the
/// provider sent (rule 6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockKey(pub(crate) u32);

impl fmt::Debug for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

impl fmt::Display for BlockKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}
