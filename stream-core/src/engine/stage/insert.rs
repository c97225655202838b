//! Text that a policy puts into the stream: where it finds its place (rule 21).

use std::time::Duration;

use super::StageState;
use crate::delta::{Channel, DeltaKind, Text};
use crate::engine::queue::{Mark, Queued, Waiting, edited, inserted_text};
use crate::record::Action;
use crate::wire::Fate;

impl StageState {
    /// Inserts text. Inside of a call there is no place: it waits for the call's end (rule 21). Numbered blocks may
    /// overlap, and their writers know where there is a place.
    pub(super) fn insert(&mut self, choice: u32, text: Text) {
        self.speaks = true;
        self.note(None, Action::Inserted, None, text.len(), Duration::ZERO);
        if self.has_open_call(choice) {
            self.deferred.push((choice, text));
        } else {
            self.queue_text(choice, text);
        }
    }

    /// Inserts the texts that waited for the end of a call, as far as it has come.
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

    /// Whether inserted text becomes part of the part at hand: where a text is said again later, only what the text's own block
    /// says can stand inside of it.
    pub(super) fn joins(&mut self) -> bool {
        let part = self.part().map(|part| &part.delta.kind);
        let is_content = matches!(part, Some(DeltaKind::Text { channel: Channel::Content, .. }));
        is_content && self.fold.format.traits().restates
    }

    /// Makes inserted text part of the part at hand, if that leaves; false if it does not.
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

    /// Whether a call of the choice is open, and something of it has left or may leave.
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
