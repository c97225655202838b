//! What becomes of one payload part.

use std::time::Duration;

use super::StageState;
use crate::block::{BlockKey, StreamBlock, TextBlock};
use crate::delta::{DeltaKind, Text};
use crate::engine::accounts::Decided;
use crate::engine::queue::{Mark, Waiting, edited, replace_body};
use crate::record::Action;
use crate::wire::Fate;

impl StageState {
    pub(super) fn send(&mut self, waiting: &mut Waiting, edit: Option<Text>, now: Duration) {
        let Some(key) = waiting.part.key else { return };
        if self.accounts.get_mut(key).gone {
            self.discard(waiting, "its opening was dropped");
            return;
        }
        if self.accounts.get(key).is_some_and(|account| account.pending.is_some()) {
            // Under a decision nothing leaves before the verdict.
            self.hold(waiting, edit, now);
            return;
        }
        let what = self.edit(waiting, edit);
        if what != Decided::Kept {
            self.note(Some(key), Action::Edited, None, 0, Duration::ZERO);
        }
        self.accounts.decided(key, what, waiting.opener);
    }

    pub(super) fn hold(&mut self, waiting: &mut Waiting, edit: Option<Text>, now: Duration) {
        let Some(key) = waiting.part.key else { return };
        if self.accounts.get_mut(key).gone {
            self.discard(waiting, "its opening was dropped");
            return;
        }
        match self.edit(waiting, edit) {
            Decided::Kept => {}
            Decided::Edited => {
                self.accounts.get_mut(key).edited += 1;
                self.accounts.touch(key);
                self.note(Some(key), Action::Edited, None, 0, Duration::ZERO);
            }
            Decided::Dropped => {
                self.note(Some(key), Action::Edited, None, 0, Duration::ZERO);
                self.accounts.decided(key, Decided::Dropped, waiting.opener);
                return;
            }
        }
        self.marks += 1;
        waiting.mark = Mark::Held { seq: self.marks };
        let frame = self.under_way().map_or(0, |under_way| under_way.queued.bytes());
        // A call in the text waited for its end before anybody was shown it.
        let waited = waiting.part.delta.site.split.and_then(|split| split.waited);
        let (since, bytes) = waited.unwrap_or((now, frame));
        self.accounts.held(key, self.marks, bytes, since.min(now));
    }

    /// The hook said nothing of its payload.
    pub(super) fn leave_undecided(&mut self, waiting: &mut Waiting, now: Duration) {
        let pending =
            waiting.part.key.and_then(|key| self.accounts.get(key)).is_some_and(|l| l.pending.is_some());
        if pending {
            self.hold(waiting, None, now);
        } else {
            self.discard(waiting, "neither sent nor buffered");
        }
    }

    pub(super) fn discard(&mut self, waiting: &mut Waiting, reason: &str) {
        waiting.part.fate = Fate::Dropped;
        waiting.mark = Mark::Decided;
        let bytes = self.under_way().map_or(0, |under_way| under_way.queued.bytes());
        if let Some(key) = waiting.part.key {
            self.accounts.decided(key, Decided::Dropped, waiting.opener);
            self.note(Some(key), Action::Dropped, Some(reason.into()), bytes, Duration::ZERO);
        }
    }

    pub(super) fn edit(&self, waiting: &mut Waiting, edit: Option<Text>) -> Decided {
        let Some(body) = edit else { return Decided::Kept };
        let emptied = body.is_empty() && matches!(waiting.part.delta.kind, DeltaKind::Text { .. });
        if emptied || waiting.part.key.is_some_and(|key| self.is_signed(key)) {
            // Nothing is left of it: no empty block is to be opened for it.
            waiting.part.fate = Fate::Dropped;
            return Decided::Dropped;
        }
        replace_body(&mut waiting.part.delta.kind, &body, None);
        waiting.part.fate = edited(waiting.part.fate);
        Decided::Edited
    }

    /// Whether a signature stands for the block's text, so that it can be emptied and not edited (rule 22).
    pub(super) fn is_signed(&self, key: BlockKey) -> bool {
        let block = self.fold.state.block(key).and_then(StreamBlock::as_text);
        block.is_some_and(TextBlock::is_signed)
    }
}
