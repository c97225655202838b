//! Blocks that the format numbers, opens and closes itself (Anthropic, Responses).

use crate::assembler::copies;
use crate::assembler::fold::{Class, Fold, Transition};
use crate::block::{BlockKey, BlockStatus, StreamBlock};
use crate::delta::{CallDelta, Channel, Restated, Slot};
use crate::error::{Error, ErrorKind, late};

impl Fold {
    pub(super) fn numbered_text(
        &mut self,
        choice: u32,
        item: u32,
        part: u32,
        channel: Channel,
        text: &str,
    ) -> Result<Transition, Error> {
        let key = match self.at(item, part, Class::Text(channel)) {
            Some(key) if self.state.blocks[key.index()].status() != BlockStatus::Open => {
                return Err(late(key));
            }
            Some(key) => key,
            None => self.open_text(choice, item, part, channel)?,
        };
        self.append(key, text)?;
        Ok(Transition::Folded(Some(key)))
    }

    pub(super) fn numbered_call(
        &mut self,
        choice: u32,
        item: u32,
        part: u32,
        call: &mut CallDelta,
    ) -> Result<Transition, Error> {
        if call.starts {
            if let Some(key) = self.occupant(item, part, Class::Other) {
                return Ok(self.complete_first(key));
            }
        } else if let Some(key) = self.at(item, part, Class::Other) {
            return self.continue_call(key, call);
        } else {
            call.unopened = true;
        }
        let key = self.open_call(choice, None, call)?;
        self.place(item, part, Class::Other, key);
        Ok(Transition::Folded(Some(key)))
    }

    pub(super) fn start(&mut self, choice: u32, slot: Slot, channel: Channel) -> Result<Transition, Error> {
        let Slot::At { item, part } = slot else {
            return Ok(Transition::Folded(None));
        };
        if let Some(key) = self.occupant(item, part, Class::Text(channel)) {
            return Ok(self.complete_first(key));
        }
        Ok(Transition::Folded(Some(self.open_text(choice, item, part, channel)?)))
    }

    /// Folds the explicit end of a block, or of an item with all its blocks.
    pub(super) fn stop(&mut self, choice: u32, slot: Slot) -> Transition {
        match slot {
            Slot::At { item, part: Slot::ITEM } => {
                let blocks = &self.state.blocks;
                let open = self.items.get_mut(item).and_then(|item| {
                    // A block that has ended needs no other check.
                    let ended = |key: &BlockKey| blocks[key.index()].status() != BlockStatus::Open;
                    while item.blocks.front().is_some_and(ended) {
                        item.blocks.pop_front();
                    }
                    item.blocks.front().copied()
                });
                open.map_or(Transition::Folded(None), |key| self.complete_first(key))
            }
            Slot::At { item, part } => {
                let mut open = self.all_numbered(item, part).filter(|key| self.is_open(*key));
                let Some(key) = open.next() else {
                    return Transition::Folded(self.numbered(item, part));
                };
                let more = open.next().is_some();
                drop(open);
                if more { self.complete_first(key) } else { self.complete_with(key) }
            }
            _ => {
                let call = self.open_calls(choice).next();
                call.map_or(Transition::Folded(None), |key| self.complete_with(key))
            }
        }
    }

    /// Opens a block that is first seen in a copy: the copy is its payload (rule 19).
    pub(super) fn open_from_copy(
        &mut self,
        choice: u32,
        item: u32,
        part: u32,
        copy: &mut Restated,
    ) -> Result<Transition, Error> {
        let body = copy.body.as_deref().unwrap_or_default();
        if copy.name.is_none() && body.is_empty() {
            return Ok(Transition::Folded(None));
        }
        if self.state.terminal {
            return Err(Error::new(
                ErrorKind::AfterTerminal,
                "expected no delta after the terminal marker, found a new block",
            ));
        }
        copy.is_first = true;
        let key = if let (Some(runs), Some(kind)) = (copy.runs, copy.name.clone()) {
            let key = self.open_opaque(choice, kind, runs)?;
            self.place(item, part, Class::Other, key);
            self.check_copy(key, copy)?;
            key
        } else if copy.name.is_some() {
            let call = CallDelta {
                id: copy.id.clone(),
                name: copy.name.clone(),
                arguments: copy.body.clone(),
                flavor: copy.flavor,
                starts: true,
                ..CallDelta::default()
            };
            let key = self.open_call(choice, None, &call)?;
            self.place(item, part, Class::Other, key);
            key
        } else {
            let channel = self.items.get(item).map_or(Channel::Content, |item| item.channel);
            let body = copy.body.clone().unwrap_or_default();
            let key = self.open_text(choice, item, part, channel)?;
            self.append(key, &body)?;
            key
        };
        Ok(Transition::Folded(Some(key)))
    }

    /// Compares a copy with its block.
    pub(super) fn check_copy(&mut self, key: BlockKey, copy: &mut Restated) -> Result<(), Error> {
        let (keep, limit) = (self.keeps(key), self.settings.limits.block);
        copies::check(&mut self.state.blocks[key.index()], copy, keep, limit)
    }

    /// Opens a text in a numbered slot.
    fn open_text(&mut self, choice: u32, item: u32, part: u32, channel: Channel) -> Result<BlockKey, Error> {
        let key = self.open(choice, |key| StreamBlock::new_text(channel, key, choice))?;
        self.place(item, part, Class::Text(channel), key);
        Ok(key)
    }

    pub(super) fn place(&mut self, item: u32, part: u32, class: Class, key: BlockKey) {
        self.put(item, part, class, key);
        let block = &mut self.state.blocks[key.index()];
        block.head_mut().numbered = true;
        if let Some(known) = self.choices.get_mut(block.choice()) {
            known.leave_running(key);
        }
        if let Some(item) = self.items.get_mut(item) {
            item.blocks.push_back(key);
        }
    }

    /// The block in a numbered slot, whatever its kind.
    pub(super) fn numbered(&self, item: u32, part: u32) -> Option<BlockKey> {
        self.all_numbered(item, part).next()
    }

    fn all_numbered(&self, item: u32, part: u32) -> impl Iterator<Item = BlockKey> + '_ {
        const CLASSES: [Class; 4] = [
            Class::Other,
            Class::Text(Channel::Content),
            Class::Text(Channel::Reasoning),
            Class::Text(Channel::Refusal),
        ];
        CLASSES.into_iter().filter_map(move |class| self.at(item, part, class))
    }

    /// The open block that a new start in its slot ends: one server never stops the first block.
    fn occupant(&self, item: u32, part: u32, class: Class) -> Option<BlockKey> {
        self.at(item, part, class).filter(|key| self.is_open(*key))
    }
}
