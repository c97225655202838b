//! What was decided over one block.

use std::collections::VecDeque;
use std::time::Duration;

use super::{ItemAccount, Ticket};
use crate::block::BlockKey;
use crate::delta::{Channel, Text};
use crate::policy::Replacement;

/// What was decided over one block. The counts are of its payload parts.
#[derive(Debug, Default)]
pub(crate) struct Account {
    pub(crate) payload: usize,
    pub(crate) kept: usize,
    pub(crate) dropped: usize,
    pub(crate) edited: usize,
    pub(crate) undecided: usize,
    /// The decision the block is under.
    pub(crate) pending: Option<Ticket>,
    /// The frame in which it was put under a decision, by its number in the queue.
    pub(crate) asked_in: Option<u64>,
    /// No more of it comes: complete or aborted.
    pub(crate) closed: bool,
    /// Its opening was dropped or its content replaced: nothing of it that comes later leaves.
    pub(crate) gone: bool,
    /// What left of it, where the format says it again later.
    pub(crate) sent: String,
    /// What it was replaced with.
    pub(crate) renamed: Option<Text>,
    pub(crate) choice: u32,
    pub(crate) item: Option<u32>,
    /// What it was written into, and what was written into it.
    pub(super) written: Option<Box<WrittenText>>,
    pub(crate) is_call: bool,
    /// The queue has let the first part of the call pass, or dropped it.
    pub(super) has_passed: bool,
    /// It is a call of which nothing leaves: one that is replaced is not.
    pub(super) lost_call: bool,
    /// A policy looks at it, so that it may be edited.
    pub(crate) watched: bool,
    pub(crate) channel: Option<Channel>,
    /// What was held of it, if anything was.
    pub(super) held: Option<Box<HeldParts>>,
}

/// A text in another one.
#[derive(Debug, Default)]
pub(super) struct WrittenText {
    /// The tags around calls or reasoning, written as text, in which it stands.
    pub(super) section: Option<u32>,
    /// The numbered texts in which it was written: a call may go on in the next one.
    pub(super) hosts: Vec<BlockKey>,
    /// What was written into this text: its openings, ends and copies stand around that, too.
    pub(super) guests: ItemAccount,
    pub(super) guests_touched: bool,
}

/// What was held of a block.
#[derive(Debug, Default)]
pub(super) struct HeldParts {
    /// The parts that are held, oldest first.
    pub(super) parts: VecDeque<HeldPart>,
    pub(super) outcomes: Vec<(u64, Settled)>,
}

impl Account {
    /// Whether its first part is being decided over.
    pub(crate) fn is_opening(&self) -> bool {
        self.payload == 1 && !self.stands() && self.dropped == 0
    }

    /// Whether something of it has left or may leave.
    pub(crate) fn stands(&self) -> bool {
        self.kept > 0 || self.undecided > 0
    }

    /// Whether anything of it, or of what was written into it, was dropped or edited.
    pub(crate) fn is_touched(&self) -> bool {
        self.is_touched_itself() || self.written.as_ref().is_some_and(|written| written.guests_touched)
    }

    /// Whether anything of it was dropped or edited, whatever became of what was written into it.
    pub(crate) fn is_touched_itself(&self) -> bool {
        self.dropped > 0 || self.edited > 0
    }

    /// Whether anything came of it, or was written into it.
    pub(crate) fn has_payload(&self) -> bool {
        self.payload > 0 || self.guests().is_some_and(|guests| guests.payload > 0)
    }

    /// Whether something of it, or of what was written into it, leaves.
    pub(crate) fn leaves(&self) -> bool {
        self.kept > 0 || self.guests().is_some_and(|guests| guests.kept > 0)
    }

    /// Whether something of it, or of what was written into it, waits for a decision.
    pub(crate) fn waits(&self) -> bool {
        self.undecided > 0 || self.guests().is_some_and(|guests| guests.undecided > 0)
    }

    /// Whether everything of it that has come so far leaves or was dropped.
    pub(crate) fn is_decided(&self) -> bool {
        self.payload <= self.kept + self.dropped
    }

    /// Whether some of it has left, and nothing of it waits.
    pub(crate) fn is_running(&self) -> bool {
        let is_free = self.pending.is_none() && !self.gone && !self.closed && !self.waits();
        is_free && self.kept > 0 && self.is_decided() && self.hosts().is_empty()
    }

    /// What became of a part that was held at `seq`.
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

/// A part that is held.
#[derive(Debug, Clone, Copy)]
pub(super) struct HeldPart {
    pub(super) seq: u64,
    pub(super) bytes: usize,
    pub(super) since: Duration,
}

/// How much was held, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) bytes: usize,
    pub(crate) since: Duration,
}

/// What became of the held parts of a block.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Settled {
    Release,
    /// One part leaves with other content.
    Edit(Text),
    Drop {
        notice: Option<Text>,
    },
    Replace(Replacement),
    /// Dropped, and a text leaves in its place.
    Say(Text),
    /// A call that was written as text leaves as a structured one with this id.
    Promote {
        id: Text,
    },
}
