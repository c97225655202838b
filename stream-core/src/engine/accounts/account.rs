//! The account of one block.

use std::collections::VecDeque;
use std::time::Duration;

use super::{ItemAccount, Ticket};
use crate::block::BlockKey;
use crate::delta::{Channel, Text};
use crate::policy::Replacement;

/// The decisions over one block. The counts are of its payload parts.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub(crate) payload: usize,
    pub(crate) kept: usize,
    pub(crate) dropped: usize,
    pub(crate) edited: usize,
    pub(crate) undecided: usize,
    /// The judge of the block, while it runs.
    pub(crate) pending: Option<Ticket>,
    /// The frame in which the judge was started, by its number in the queue.
    pub(crate) asked_in: Option<u64>,
    /// The block is complete or aborted: no delta of it follows.
    pub(crate) closed: bool,
    /// The opening was dropped, or the content replaced: later parts of the block are dropped.
    pub(crate) gone: bool,
    /// The body that was written, where the format repeats it in copies.
    pub(crate) sent: String,
    /// The name that replaced the name of the call.
    pub(crate) renamed: Option<Text>,
    pub(crate) choice: u32,
    pub(crate) item: Option<u32>,
    /// The texts in which the block was written, and the blocks that were written in it.
    pub(super) written: Option<Box<WrittenText>>,
    pub(crate) is_call: bool,
    /// The queue has passed or dropped the first part of the call.
    pub(super) has_passed: bool,
    /// The block is a call of which nothing is written. A call that is replaced is not lost.
    pub(super) lost_call: bool,
    /// A policy needs the block, and may edit it.
    pub(crate) watched: bool,
    pub(crate) channel: Option<Channel>,
    /// The held parts, if a part was ever held.
    pub(super) held: Option<Box<HeldParts>>,
}

/// The relation of a block to texts in which calls were found.
#[derive(Debug, Default)]
pub(super) struct WrittenText {
    /// The tags around the block, where calls or reasoning were written as text.
    pub(super) section: Option<u32>,
    /// The numbered texts in which the block was written: a call may continue in the next one.
    pub(super) hosts: Vec<BlockKey>,
    /// The counts of the blocks that were written in this text, whose opening, end and copies also hold them.
    pub(super) guests: ItemAccount,
    pub(super) guests_touched: bool,
}

/// The held parts of a block, and the outcomes of earlier ones.
#[derive(Debug, Default)]
pub(super) struct HeldParts {
    /// The parts that are held, the oldest first.
    pub(super) parts: VecDeque<HeldPart>,
    pub(super) outcomes: Vec<(u64, Settled)>,
}

impl Account {
    /// Returns whether the first part of the block is not decided yet.
    pub(crate) fn is_opening(&self) -> bool {
        self.payload == 1 && !self.stands() && self.dropped == 0
    }

    /// Returns whether a part of the block was or may be written.
    pub(crate) fn stands(&self) -> bool {
        self.kept > 0 || self.undecided > 0
    }

    /// Returns whether a part of the block, or of a block written in it, was dropped or edited.
    pub(crate) fn is_touched(&self) -> bool {
        self.is_touched_itself() || self.written.as_ref().is_some_and(|written| written.guests_touched)
    }

    /// Returns whether a part of the block itself was dropped or edited.
    pub(crate) fn is_touched_itself(&self) -> bool {
        self.dropped > 0 || self.edited > 0
    }

    /// Returns whether the block, or a block written in it, has payload.
    pub(crate) fn has_payload(&self) -> bool {
        self.payload > 0 || self.guests().is_some_and(|guests| guests.payload > 0)
    }

    /// Returns whether a part of the block, or of a block written in it, is held or dropped.
    pub(crate) fn is_short(&self) -> bool {
        self.payload > self.kept || self.guests().is_some_and(|guests| guests.payload > guests.kept)
    }

    /// Returns whether a part of the block, or of a block written in it, is written to the client.
    pub(crate) fn leaves(&self) -> bool {
        self.kept > 0 || self.guests().is_some_and(|guests| guests.kept > 0)
    }

    /// Returns whether a part of the block, or of a block written in it, is held.
    pub(crate) fn waits(&self) -> bool {
        self.undecided > 0 || self.guests().is_some_and(|guests| guests.undecided > 0)
    }

    /// Returns whether every part so far is kept or dropped.
    pub(crate) fn is_decided(&self) -> bool {
        self.payload <= self.kept + self.dropped
    }

    /// Whether some of it has left, and nothing of it waits.
    pub(crate) fn is_running(&self) -> bool {
        let is_free = self.pending.is_none() && !self.gone && !self.closed && !self.waits();
        is_free && self.kept > 0 && self.is_decided() && self.hosts().is_empty()
    }

    /// The outcome of the part that was held at `seq`, if it is settled.
    pub(crate) fn outcome(&self, seq: u64) -> Option<&Settled> {
        let outcomes = &self.held.as_ref()?.outcomes;
        let at = outcomes.partition_point(|(through, _)| *through < seq);
        outcomes.get(at).map(|(_, outcome)| outcome)
    }

    fn guests(&self) -> Option<&ItemAccount> {
        self.written.as_ref().map(|written| &written.guests)
    }

    pub(super) fn hosts(&self) -> &[BlockKey] {
        self.written.as_ref().map_or(&[], |written| &written.hosts)
    }

    pub(super) fn section(&self) -> Option<u32> {
        self.written.as_ref()?.section
    }
}

/// A held part.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldPart {
    pub(super) seq: u64,
    pub(super) bytes: usize,
    pub(super) since: Duration,
}

/// The bytes of held parts, and the time since which the oldest was held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) bytes: usize,
    pub(crate) since: Duration,
}

/// The outcome of held parts of a block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Settled {
    Release,
    /// One part is written with other content.
    Edit(Text),
    Drop {
        notice: Option<Text>,
    },
    Replace(Replacement),
    /// The block is dropped, and a text takes its place.
    Say(Text),
    /// A call that was written as text becomes a structured call with this id.
    Promote {
        id: Text,
    },
}
