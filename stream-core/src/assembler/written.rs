//! Calls that were written as text: each is one whole delta, between the texts around it.

use std::sync::Arc;

use crate::assembler::fold::{Class, Fold, Transition};
use crate::block::{BlockKey, Head, OpaqueBlock, StreamBlock};
use crate::delta::{Channel, Runs, Slot};
use crate::error::Error;
use crate::text_calls::{UNPARSED, UnparsedCall};

impl Fold {
    /// Folds a call, or text that began like a call and is none. The call ends the running text before it; a numbered text
    /// goes on behind it.
    pub(super) fn written(
        &mut self,
        choice: u32,
        number: Option<u32>,
        open: impl FnOnce(&mut Self) -> Result<BlockKey, Error>,
    ) -> Result<Transition, Error> {
        if let Some(key) = self.next_to_end(choice, true, |_| true) {
            return Ok(self.complete_first(key));
        }
        let key = open(self)?;
        if let Some(number) = number {
            self.written.insert(number, key);
        }
        Ok(self.complete_with(key))
    }

    /// Opens an opaque block for text that began like a call and is none.
    pub(super) fn open_unparsed(
        &mut self,
        choice: u32,
        unparsed: &Arc<UnparsedCall>,
    ) -> Result<BlockKey, Error> {
        let key = self.open(choice, |key| {
            let (head, kind, runs) = (Head::new(key, choice), UNPARSED.into(), Runs::Unknown);
            let unparsed = Some(Arc::clone(unparsed));
            StreamBlock::Opaque(OpaqueBlock { unparsed, ..OpaqueBlock::new(head, kind, runs) })
        })?;
        self.state.blocks[key.index()].head_mut().bytes = unparsed.text().len();
        Ok(key)
    }

    /// The numbered text block that a call was written in.
    pub(crate) fn host(&self, slot: Slot) -> Option<BlockKey> {
        let Slot::At { item, part } = slot else { return None };
        let channels = [Channel::Content, Channel::Refusal, Channel::Reasoning];
        channels.into_iter().find_map(|channel| self.at(item, part, Class::Text(channel)))
    }
}
