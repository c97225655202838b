//! What was decided over each block of a stage.

use std::collections::{BTreeSet, VecDeque};
use std::time::Duration;

use crate::block::{BlockKey, StreamBlock};
use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Text};
use crate::few::Few;
use crate::policy::{Replacement, With};

/// Names a decision under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(pub(crate) u64);

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
    written: Option<Box<WrittenText>>,
    pub(crate) is_call: bool,
    /// The queue has let the first part of the call pass, or dropped it.
    has_passed: bool,
    /// It is a call of which nothing leaves: one that is replaced is not.
    lost_call: bool,
    /// A policy looks at it, so that it may be edited.
    pub(crate) watched: bool,
    pub(crate) channel: Option<Channel>,
    /// What was held of it, if anything was.
    held: Option<Box<HeldParts>>,
}

/// A text in another one.
#[derive(Debug, Default)]
struct WrittenText {
    /// The tags around calls or reasoning, written as text, in which it stands.
    section: Option<u32>,
    /// The numbered texts in which it was written: a call may go on in the next one.
    hosts: Vec<BlockKey>,
    /// What was written into this text: its openings, ends and copies stand around that, too.
    guests: ItemAccount,
    guests_touched: bool,
}

/// What was held of a block.
#[derive(Debug, Default)]
struct HeldParts {
    /// The parts that are held, oldest first.
    parts: VecDeque<HeldPart>,
    outcomes: Vec<(u64, Settled)>,
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

    /// Whether some of it has left, and all that came of it left as it came.
    pub(crate) fn is_untouched(&self) -> bool {
        let is_free = self.pending.is_none() && !self.gone && !self.closed && !self.waits();
        is_free && self.kept > 0 && self.is_decided() && !self.is_touched() && self.hosts().is_empty()
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

    fn hosts(&self) -> &[BlockKey] {
        self.written.as_ref().map_or(&[], |written| &written.hosts)
    }

    fn section(&self) -> Option<u32> {
        self.written.as_ref()?.section
    }
}

/// A part that is held.
#[derive(Debug, Clone, Copy)]
struct HeldPart {
    seq: u64,
    bytes: usize,
    since: Duration,
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

/// The accounts of a stage.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    blocks: Vec<Account>,
    items: Few<ItemAccount>,
    choices: Few<ChoiceAccount>,
    /// How many calls are ahead of whatever is inserted now, held or on their way.
    pub(crate) calls_ahead: usize,
    /// Blocks with undecided parts.
    waiting: BTreeSet<BlockKey>,
    /// A terminal marker or an error is on its way.
    over: bool,
}

/// The blocks of an item, taken together.
#[derive(Debug, Default)]
pub(crate) struct ItemAccount {
    pub(crate) payload: usize,
    pub(crate) kept: usize,
    pub(crate) undecided: usize,
    pub(crate) closed: bool,
    /// Cut off before anything of it came.
    pub(crate) gone: bool,
}

/// What stands around a block.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Around {
    /// The item it is a part of.
    pub(crate) item: Option<u32>,
    /// Tags that were written as text.
    pub(crate) section: Option<u32>,
    /// The numbered text in which it was written.
    pub(crate) host: Option<BlockKey>,
}

/// The calls of a choice, for its finish reason.
#[derive(Debug, Default)]
pub(crate) struct ChoiceAccount {
    /// Whether the queue has let a call pass, or dropped it: what stands before a finish does not depend on what was read behind it.
    pub(crate) had_call: bool,
    /// How many calls the queue has let pass, and how many were added.
    pub(crate) calls_left: usize,
    /// Its finish is on its way.
    finished: bool,
    /// Something of it was dropped or edited.
    pub(crate) touched: bool,
    /// Calls that were written as text and leave as structured ones, before the choice finishes.
    pub(crate) promoted: Vec<CallDelta>,
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

    /// An item opened.
    pub(crate) fn open_item(&mut self, item: u32) {
        self.items.or_default(item);
    }

    /// No more comes of any of the first `blocks` blocks, nor of any item. Of a stream that is cut off, openings with
    /// nothing behind them do not leave.
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

    /// Whether anything of a choice was dropped or edited.
    pub(crate) fn is_touched(&self, choice: u32) -> bool {
        self.choices.get(choice).is_some_and(|choice| choice.touched)
    }

    /// Something of a block was dropped or edited.
    pub(crate) fn touch(&mut self, key: BlockKey) {
        let account = self.get_mut(key);
        let (choice, hosts) = (account.choice, account.hosts().to_vec());
        self.choice_mut(choice).touched = true;
        for host in hosts {
            self.get_mut(host).written.get_or_insert_default().guests_touched = true;
        }
    }

    /// The finish of a choice, or the end of all, is on its way.
    pub(crate) fn finish(&mut self, choice: Option<u32>) {
        match choice {
            Some(choice) => self.choice_mut(choice).finished = true,
            None => self.over = true,
        }
    }

    /// Whether a choice takes nothing more.
    pub(crate) fn is_over(&self, choice: u32) -> bool {
        self.over || self.choices.get(choice).is_some_and(|choice| choice.finished)
    }

    /// The blocks of which something is held.
    pub(crate) fn waiting(&self) -> Vec<BlockKey> {
        self.waiting.iter().copied().collect()
    }

    /// A payload part of a block came. True if it is the first.
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

    /// As many parts of a block came, and left as they came.
    pub(crate) fn passed(&mut self, key: BlockKey, parts: usize) {
        let account = self.get_mut(key);
        account.payload += parts;
        account.kept += parts;
        self.count_around(key, |count| {
            count.payload += parts;
            count.kept += parts;
        });
    }

    /// Whether anything is held.
    pub(crate) fn any_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// A part was decided at once.
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

    /// All that is held, and since when the oldest of it is.
    pub(crate) fn all_held(&self) -> Option<Hold> {
        let keys = self.waiting.iter();
        let parts = keys
            .filter_map(|key| self.get(*key))
            .filter_map(|account| account.held.as_ref())
            .flat_map(|held| &held.parts);
        parts.fold(None, |all: Option<Hold>, part| {
            let since = all.map_or(part.since, |all| all.since.min(part.since));
            Some(Hold { bytes: all.map_or(0, |all| all.bytes) + part.bytes, since })
        })
    }

    /// A part is held.
    pub(crate) fn held(&mut self, key: BlockKey, seq: u64, bytes: usize, since: Duration) {
        self.waiting.insert(key);
        let account = self.get_mut(key);
        account.undecided += 1;
        account.held.get_or_insert_default().parts.push_back(HeldPart { seq, bytes, since });
        self.count_around(key, |count| count.undecided += 1);
    }

    /// Decides over all that is held of a block. `None` if nothing was held and nothing changes.
    pub(crate) fn settle(&mut self, key: BlockKey, outcome: Settled) -> Option<Hold> {
        self.settle_parts(key, usize::MAX, outcome)
    }

    /// Decides over the oldest part that is held of a block.
    pub(crate) fn settle_first(&mut self, key: BlockKey, outcome: Settled) -> Option<Hold> {
        self.settle_parts(key, 1, outcome)
    }

    fn settle_parts(&mut self, key: BlockKey, count: usize, outcome: Settled) -> Option<Hold> {
        let account = self.get_mut(key);
        let held = account.held.as_mut()?;
        let count = count.min(held.parts.len());
        let first = held.parts.front().map(|part| part.since)?;
        let mut hold = Hold { bytes: 0, since: first };
        let mut through = 0;
        for part in held.parts.drain(..count) {
            hold.bytes += part.bytes;
            through = part.seq;
        }
        account.undecided -= count;
        let is_settled = account.undecided == 0;
        let opening = account.kept == 0;
        let touches = outcome != Settled::Release;
        let kept = match &outcome {
            Settled::Release => {
                account.kept += count;
                count
            }
            Settled::Edit(_) => {
                account.kept += count;
                account.edited += count;
                count
            }
            Settled::Drop { .. } | Settled::Say(_) => {
                account.dropped += count;
                0
            }
            Settled::Promote { .. } => {
                account.dropped += count;
                account.gone = true;
                0
            }
            Settled::Replace(with) => {
                account.kept += 1;
                account.edited += 1;
                account.gone = true;
                account.renamed = with.name.as_deref().map(Text::from);
                1
            }
        };
        // A text of a policy's own stands outside of the tags that were around the call.
        let unwrapped = matches!(&outcome, Settled::Replace(with) if matches!(with.with, With::Written(_)));
        let section = account.section().filter(|_| unwrapped);
        let drops_opening =
            opening && matches!(outcome, Settled::Drop { .. } | Settled::Say(_)) && account.channel.is_none();
        let outcomes = &mut account.held.get_or_insert_default().outcomes;
        match outcomes.last_mut() {
            // Text that is let go bit by bit does not make the list longer.
            Some((last, Settled::Release)) if outcome == Settled::Release => *last = through,
            _ => outcomes.push((through, outcome)),
        }
        if is_settled {
            self.waiting.remove(&key);
        }
        if touches {
            self.touch(key);
        }
        if drops_opening {
            self.lose(key);
        }
        self.count_around(key, |around| {
            around.undecided -= count;
            around.kept += kept;
        });
        if let Some(section) = section {
            self.items.or_default(section).kept -= kept;
        }
        Some(hold)
    }

    /// A part that was to leave does not.
    pub(crate) fn take_back(&mut self, key: BlockKey, opener: bool) {
        let account = self.get_mut(key);
        account.kept = account.kept.saturating_sub(1);
        self.count_around(key, |count| count.kept = count.kept.saturating_sub(1));
        self.decided(key, Decided::Dropped, opener);
    }

    /// Counts also for what stands around a block.
    fn count_around(&mut self, key: BlockKey, change: impl Fn(&mut ItemAccount)) {
        let account = self.get_mut(key);
        let (item, section, hosts) = (account.item, account.section(), account.hosts().to_vec());
        for item in [item, section].into_iter().flatten() {
            change(self.items.or_default(item));
        }
        for host in hosts {
            change(&mut self.get_mut(host).written.get_or_insert_default().guests);
        }
    }

    /// What was written into one text goes on in another.
    pub(crate) fn goes_on_in(&mut self, key: BlockKey, host: BlockKey) {
        let account = self.get_mut(key);
        if account.hosts().contains(&host) {
            return;
        }
        account.written.get_or_insert_default().hosts.push(host);
        let touched = account.is_touched_itself();
        let counts = ItemAccount {
            payload: account.payload,
            kept: account.kept,
            undecided: account.undecided,
            ..ItemAccount::default()
        };
        let host = self.get_mut(host).written.get_or_insert_default();
        host.guests_touched |= touched;
        host.guests.payload += counts.payload;
        host.guests.kept += counts.kept;
        host.guests.undecided += counts.undecided;
    }

    /// A call that was written as text is to leave as a structured one, before its choice finishes.
    pub(crate) fn promote(&mut self, delta: &Delta, id: Text) {
        let DeltaKind::Call(call) = &delta.kind else { return };
        let CallDelta { name, arguments, .. } = call.clone();
        let call = CallDelta { id: Some(id), name, arguments, starts: true, ..CallDelta::default() };
        self.calls_ahead += 1;
        let choice = self.choice_mut(delta.choice.unwrap_or(0));
        choice.calls_left += 1;
        choice.promoted.push(call);
    }

    /// The structured calls whose choices never finished.
    pub(crate) fn take_all_promoted(&mut self) -> Vec<(u32, CallDelta)> {
        self.take_promoted(&Delta::stream(DeltaKind::Terminal))
    }

    /// The structured calls that are to leave before this part, with their choices.
    pub(crate) fn take_promoted(&mut self, delta: &Delta) -> Vec<(u32, CallDelta)> {
        let of = match delta.kind {
            DeltaKind::Finish(_) => delta.choice,
            DeltaKind::Terminal => None,
            _ => return Vec::new(),
        };
        let mut due: Vec<(u32, CallDelta)> = Vec::new();
        for (choice, known) in self.choices.iter_mut() {
            if of.is_none_or(|of| of == choice) {
                due.extend(known.promoted.drain(..).map(|call| (choice, call)));
            }
        }
        due.sort_by_key(|(choice, _)| *choice);
        due
    }

    /// Nothing of the block leaves any more.
    pub(crate) fn lose(&mut self, key: BlockKey) {
        let account = self.get_mut(key);
        if !std::mem::replace(&mut account.gone, true) && account.is_call {
            account.lost_call = true;
            let (choice, has_passed) = (account.choice, account.has_passed);
            self.calls_ahead -= 1;
            self.choice_mut(choice).calls_left -= usize::from(has_passed);
        }
    }

    /// The queue lets the first part of a block pass, or drops it.
    pub(crate) fn opens(&mut self, key: BlockKey) {
        let account = self.get_mut(key);
        if account.is_call && !std::mem::replace(&mut account.has_passed, true) {
            let (choice, lost) = (account.choice, account.lost_call);
            let choice = self.choice_mut(choice);
            choice.had_call = true;
            choice.calls_left += usize::from(!lost);
        }
    }
}

/// What was decided over one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decided {
    Kept,
    Edited,
    Dropped,
}
