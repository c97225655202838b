//! Text that a policy inserts, and its place (rule 21).

use std::time::Duration;

use super::StageState;
use crate::delta::{Channel, DeltaKind, Text};
use crate::engine::queue::{Mark, Queued, Waiting, edited, inserted_text};
use crate::record::Action;
use crate::wire::Fate;

impl StageState {
    /// Inserts text. Within a call there is no place for text, which then waits for the end of the call (rule 21). Numbered blocks may overlap;
    /// their writers find the place.
    pub(super) fn insert(&mut self, choice: u32, text: Text) {
        self.speaks = true;
        self.note(None, Action::Inserted, None, text.len(), Duration::ZERO);
        if self.has_open_call(choice) {
            self.deferred.push((choice, text));
        } else {
            self.queue_text(choice, text);
        }
    }

    /// Inserts the texts that waited for the end of a call, where the call has ended.
    pub(super) fn insert_deferred(&mut self) {
        if self.deferred.is_empty() {
            return;
        }
        for (choice, text) in std::mem::take(&mut self.deferred) {
            if self.has_open_call(choice) {
                self.deferred.push((choice, text));
            } else {
                self.queue_text(choice, text);
            }
        }
    }

    /// Returns whether inserted text joins the current part: where the format repeats a text in copies, only text of the block itself can stand
    /// within it.
    pub(super) fn joins(&mut self) -> bool {
        let part = self.part().map(|part| &part.delta.kind);
        let is_content = matches!(part, Some(DeltaKind::Text { channel: Channel::Content, .. }));
        is_content && self.fold.format.traits().restates
    }

    /// Joins inserted text to the current part, if the part is sent. Returns whether it is.
    pub(super) fn join(&mut self, waiting: Waiting, text: &str, before: bool) -> bool {
        let joins = self.joins() && waiting.mark == Mark::Decided;
        let Some(part) = self.part().filter(|part| joins && part.fate != Fate::Dropped) else { return false };
        let Some(key) = part.key else { return false };
        let DeltaKind::Text { text: said, .. } = &mut part.delta.kind else { return false };
        *said = if before { format!("{text}{said}") } else { format!("{said}{text}") }.into();
        part.fate = edited(part.fate);
        self.accounts.get_mut(key).edited += 1;
        self.note(Some(key), Action::Inserted, None, text.len(), Duration::ZERO);
        true
    }

    /// Returns whether a call of the choice is open, of which a part was or may be written.
    pub(super) fn has_open_call(&self, choice: u32) -> bool {
        self.fold
            .open_calls(choice)
            .any(|key| self.accounts.get(key).is_some_and(crate::engine::accounts::Account::stands))
    }

    fn queue_text(&mut self, choice: u32, text: Text) {
        let part = inserted_text(choice, text);
        match self.under_way() {
            Some(under_way) => under_way.insert(part),
            None => self.queue.push(Queued::made(part)),
        }
    }
}
