//! Counters that a host can export.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use stream_core::record::{StagedView, StepView, VerdictView};
use stream_core::{Decision, Error, Observer};

/// Counts over all streams it observes. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub struct Metrics(Arc<Mutex<Counts>>);

#[derive(Debug, Default)]
struct Counts {
    decisions: BTreeMap<(String, &'static str, bool), Count>,
    streams: u64,
    errors: u64,
    held_now: usize,
    held_max: usize,
    held_grown: u64,
}

#[derive(Debug, Default)]
struct Count {
    count: u64,
    bytes: u64,
    held: Duration,
    held_max: Duration,
}

/// The counts at one time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Snapshot {
    /// Decisions, by policy, action and whether they took place.
    pub decisions: Vec<Counted>,
    /// The number of observed streams.
    pub streams: u64,
    /// The number of streams that an error closed.
    pub errors: u64,
    /// The number of bytes that all streams hold now. A gauge.
    pub held_bytes: usize,
    /// The most bytes that one stream held back at once.
    pub held_bytes_max: usize,
    /// By how many bytes the held bytes have grown, all growth added up: what was held back, whatever became of it.
    pub held_bytes_grown: u64,
}

/// Decisions of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Counted {
    /// The name of the policy.
    pub policy: String,
    /// The [word](stream_core::Action::word) for the action, such as `dropped`.
    pub action: &'static str,
    /// `true` if the decisions were carried out; `false` for dry runs.
    pub enforced: bool,
    /// The number of decisions.
    pub count: u64,
    /// The number of bytes of frames that the decisions were about.
    pub bytes: u64,
    /// The sum of the times for which those bytes were held.
    pub held: Duration,
    /// The longest that some were held.
    pub held_max: Duration,
}

impl Metrics {
    /// Creates metrics with all counts at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An observer for one stream.
    #[must_use]
    pub fn observer(&self) -> MetricsObserver {
        self.lock().streams += 1;
        MetricsObserver { metrics: self.clone(), held: 0 }
    }

    /// The counts now.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let counts = self.lock();
        let decisions = counts.decisions.iter().map(|((policy, action, enforced), count)| Counted {
            policy: policy.clone(),
            action,
            enforced: *enforced,
            count: count.count,
            bytes: count.bytes,
            held: count.held,
            held_max: count.held_max,
        });
        Snapshot {
            decisions: decisions.collect(),
            streams: counts.streams,
            errors: counts.errors,
            held_bytes: counts.held_now,
            held_bytes_max: counts.held_max,
            held_bytes_grown: counts.held_grown,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Observes one stream for [`Metrics`]. What it holds is no longer counted when it is dropped.
#[derive(Debug)]
pub struct MetricsObserver {
    metrics: Metrics,
    held: usize,
}

impl MetricsObserver {
    fn held(&mut self, held: usize) {
        if held == self.held {
            return;
        }
        let mut counts = self.metrics.lock();
        counts.held_now = counts.held_now - self.held + held;
        counts.held_max = counts.held_max.max(held);
        counts.held_grown += held.saturating_sub(self.held) as u64;
        self.held = held;
    }
}

impl Observer for MetricsObserver {
    fn step(&mut self, step: &StepView<'_>) {
        self.held(step.held);
    }

    fn staged(&mut self, staged: &StagedView<'_>) {
        self.held(staged.held);
    }

    fn verdict(&mut self, verdict: &VerdictView<'_>) {
        self.held(verdict.held);
    }

    fn decision(&mut self, decision: &Decision) {
        let mut counts = self.metrics.lock();
        let key = (decision.policy.clone(), decision.action.word(), decision.enforced);
        let count = counts.decisions.entry(key).or_default();
        count.count += 1;
        count.bytes += decision.bytes as u64;
        count.held += decision.held;
        count.held_max = count.held_max.max(decision.held);
    }

    fn error(&mut self, _: &Error) {
        self.metrics.lock().errors += 1;
    }
}

impl Drop for MetricsObserver {
    fn drop(&mut self) {
        self.held(0);
    }
}
