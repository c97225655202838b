//! Effects of hooks and verdicts of judges, carried out in a stage.

use std::time::Duration;

use super::desk::UnderWay;
use super::{Asked, Committed, StageState};
use crate::block::{BlockKey, BlockStatus, StreamBlock};
use crate::context::{Effect, EffectError, Effects};
use crate::delta::Text;
use crate::engine::accounts::{Account, Settled, Ticket};
use crate::policy::{Release, Replacement, Verdict, With};
use crate::record::Action;
use crate::wire::{Ending, Outgoing};

impl StageState {
    /// Carries out the effects of a hook.
    pub(crate) fn commit(&mut self, effects: Effects, now: Duration, out: &mut Vec<Outgoing>) -> Committed {
        let shown = self.take_shown();
        let choice = shown.as_ref().and_then(|shown| shown.choice);
        let mut part = shown.and_then(|shown| shown.part);
        // Payload of a step always has a block.
        let block = part.and_then(|_| self.payload_at_hand());
        let payload = block.is_some();
        let mut undecided = payload;
        // An effect on the chunk counts before an effect on its block.
        let spoken_of = effects.decide_chunk();
        // Text to insert before the chunk, if the chunk is sent.
        let mut lead: Option<Text> = None;
        let mut committed = Committed::default();
        for effect in effects.into_list() {
            match effect {
                Effect::Send { edit } => {
                    if let (Some(waiting), Some(key), true) =
                        (&mut part, block, std::mem::take(&mut undecided))
                    {
                        self.send(key, waiting, edit, now);
                        if let Some(text) = lead.take()
                            && !self.join(*waiting, &text, true)
                        {
                            self.insert(choice.unwrap_or(0), text);
                        }
                    }
                }
                Effect::Buffer { edit } => {
                    if let (Some(waiting), Some(key), true) =
                        (&mut part, block, std::mem::take(&mut undecided))
                    {
                        self.hold(key, waiting, edit, now);
                    }
                }
                Effect::Flush => {
                    for key in self.accounts.waiting() {
                        let pending = self.accounts.get(key).is_some_and(|account| account.pending.is_some());
                        if !pending && !self.is_yet_to_be_judged(key) {
                            self.settle(key, Settled::Release, None, now);
                        }
                    }
                }
                Effect::Settle { key, verdict } => {
                    self.overrule(key, &mut committed);
                    if let Some(waiting) = part.as_mut().filter(|_| block == Some(key))
                        && !spoken_of
                        && std::mem::take(&mut undecided)
                    {
                        self.hold(key, waiting, None, now);
                    }
                    committed.terminate = self.apply(key, verdict, now);
                }
                Effect::Release { key, release } => {
                    // The current part is the last of its block.
                    let shown = part.and_then(|_| self.part()).and_then(|part| part.key);
                    let cuts = release.cuts && shown != Some(key);
                    self.release(key, release, now);
                    if cuts {
                        self.cut_behind(key);
                    }
                }
                Effect::Insert(text) => {
                    let text = Text::from(text);
                    if let Some(waiting) = part {
                        if undecided && self.joins() {
                            lead = Some(lead.map_or(text.clone(), |lead| format!("{lead}{text}").into()));
                            continue;
                        }
                        if payload && !undecided && self.join(waiting, &text, false) {
                            continue;
                        }
                    }
                    // A chunk that was sent before the text stands before it.
                    if payload && !undecided {
                        if let Some(lead) = lead.take() {
                            self.insert(choice.unwrap_or(0), lead);
                        }
                        if let Some(waiting) = part.take() {
                            self.queue(waiting);
                        }
                    }
                    self.insert(choice.unwrap_or(0), text);
                }
                Effect::NoPlace { bytes } => {
                    self.note(None, Action::Dropped, Some(NO_PLACE.into()), bytes, Duration::ZERO);
                }
                Effect::Terminate(ending) => {
                    committed.terminate = Some(ending);
                    break;
                }
                Effect::Decide { key, within, otherwise, future } => {
                    // Marked at once, so that an undecided chunk is held.
                    let account = self.accounts.get_mut(key);
                    account.pending = Some(Ticket(u64::MAX));
                    account.asked_in = Some(self.queue.next_arrival());
                    committed.decide.push(Asked { key, within, otherwise, future });
                }
                Effect::SettleAfter { key, time, verdict } => {
                    committed.settle_after.push((key, time, verdict));
                }
            }
        }
        if let Some(text) = lead {
            self.insert(choice.unwrap_or(0), text);
        }
        if let Some(mut waiting) = part {
            if let (Some(key), true) = (block, undecided) {
                self.leave_undecided(key, &mut waiting, now);
            }
            self.queue(waiting);
        }
        if committed.terminate.is_some() {
            // Released parts may free the upstream's ending too, which the policy's ending replaces.
            self.queue.drop_endings();
        }
        self.queue.release(&mut self.accounts, out);
        committed
    }

    /// Checks that a block can be replaced in this way.
    pub(crate) fn takes(&self, key: BlockKey, with: &Replacement) -> Result<(), EffectError> {
        let block = self.fold.state.block(key);
        block.map_or(Ok(()), |block| block.takes(with, self.fold.format.traits()))
    }

    /// Carries out the verdict of a judge. Returns the ending, if the stream ends.
    pub(crate) fn verdict(
        &mut self,
        key: BlockKey,
        verdict: Verdict,
        now: Duration,
        out: &mut Vec<Outgoing>,
    ) -> Option<Ending> {
        let account = self.accounts.get_mut(key);
        account.pending = None;
        if matches!(verdict, Verdict::Terminate(_)) {
            self.ends_after = account.asked_in;
        }
        let ending = self.apply(key, verdict, now);
        self.queue.release(&mut self.accounts, out);
        ending
    }

    /// Settles a block. Returns the ending, if the stream ends.
    fn apply(&mut self, key: BlockKey, verdict: Verdict, now: Duration) -> Option<Ending> {
        match verdict {
            Verdict::Release => self.settle(key, Settled::Release, None, now),
            Verdict::Drop { reason, notice } => {
                self.speaks |= notice.is_some();
                let notice = notice.map(Text::from);
                self.settle(key, Settled::Drop { notice }, Some(reason), now);
                // The verdict is also over deltas to come. A complete block that has left whole has nothing to drop.
                let goes_on =
                    self.fold.state.block(key).is_some_and(|block| block.status() == BlockStatus::Open);
                if goes_on || self.accounts.get(key).is_some_and(Account::is_short) {
                    self.accounts.lose(key);
                }
            }
            Verdict::Replace(with) => self.replace(key, with, now),
            Verdict::Terminate(ending) => return Some(ending),
        }
        None
    }

    /// Drops the judge of a block that the policy settles itself.
    pub(super) fn overrule(&mut self, key: BlockKey, committed: &mut Committed) {
        if let Some(ticket) = self.accounts.get_mut(key).pending.take() {
            committed.decide.retain(|asked| asked.key != key);
            committed.settled.push(ticket);
        }
    }

    /// Returns whether the block is an open call while another block completes: a flush at that completion does not release it (rule 1).
    pub(super) fn is_yet_to_be_judged(&self, key: BlockKey) -> bool {
        let block = &self.fold.state.blocks[key.index()];
        let goes_on = block.status() == BlockStatus::Open && block.channel().is_none();
        goes_on && self.fold.state.completed.is_some_and(|completed| completed != key)
    }

    /// Settles the held parts of a block.
    pub(super) fn settle(&mut self, key: BlockKey, outcome: Settled, reason: Option<String>, now: Duration) {
        if self.accounts.get(key).is_some_and(|account| account.pending.is_some()) {
            // The verdict of the judge decides, not a flush meanwhile.
            return;
        }
        let outcome = match outcome {
            Settled::Replace(_) if self.is_signed(key) => Settled::Drop { notice: None },
            outcome => outcome,
        };
        let action = match &outcome {
            Settled::Release => Action::Released,
            Settled::Drop { .. } => Action::Dropped,
            Settled::Edit(_) | Settled::Replace(_) | Settled::Say(_) | Settled::Promote { .. } => {
                Action::Edited
            }
        };
        if let Some(hold) = self.accounts.settle(key, outcome) {
            self.note(Some(key), action, reason, hold.bytes, now.saturating_sub(hold.since));
        }
    }

    fn replace(&mut self, key: BlockKey, mut with: Replacement, now: Duration) {
        let reason = with.reason.take();
        let is_text = self.fold.state.block(key).is_some_and(|block| block.channel().is_some());
        let outcome = match with.with {
            With::Text(text) if !is_text => {
                self.speaks = true;
                Settled::Say(text.into())
            }
            With::Structured { id } => Settled::Promote { id: id.into() },
            _ => Settled::Replace(with),
        };
        self.settle(key, outcome, reason, now);
    }

    fn cut_behind(&mut self, key: BlockKey) {
        let Some(choice) = self.fold.state.block(key).map(StreamBlock::choice) else { return };
        let under_way = self.desk.as_mut().and_then(|desk| desk.under_way.as_mut());
        let last = under_way.into_iter().flat_map(UnderWay::stepped);
        self.queue.cut_behind(key, choice, last, &mut self.accounts);
        self.note(Some(key), Action::Dropped, Some("behind a text that was cut".into()), 0, Duration::ZERO);
    }

    /// Releases the oldest held parts of a block, each unchanged or with other content.
    fn release(&mut self, key: BlockKey, release: Release, now: Duration) {
        let Release { texts, reason, .. } = release;
        if self.accounts.get(key).is_some_and(|account| account.pending.is_some()) {
            return;
        }
        let is_text = self.fold.state.block(key).is_some_and(|block| block.channel().is_some());
        for text in texts {
            let is_edit = text.is_some();
            let outcome = match text {
                None => Settled::Release,
                // As for a sent chunk: no empty block is opened.
                Some(text) if (is_text && text.is_empty()) || self.is_signed(key) => {
                    Settled::Drop { notice: None }
                }
                Some(text) => Settled::Edit(text.into()),
            };
            let Some(hold) = self.accounts.settle_first(key, outcome) else { return };
            if is_edit {
                let held = now.saturating_sub(hold.since);
                self.note(Some(key), Action::Edited, reason.clone(), hold.bytes, held);
            }
        }
    }
}

/// The reason in the record of a text without a place.
pub(crate) const NO_PLACE: &str = "there was no place for the text";
