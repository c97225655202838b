//! Calls that were written as text: each comes whole, between the texts around it.

use crate::assembler::fold::{Class, Fold, Transition};
use crate::block::BlockKey;
use crate::delta::{Channel, Slot};
use crate::error::Error;

impl Fold {
    /// A call, or what began like one and is none. It ends the running text before it; a numbered text goes on behind it.
    pub(super) fn written(
        &mut self,
        choice: u32,
        number: Option<u32>,
        open: impl FnOnce(&mut Self) -> Result<BlockKey, Error>,
    ) -> Result<Transition, Error> {
        if let Some(key) = self.next_to_end(choice, |_| true) {
            self.complete(key);
            return Ok(Transition::Completed(key));
        }
        let key = open(self)?;
        if let Some(number) = number {
            self.written.insert(number, key);
        }
        self.complete(key);
        self.state.completed = Some(key);
        Ok(Transition::Folded(Some(key)))
    }

    /// The numbered block of text in which something was written.
    pub(crate) fn host(&self, slot: Slot) -> Option<BlockKey> {
        let Slot::At { item, part } = slot else { return None };
        self.slots.get(&(item, part, Class::Text(Channel::Content))).copied()
    }
}
