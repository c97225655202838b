//! The completion of blocks and the finish of choices (rules 2 to 4).

use crate::assembler::choice::FoldedChoice;
use crate::assembler::fold::{Fold, Transition};
use crate::block::{BlockKey, BlockStatus, StreamBlock};
use crate::delta::{FinishKind, FinishReason};
use crate::error::Error;

impl Fold {
    /// Completes the next open block, at the end of a finished stream.
    pub(crate) fn complete_next(&mut self) -> Option<BlockKey> {
        let key = self.complete_one(None);
        self.state.current = key;
        self.state.completed = key;
        if key.is_none() {
            self.mark_calls_finished(None, false);
        }
        key
    }

    /// Completes a block on the word of the stage before; false if the block was complete.
    pub(crate) fn complete_told(&mut self, key: BlockKey) -> bool {
        if self.state.blocks[key.index()].status() != BlockStatus::Open {
            return false;
        }
        self.complete(key);
        self.state.current = Some(key);
        self.state.completed = Some(key);
        true
    }

    pub(super) fn finish(&mut self, choice: u32, reason: FinishReason) -> Result<(), Error> {
        self.see_choice(choice)?;
        let cut = matches!(reason.kind(), FinishKind::Length | FinishKind::Filter | FinishKind::Error);
        self.mark_calls_finished(Some(choice), cut);
        for (known, last) in &mut self.state.finishes {
            if *known == choice {
                *last = Some(reason);
                break;
            }
        }
        Ok(())
    }

    /// Records that a finish or a terminal marker follows every call of the choice, or of all choices.
    pub(super) fn mark_calls_finished(&mut self, choice: Option<u32>, cut: bool) {
        let blocks = &mut self.state.blocks;
        let mut mark = |known: &mut FoldedChoice| {
            let Some(calls) = &mut known.calls else { return };
            for key in calls.unfinished.drain(..) {
                if let StreamBlock::ToolCall(call) = &mut blocks[key.index()] {
                    call.finish_seen = true;
                }
            }
            if let (Some(key), true) = (calls.last, cut)
                && let StreamBlock::ToolCall(call) = &mut blocks[key.index()]
            {
                call.cut_short = true;
            }
        };
        match choice {
            Some(choice) => self.choices.get_mut(choice).into_iter().for_each(mark),
            None => self.choices.iter_mut().for_each(|(_, known)| mark(known)),
        }
    }

    /// Completes one open block of the choice, or of any: the caller steps again until there is none.
    pub(super) fn complete_one(&mut self, choice: Option<u32>) -> Option<BlockKey> {
        let key = match choice {
            Some(choice) => *self.choices.get(choice)?.open.first()?,
            None => self.choices.values().filter_map(|known| known.open.first().copied()).min()?,
        };
        self.complete(key);
        Some(key)
    }

    /// Completes a block because of a delta, which is folded in the next step.
    pub(super) fn complete_first(&mut self, key: BlockKey) -> Transition {
        self.complete(key);
        Transition::Completed(key)
    }

    /// Completes the block that a delta was folded into.
    pub(super) fn complete_with(&mut self, key: BlockKey) -> Transition {
        self.complete(key);
        self.state.completed = Some(key);
        Transition::Folded(Some(key))
    }

    fn complete(&mut self, key: BlockKey) {
        let block = &mut self.state.blocks[key.index()];
        block.head_mut().status = BlockStatus::Complete;
        let choice = block.choice();
        if let StreamBlock::ToolCall(call) = block
            && let Some(joined) = self.format.join_arguments(&call.arguments)
        {
            call.arguments = joined;
            call.joined = true;
        }
        if let Some(known) = self.choices.get_mut(choice) {
            known.open.remove(&key);
            known.leave_running(key);
        }
    }

    /// Whether no client takes more deltas for a block that completed because another one started. A call whose arguments are
    /// not kept completes without a check of its arguments: deltas of calls may take turns (rule 5).
    pub(crate) fn is_surely_over(&self, key: BlockKey) -> bool {
        let block = &self.state.blocks[key.index()];
        let ends_itself = block.head().numbered || self.format.traits().arguments_are_json;
        ends_itself || self.keep.calls || block.as_tool_call().is_none()
    }
}
