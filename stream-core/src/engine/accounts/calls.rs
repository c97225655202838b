//! The calls of a choice: their count, for the finish reason, and those that are written just before the finish.

use super::Accounts;
use crate::block::BlockKey;
use crate::delta::{CallDelta, Delta, DeltaKind, Text};

/// The account of a choice, for its finish reason.
#[derive(Debug, Default)]
pub(crate) struct ChoiceAccount {
    /// The queue has passed or dropped a call. Calls behind the finish, which may be read already, do not count.
    pub(crate) had_call: bool,
    /// The number of calls that the queue has passed, and that were added.
    pub(crate) calls_left: usize,
    /// The finish has passed the stage.
    pub(super) finished: bool,
    /// A part of the choice was dropped or edited.
    pub(crate) touched: bool,
    /// Calls that were written as text and become structured calls before the finish.
    pub(crate) promoted: Vec<CallDelta>,
}

impl Accounts {
    /// Adds a structured call before the finish of its choice, for a call that was written as text.
    pub(crate) fn promote(&mut self, delta: &Delta, id: Text) {
        let DeltaKind::Call(call) = &delta.kind else { return };
        let CallDelta { name, arguments, .. } = call.clone();
        let call = CallDelta { id: Some(id), name, arguments, starts: true, ..CallDelta::default() };
        self.calls_ahead += 1;
        let choice = self.choice_mut(delta.choice.unwrap_or(0));
        choice.calls_left += 1;
        choice.promoted.push(call);
    }

    /// Takes the structured calls whose choices never finished.
    pub(crate) fn take_all_promoted(&mut self) -> Vec<(u32, CallDelta)> {
        self.take_promoted(&Delta::stream(DeltaKind::Terminal))
    }

    /// Takes the structured calls that stand before this delta, with their choices.
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

    /// Marks a block of which no further part is written.
    pub(crate) fn lose(&mut self, key: BlockKey) {
        let account = self.get_mut(key);
        if !std::mem::replace(&mut account.gone, true) && account.is_call {
            account.lost_call = true;
            let (choice, has_passed) = (account.choice, account.has_passed);
            self.calls_ahead -= 1;
            self.choice_mut(choice).calls_left -= usize::from(has_passed);
        }
    }

    /// Counts a call whose first part the queue passes or drops.
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
