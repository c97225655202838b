//! The calls of a choice: how many leave, for its finish reason, and those that leave before it.

use super::Accounts;
use crate::block::BlockKey;
use crate::delta::{CallDelta, Delta, DeltaKind, Text};

/// The calls of a choice, for its finish reason.
#[derive(Debug, Default)]
pub(crate) struct ChoiceAccount {
    /// Whether the queue has let a call pass, or dropped it: what stands before a finish does not depend on what was read behind it.
    pub(crate) had_call: bool,
    /// How many calls the queue has let pass, and how many were added.
    pub(crate) calls_left: usize,
    /// Its finish is on its way.
    pub(super) finished: bool,
    /// Something of it was dropped or edited.
    pub(crate) touched: bool,
    /// Calls that were written as text and leave as structured ones, before the choice finishes.
    pub(crate) promoted: Vec<CallDelta>,
}

impl Accounts {
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
