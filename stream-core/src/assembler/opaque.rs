//! Blocks that are neither text nor calls that the client runs.

use crate::assembler::fold::{Class, Fold, Transition};
use crate::block::{BlockKey, BlockStatus, Head, OpaqueBlock, StreamBlock};
use crate::delta::{Runs, Slot, Text};
use crate::error::{Error, late};

impl Fold {
    pub(super) fn opaque(
        &mut self,
        choice: u32,
        slot: Slot,
        kind: Text,
        runs: Runs,
        bytes: usize,
    ) -> Result<Transition, Error> {
        // An event of an item as a whole is of its first block, if there is one.
        let place = match slot {
            Slot::At { item, part: Slot::ITEM } => self.numbered(item, 0).map(|_| (item, 0)),
            Slot::At { item, part } => Some((item, part)),
            _ => None,
        };
        let Some((item, part)) = place else {
            if let Some(key) = self.next_to_end(choice, false, |_| true) {
                return Ok(self.complete_first(key));
            }
            let key = self.open_opaque(choice, kind, runs)?;
            self.state.blocks[key.index()].head_mut().bytes = bytes;
            // An opaque delta without a place is a whole block.
            return Ok(self.complete_with(key));
        };
        let key = match self.numbered(item, part) {
            Some(key) => {
                let block = &self.state.blocks[key.index()];
                if block.status() != BlockStatus::Open && block.as_tool_call().is_some() {
                    return Err(late(key));
                }
                key
            }
            None => {
                let key = self.open_opaque(choice, kind, runs)?;
                self.place(item, part, Class::Other, key);
                key
            }
        };
        self.state.blocks[key.index()].head_mut().bytes += bytes;
        Ok(Transition::Folded(Some(key)))
    }

    pub(super) fn open_opaque(&mut self, choice: u32, kind: Text, runs: Runs) -> Result<BlockKey, Error> {
        self.open(choice, |key| StreamBlock::Opaque(OpaqueBlock::new(Head::new(key, choice), kind, runs)))
    }
}
