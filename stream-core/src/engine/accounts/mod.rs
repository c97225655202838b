//! The decisions over the blocks of a stage.

mod account;
mod calls;
mod holds;

use std::collections::BTreeSet;

pub(crate) use account::{Account, Settled};
use calls::ChoiceAccount;

use crate::block::{BlockKey, StreamBlock};
use crate::few::Few;

/// The name of a judge that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub(crate) u64);

/// The accounts of a stage.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    blocks: Vec<Account>,
    items: Few<ItemAccount>,
    choices: Few<ChoiceAccount>,
    /// The number of calls before the current part, held or not.
    pub(crate) calls_ahead: usize,
    /// Blocks with undecided parts.
    waiting: BTreeSet<BlockKey>,
    /// A terminal marker or an error has passed the stage.
    over: bool,
}

/// The blocks of an item, taken together.
#[derive(Debug, Default)]
pub(crate) struct ItemAccount {
    pub(crate) payload: usize,
    pub(crate) kept: usize,
    pub(crate) undecided: usize,
    pub(crate) closed: bool,
    /// The item was cut off before its first payload.
    pub(crate) gone: bool,
}

/// The surroundings of a block.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Around {
    /// The item of the block.
    pub(crate) item: Option<u32>,
    /// The tags around the block, where calls were written as text.
    pub(crate) section: Option<u32>,
    /// The numbered text in which the block was written.
    pub(crate) host: Option<BlockKey>,
}

impl Accounts {
    pub(crate) fn get(&self, key: BlockKey) -> Option<&Account> {
        self.blocks.get(key.index())
    }

    pub(crate) fn get_mut(&mut self, key: BlockKey) -> &mut Account {
        let index = key.index();
        if index >= self.blocks.len() {
            self.blocks.reserve_exact(usize::from(index == 0));
            self.blocks.resize_with(index + 1, Account::default);
        }
        &mut self.blocks[index]
    }

    pub(crate) fn item(&self, item: u32) -> Option<&ItemAccount> {
        self.items.get(item)
    }

    pub(crate) fn close_item(&mut self, item: u32) {
        self.items.or_default(item).closed = true;
    }

    /// Opens the account of an item.
    pub(crate) fn open_item(&mut self, item: u32) {
        self.items.or_default(item);
    }

    /// Closes the first `blocks` blocks and all items. Where the stream is cut off, openings without payload are dropped.
    pub(crate) fn close_all(&mut self, blocks: usize, abrupt: bool) {
        self.blocks.resize_with(blocks.max(self.blocks.len()), Account::default);
        for account in &mut self.blocks {
            account.closed = true;
            account.gone |= abrupt && !account.has_payload();
        }
        for item in self.items.values_mut() {
            item.closed = true;
            item.gone |= abrupt && item.payload == 0;
        }
    }

    pub(crate) fn choice_mut(&mut self, choice: u32) -> &mut ChoiceAccount {
        self.choices.or_default(choice)
    }

    /// Returns whether a part of the choice was dropped or edited.
    pub(crate) fn is_touched(&self, choice: u32) -> bool {
        self.choices.get(choice).is_some_and(|choice| choice.touched)
    }

    /// Marks a block of which a part was dropped or edited.
    pub(crate) fn touch(&mut self, key: BlockKey) {
        let account = self.get_mut(key);
        let (choice, hosts) = (account.choice, account.hosts().to_vec());
        self.choice_mut(choice).touched = true;
        for host in hosts {
            self.get_mut(host).written.get_or_insert_default().guests_touched = true;
        }
    }

    /// Marks the finish of a choice, or of all.
    pub(crate) fn finish(&mut self, choice: Option<u32>) {
        match choice {
            Some(choice) => self.choice_mut(choice).finished = true,
            None => self.over = true,
        }
    }

    /// Returns whether the choice has finished.
    pub(crate) fn is_over(&self, choice: u32) -> bool {
        self.over || self.choices.get(choice).is_some_and(|choice| choice.finished)
    }

    /// Counts a payload part of a block. Returns whether the part is the first.
    pub(crate) fn came(&mut self, block: &StreamBlock, around: Around, watched: bool) -> bool {
        let key = block.key();
        let account = self.get_mut(key);
        let first = account.payload == 0;
        account.payload += 1;
        if first {
            account.choice = block.choice();
            account.item = around.item;
            if around.section.is_some() || around.host.is_some() {
                let written = account.written.get_or_insert_default();
                written.section = around.section;
                written.hosts.extend(around.host);
            }
            account.watched = watched;
            account.channel = block.channel();
            // A call that was written as text is text to the format: it has no part in its finish reasons.
            account.is_call = block.as_tool_call().is_some_and(|call| call.written().is_none());
            self.calls_ahead += usize::from(account.is_call);
        }
        self.count_around(key, |count| count.payload += 1);
        first
    }

    /// Counts parts of a block that the lane has written.
    pub(crate) fn passed(&mut self, key: BlockKey, parts: usize) {
        let account = self.get_mut(key);
        account.payload += parts;
        account.kept += parts;
        self.count_around(key, |count| {
            count.payload += parts;
            count.kept += parts;
        });
    }

    /// Counts a part that was decided without a hold.
    pub(crate) fn decided(&mut self, key: BlockKey, what: Decided, opener: bool) {
        if what != Decided::Kept {
            self.touch(key);
        }
        let account = self.get_mut(key);
        match what {
            Decided::Kept => account.kept += 1,
            Decided::Edited => {
                account.kept += 1;
                account.edited += 1;
            }
            Decided::Dropped => {
                account.dropped += 1;
                if opener && account.channel.is_none() {
                    self.lose(key);
                }
            }
        }
        if what != Decided::Dropped {
            self.count_around(key, |count| count.kept += 1);
        }
    }

    /// Counts a kept part as dropped.
    pub(crate) fn take_back(&mut self, key: BlockKey, opener: bool) {
        let account = self.get_mut(key);
        account.kept = account.kept.saturating_sub(1);
        self.count_around(key, |count| count.kept = count.kept.saturating_sub(1));
        self.decided(key, Decided::Dropped, opener);
    }

    /// Changes the counts of the item, the tags and the texts around a block.
    fn count_around(&mut self, key: BlockKey, change: impl Fn(&mut ItemAccount)) {
        let account = self.get_mut(key);
        if account.item.is_none() && account.written.is_none() {
            return;
        }
        let (item, section, hosts) = (account.item, account.section(), account.hosts().to_vec());
        for item in [item, section].into_iter().flatten() {
            change(self.items.or_default(item));
        }
        for host in hosts {
            change(&mut self.get_mut(host).written.get_or_insert_default().guests);
        }
    }

    /// Adds a text in which a block continues that was written in an earlier one.
    pub(crate) fn goes_on_in(&mut self, key: BlockKey, host: BlockKey) {
        let account = self.get_mut(key);
        if account.hosts().contains(&host) {
            return;
        }
        account.written.get_or_insert_default().hosts.push(host);
        let (touched, payload) = (account.is_touched_itself(), account.payload);
        let (kept, undecided) = (account.kept, account.undecided);
        let host = self.get_mut(host).written.get_or_insert_default();
        host.guests_touched |= touched;
        host.guests.payload += payload;
        host.guests.kept += kept;
        host.guests.undecided += undecided;
    }
}

/// The decision over one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    Kept,
    Edited,
    Dropped,
}
