//! The state of the fold for each choice, beside its blocks.

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
    /// The calls, where there are any.
    pub(super) calls: Option<Box<FoldedCalls>>,
    pub(super) last: Option<BlockKey>,
    /// The content blocks so far, to compare copies of all content with.
    pub(super) content: Vec<BlockKey>,
    pub(super) content_bytes: usize,
}

#[derive(Debug, Default)]
pub(super) struct FoldedCalls {
    /// The open calls without a number.
    pub(super) open: BTreeSet<BlockKey>,
    /// The open calls with new arguments since the last check whether they are whole: no other call needs another check.
    pub(super) touched: BTreeSet<BlockKey>,
    pub(super) named: OpenCalls,
    /// A legacy call has opened; a choice may have one of them.
    pub(super) legacy: bool,
    /// The calls without a finish behind them, and the last of all calls.
    pub(super) unfinished: Vec<BlockKey>,
    pub(super) last: Option<BlockKey>,
}

#[derive(Debug)]
pub(super) struct FoldedItem {
    pub(super) channel: Channel,
    /// The open blocks, and those that were open at the last check for the item's end.
    pub(super) blocks: VecDeque<BlockKey>,
}

impl FoldedChoice {
    /// Removes a numbered or complete block from the running ones: the start of another block does not end it.
    pub(super) fn leave_running(&mut self, key: BlockKey) {
        self.texts.retain(|text| *text != key);
        if let Some(calls) = &mut self.calls {
            calls.open.remove(&key);
            calls.touched.remove(&key);
        }
    }
}
