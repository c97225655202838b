//! The end of a stage: its policy failed, or its input has ended.

use std::time::Duration;

use super::StageState;
use crate::engine::accounts::Settled;
use crate::engine::queue::{Queued, inserted_call};
use crate::record::{Action, Cause};
use crate::wire::Outgoing;

impl StageState {
    /// Bypasses a policy that failed open: held parts are released in order, and no hook is called again.
    pub(crate) fn bypass(&mut self, now: Duration, out: &mut Vec<Outgoing>) {
        self.bypassed = true;
        self.cause = Cause::PolicyFailed;
        for key in self.accounts.waiting() {
            self.accounts.get_mut(key).pending = None;
            self.settle(key, Settled::Release, Some("the policy failed open".into()), now);
        }
        if let Some(mut waiting) = self.take_shown().and_then(|shown| shown.part) {
            if let Some(key) = self.payload_at_hand() {
                self.send(key, &mut waiting, None, now);
            }
            self.queue(waiting);
        }
        self.queue.release(&mut self.accounts, out);
    }

    /// Closes the stage: drops held parts and, unless the stream `finished`, annotations whose payload never followed. With `abrupt`, also drops
    /// what waits behind held parts, and the endings of the upstream. Returns whether a part was dropped.
    pub(crate) fn close(
        &mut self,
        finished: bool,
        abrupt: bool,
        now: Duration,
        out: &mut Vec<Outgoing>,
    ) -> bool {
        self.cause = Cause::StreamEnded;
        let looks = !self.needs.is_nothing() && !self.bypassed;
        let mut dropped = looks && !finished && self.queue.drop_ahead(&self.accounts);
        if dropped {
            let reason = Some("what it speaks of never came".into());
            self.note(None, Action::Dropped, reason, 0, Duration::ZERO);
        }
        if abrupt {
            if let Some(frame) = self.ends_after {
                // The output must not depend on the time that the judge took (rule 12).
                self.queue.forget_after(frame);
            }
            self.queue.drop_endings();
            self.queue.release(&mut self.accounts, out);
            self.queue.abandon(&mut self.accounts);
        }
        for key in self.accounts.waiting() {
            self.accounts.get_mut(key).pending = None;
            self.settle(key, Settled::Drop { notice: None }, Some("still held at the end".into()), now);
            dropped = true;
        }
        self.accounts.close_all(self.fold.state.blocks().len(), abrupt);
        self.queue.no_more(u64::MAX);
        if !abrupt {
            self.insert_deferred();
        }
        self.queue.release(&mut self.accounts, out);
        let promoted = self.accounts.take_all_promoted();
        if abrupt {
            dropped |= !promoted.is_empty();
        } else if !promoted.is_empty() {
            // The stream has no finish before which they could stand.
            self.queue.push(Queued::new(None, promoted.into_iter().map(inserted_call).collect()));
            self.queue.release(&mut self.accounts, out);
        }
        dropped
    }

    /// Ends a dry run, of which no hook is called again. With `drops`, held parts are dropped and recorded.
    pub(crate) fn retire(&mut self, drops: bool, now: Duration) {
        self.cut_input();
        if drops {
            self.close(true, true, now, &mut Vec::new());
        }
        self.bypassed = true;
    }

    /// Returns whether the stage is a dry run that has ended.
    pub(crate) fn is_retired(&self) -> bool {
        self.watching && self.bypassed
    }

    /// Drops the input that was not stepped through, and the step whose hook did not return.
    pub(crate) fn cut_input(&mut self) {
        if let Some(desk) = &mut self.desk {
            desk.input.clear();
            desk.input_bytes = 0;
        }
        if let Some(mut waiting) = self.take_shown().and_then(|shown| shown.part) {
            if let Some(key) = self.payload_at_hand() {
                self.discard(key, &mut waiting, "the hook did not return");
            }
            self.queue(waiting);
        }
        let under_way = self.desk.as_mut().and_then(|desk| desk.under_way.take());
        if let Some(under_way) = under_way {
            self.queue.push(under_way.cut());
        }
    }

    /// Completes the next open block, at the end of a finished stream. Returns whether the policy is shown it; `None` if no block is open.
    pub(crate) fn complete_next(&mut self) -> Option<bool> {
        let key = self.fold.complete_next()?;
        self.step += 1;
        self.accounts.get_mut(key).closed = true;
        let choice = self.fold.state.blocks[key.index()].choice();
        Some(self.show_completion(key, Some(choice)))
    }
}
