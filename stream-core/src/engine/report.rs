//! Records, and calls of the observer.

use std::time::Duration;

use super::Engine;
use crate::block::BlockKey;
use crate::engine::shutdown::Shutdown;
use crate::engine::stage::StageState;
use crate::engine::stage::commit::NO_PLACE;
use crate::record::{Action, Cause, Decision, Staged, StagedView, VerdictView};

impl Engine {
    /// Records a decision over the whole stream.
    pub(super) fn record(&mut self, stage: usize, action: Action, reason: String) {
        let now = self.now;
        let stage = &mut self.stages[stage];
        // The record of an early end counts all that was held by then.
        let hold = stage.accounts.all_held().filter(|_| action == Action::Terminated);
        let cause = match action {
            Action::Failed => Cause::PolicyFailed,
            Action::Normalised => Cause::Wire,
            _ => Cause::Verdict,
        };
        stage.decisions.push(Decision {
            reason: Some(reason),
            bytes: hold.map_or(0, |hold| hold.bytes),
            held: hold.map_or(Duration::ZERO, |hold| now.saturating_sub(hold.since)),
            enforced: !stage.watching,
            ..Decision::new(&*stage.name, action, cause)
        });
    }

    /// Records texts of policies for which the answer had no place.
    pub(super) fn record_unplaced(&mut self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        let speaks = |stage: &StageState| stage.speaks && !stage.watching;
        let stage = self.stages.iter().rposition(speaks).unwrap_or_else(|| self.first_enforcing());
        self.record(stage, Action::Dropped, NO_PLACE.to_owned());
        if let Some(decision) = self.stages[stage].decisions.last_mut() {
            decision.bytes = bytes;
        }
    }

    /// Shows the observer the bytes that wait for the host, from this position on.
    pub(super) fn report_written(&mut self, first: usize) {
        if let Some(observer) = &mut self.observer {
            self.out.bytes[first..].iter().for_each(|bytes| observer.written(bytes));
        }
    }

    pub(super) fn report_staged(&mut self, stage: usize, at_end: bool, effects: &[Staged]) {
        let held = self.held();
        let end = self.shutdown.as_deref().map(Shutdown::end).filter(|_| at_end);
        if let (Some(observer), Some(of)) = (&mut self.observer, self.stages.get(stage)) {
            observer.staged(&StagedView { stage, policy: &of.name, end, effects, held });
        }
    }

    pub(super) fn report_verdict(&mut self, stage: usize, block: BlockKey) {
        let held = self.held();
        if let (Some(observer), Some(of)) = (&mut self.observer, self.stages.get(stage)) {
            observer.verdict(&VerdictView { stage, policy: &of.name, block, held });
        }
    }

    pub(super) fn report_error(&mut self) {
        if let (Some(observer), Some(error)) = (&mut self.observer, &self.error) {
            observer.error(error);
        }
    }
}
