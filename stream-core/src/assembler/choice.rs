//! What the fold knows of a choice, beside its blocks.

use std::collections::{BTreeSet, VecDeque};

use crate::assembler::calls::OpenCalls;
use crate::block::BlockKey;
use crate::delta::Channel;

#[derive(Debug, Default)]
pub(super) struct FoldedChoice {
    /// Every open block.
    pub(super) open: BTreeSet<BlockKey>,
    /// The open texts without a number, one for each channel at most: the start of another block completes them.
    pub(super) texts: Vec<BlockKey>,
    /// Its calls, where it has any.
    pub(super) calls: Option<Box<FoldedCalls>>,
    pub(super) last: Option<BlockKey>,
    /// The content so far, for copies of all of it.
    pub(super) content: Vec<BlockKey>,
    pub(super) content_bytes: usize,
}

#[derive(Debug, Default)]
pub(super) struct FoldedCalls {
    /// The open calls without a number.
    pub(super) open: BTreeSet<BlockKey>,
    /// Those of them to which something came since another block last asked whether they are whole: no other has to be
    /// asked again.
    pub(super) touched: BTreeSet<BlockKey>,
    pub(super) named: OpenCalls,
    /// A call of the older form has opened, which a choice has one of.
    pub(super) legacy: bool,
    /// Calls that no finish has come after, and the last of all.
    pub(super) unfinished: Vec<BlockKey>,
    pub(super) last: Option<BlockKey>,
}

#[derive(Debug)]
pub(super) struct FoldedItem {
    pub(super) channel: Channel,
    /// The blocks that are open, or were when the item's end was last asked for.
    pub(super) blocks: VecDeque<BlockKey>,
}

impl FoldedChoice {
    /// A block is numbered or complete: the start of another one does not end it.
    pub(super) fn leave_running(&mut self, key: BlockKey) {
        self.texts.retain(|text| *text != key);
        if let Some(calls) = &mut self.calls {
            calls.open.remove(&key);
            calls.touched.remove(&key);
        }
    }
}
