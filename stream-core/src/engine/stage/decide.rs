//! The decision over the current part, if it is payload.

use std::time::Duration;

use super::StageState;
use crate::block::{BlockKey, StreamBlock, TextBlock};
use crate::delta::{DeltaKind, Text};
use crate::engine::accounts::Decided;
use crate::engine::queue::{Mark, Waiting, edited, replace_body};
use crate::record::Action;
use crate::wire::Fate;

impl StageState {
    pub(super) fn send(&mut self, key: BlockKey, waiting: &mut Waiting, edit: Option<Text>, now: Duration) {
        let account = self.accounts.get_mut(key);
        if account.gone || account.pending.is_some() {
            // Nothing of a block is released before the verdict of its judge.
            self.hold(key, waiting, edit, now);
            return;
        }
        let what = self.edit(key, edit);
        if what != Decided::Kept {
            self.note(Some(key), Action::Edited, None, 0, Duration::ZERO);
        }
        self.accounts.decided(key, what, waiting.opener);
    }

    pub(super) fn hold(&mut self, key: BlockKey, waiting: &mut Waiting, edit: Option<Text>, now: Duration) {
        if self.accounts.get_mut(key).gone {
            self.discard(key, waiting, "its opening was dropped");
            return;
        }
        let what = self.edit(key, edit);
        if what != Decided::Kept {
            self.note(Some(key), Action::Edited, None, 0, Duration::ZERO);
        }
        match what {
            Decided::Kept => {}
            Decided::Edited => {
                self.accounts.get_mut(key).edited += 1;
                self.accounts.touch(key);
            }
            Decided::Dropped => return self.accounts.decided(key, Decided::Dropped, waiting.opener),
        }
        self.marks += 1;
        waiting.mark = Mark::Held { seq: self.marks };
        // A call in the text waited for its end before it was shown.
        let waited = self.part().and_then(|part| part.delta.split.as_ref()?.waited);
        let (since, bytes) = waited.unwrap_or((now, self.frame_bytes()));
        self.accounts.held(key, self.marks, bytes, since.min(now));
    }

    /// Decides over payload for which the hook staged no effect.
    pub(super) fn leave_undecided(&mut self, key: BlockKey, waiting: &mut Waiting, now: Duration) {
        if self.accounts.get_mut(key).pending.is_some() {
            self.hold(key, waiting, None, now);
        } else {
            self.discard(key, waiting, "neither sent nor buffered");
        }
    }

    pub(super) fn discard(&mut self, key: BlockKey, waiting: &mut Waiting, reason: &str) {
        if let Some(part) = self.part() {
            part.fate = Fate::Dropped;
        }
        waiting.mark = Mark::Decided;
        self.accounts.decided(key, Decided::Dropped, waiting.opener);
        let bytes = self.frame_bytes();
        self.note(Some(key), Action::Dropped, Some(reason.into()), bytes, Duration::ZERO);
    }

    fn edit(&mut self, key: BlockKey, edit: Option<Text>) -> Decided {
        let Some(body) = edit else { return Decided::Kept };
        let is_signed = self.is_signed(key);
        let Some(part) = self.part() else { return Decided::Kept };
        if is_signed || (body.is_empty() && matches!(part.delta.kind, DeltaKind::Text { .. })) {
            // No empty block is opened.
            part.fate = Fate::Dropped;
            return Decided::Dropped;
        }
        replace_body(&mut part.delta.kind, &body, None);
        part.fate = edited(part.fate);
        Decided::Edited
    }

    /// Returns whether the block has a signature, so that its text can be emptied and not edited (rule 22).
    pub(crate) fn is_signed(&self, key: BlockKey) -> bool {
        let block = self.fold.state.block(key).and_then(StreamBlock::as_text);
        block.is_some_and(TextBlock::is_signed)
    }
}
