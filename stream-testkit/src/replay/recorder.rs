//! Writes down what happens.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use stream_core::record::{StagedView, StepView, VerdictView};
use stream_core::{BlockKey, Decision, Error, Observer};
use tokio::time::Instant;

use super::{Shown, Step};

/// Writes down what happens, and when. Clones write to the same place.
#[derive(Debug, Clone)]
pub(super) struct Recorder {
    start: Instant,
    shared: Arc<Mutex<Recorded>>,
}

/// What was written down.
#[derive(Debug, Default)]
pub(super) struct Recorded {
    pub(super) steps: Vec<(Duration, Step)>,
    pub(super) held_max: usize,
    /// The blocks of which something was shown.
    seen: HashSet<BlockKey>,
}

impl Recorder {
    pub(super) fn new(start: Instant) -> Self {
        Self { start, shared: Arc::default() }
    }

    /// The client got bytes. This is seen from its side: keep-alives beside a waiting hook are seen nowhere else.
    pub(super) fn out(&self, bytes: &Bytes) {
        self.push(Step::Out(bytes.clone()), 0);
    }

    pub(super) fn take(&self) -> Recorded {
        std::mem::take(&mut *self.lock())
    }

    fn push(&self, step: Step, held: usize) {
        let at = self.start.elapsed();
        let mut recorded = self.lock();
        recorded.steps.push((at, step));
        recorded.held_max = recorded.held_max.max(held);
    }

    fn lock(&self) -> MutexGuard<'_, Recorded> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Recorder {
    fn input(&mut self, frame: &[u8]) {
        self.push(Step::In(Bytes::copy_from_slice(frame)), 0);
    }

    fn step(&mut self, step: &StepView<'_>) {
        let block = step.chunk.block().filter(|_| step.chunk.is_payload());
        let opens = block.is_some_and(|block| self.lock().seen.insert(block));
        self.push(Step::Shown(Shown::of(step, opens)), step.held);
    }

    fn staged(&mut self, staged: &StagedView<'_>) {
        let &StagedView { stage, policy, end, effects, held, .. } = staged;
        let (policy, effects) = (policy.to_owned(), effects.to_vec());
        self.push(Step::Staged { stage, policy, end: end.cloned(), effects, held }, held);
    }

    fn verdict(&mut self, verdict: &VerdictView<'_>) {
        let &VerdictView { stage, policy, block, held, .. } = verdict;
        self.push(Step::Judged { stage, policy: policy.to_owned(), block, held }, held);
    }

    fn decision(&mut self, decision: &Decision) {
        self.push(Step::Decided(decision.clone()), 0);
    }

    fn written(&mut self, bytes: &[u8]) {
        self.push(Step::Written(Bytes::copy_from_slice(bytes)), 0);
    }

    fn error(&mut self, error: &Error) {
        self.push(Step::Closed(error.clone()), 0);
    }
}
