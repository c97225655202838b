//! Dry runs: the stream neither changes by them nor waits for them before its end.

use super::Engine;
use crate::record::Action;

impl Engine {
    /// The first enforced stage, which every stream has.
    pub(super) fn first_enforcing(&self) -> usize {
        self.stages.iter().position(|stage| !stage.watching).unwrap_or(0)
    }

    /// Returns whether a judge of an enforced stage runs.
    pub(super) fn is_judging(&self) -> bool {
        self.tickets.values().any(|pending| !self.stages[pending.key.stage()].watching)
    }

    /// Ends a dry run whose policy failed, or would have ended the stream: no hook of it is called again.
    pub(super) fn retire_watching(&mut self, stage: usize) {
        self.tickets.retain(|pending| pending.key.stage() != stage);
        self.stages[stage].retire(true, self.now);
    }

    /// Ends a dry run because a later stage ended the stream.
    pub(super) fn abort_watching(&mut self, stage: usize) {
        if self.stages[stage].watching {
            self.tickets.retain(|pending| pending.key.stage() != stage);
            self.stages[stage].retire(false, self.now);
        }
    }

    /// Ends every dry run that holds more than the limit, and so would have closed the stream.
    pub(super) fn relieve_watching(&mut self) {
        let limit = self.config.shared.limits.held;
        for stage in 0..self.stages.len() {
            if self.stages[stage].watching && self.stages[stage].held() > limit {
                let message = format!("limit: expected at most {limit} bytes held back, found more");
                self.record(stage, Action::Failed, message);
                self.retire_watching(stage);
            }
        }
    }
}
