//! Decisions in memory.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stream_core::{Decision, Observer};

/// Keeps the last decisions of all streams it observes. Clones share them.
#[derive(Debug, Clone)]
pub struct Recorder(Arc<RecorderInner>);

#[derive(Debug)]
struct RecorderInner {
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    decisions: VecDeque<Decision>,
    forgotten: u64,
}

impl Recorder {
    /// Keeps at most so many decisions; the oldest are forgotten first.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self(Arc::new(RecorderInner { capacity, kept: Mutex::default() }))
    }

    /// An observer for one stream.
    #[must_use]
    pub fn observer(&self) -> RecorderObserver {
        RecorderObserver(self.clone())
    }

    /// The decisions that are kept, the oldest first.
    #[must_use]
    pub fn decisions(&self) -> Vec<Decision> {
        self.lock().decisions.iter().cloned().collect()
    }

    /// Takes the decisions that are kept, the oldest first.
    #[must_use]
    pub fn take(&self) -> Vec<Decision> {
        std::mem::take(&mut self.lock().decisions).into()
    }

    /// The number of decisions that were forgotten, since the recorder was full.
    #[must_use]
    pub fn forgotten(&self) -> u64 {
        self.lock().forgotten
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.0.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Observes one stream for a [`Recorder`].
#[derive(Debug)]
pub struct RecorderObserver(Recorder);

impl Observer for RecorderObserver {
    fn decision(&mut self, decision: &Decision) {
        let mut kept = self.0.lock();
        kept.decisions.push_back(decision.clone());
        if kept.decisions.len() > self.0.0.capacity {
            kept.decisions.pop_front();
            kept.forgotten += 1;
        }
    }
}
