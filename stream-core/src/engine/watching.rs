//! Stages whose policies only watch: nothing of theirs takes place, and nobody waits for them before the very end.

use super::Engine;
use crate::record::Action;

impl Engine {
    /// The first stage that enforces; there always is one.
    pub(super) fn first_enforcing(&self) -> usize {
        self.stages.iter().position(|stage| !stage.watching).unwrap_or(0)
    }

    /// Whether a decision is under way that something waits for.
    pub(super) fn is_judging(&self) -> bool {
        self.tickets.values().any(|pending| !self.stages[pending.stage].watching)
    }

    /// The policy would have ended the stream, or failed: it is not called again.
    pub(super) fn retire_watching(&mut self, stage: usize) {
        self.tickets.retain(|pending| pending.stage != stage);
        self.stages[stage].retire(true, self.now);
    }

    /// A later stage ended the stream before this one came to its end.
    pub(super) fn abort_watching(&mut self, stage: usize) {
        if self.stages[stage].watching {
            self.tickets.retain(|pending| pending.stage != stage);
            self.stages[stage].retire(false, self.now);
        }
    }

    /// A stage that watches is bound by the held limit too: one that reaches it would have closed the stream.
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
