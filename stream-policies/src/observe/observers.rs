//! Several observers as one.

use std::fmt;

use stream_core::record::{StagedView, StepView, VerdictView};
use stream_core::{Decision, Error, Observer};

/// Several observers of one stream. Each sees everything, in the order they were added.
#[derive(Default)]
#[must_use]
pub struct Observers(Vec<Box<dyn Observer>>);

impl Observers {
    /// Creates a list without observers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an observer.
    pub fn and(mut self, observer: impl Observer + 'static) -> Self {
        self.0.push(Box::new(observer));
        self
    }
}

impl Observer for Observers {
    fn input(&mut self, frame: &[u8]) {
        self.0.iter_mut().for_each(|observer| observer.input(frame));
    }

    fn step(&mut self, step: &StepView<'_>) {
        self.0.iter_mut().for_each(|observer| observer.step(step));
    }

    fn staged(&mut self, staged: &StagedView<'_>) {
        self.0.iter_mut().for_each(|observer| observer.staged(staged));
    }

    fn verdict(&mut self, verdict: &VerdictView<'_>) {
        self.0.iter_mut().for_each(|observer| observer.verdict(verdict));
    }

    fn decision(&mut self, decision: &Decision) {
        self.0.iter_mut().for_each(|observer| observer.decision(decision));
    }

    fn written(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|observer| observer.written(bytes));
    }

    fn output(&mut self, bytes: &[u8]) {
        self.0.iter_mut().for_each(|observer| observer.output(bytes));
    }

    fn error(&mut self, error: &Error) {
        self.0.iter_mut().for_each(|observer| observer.error(error));
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Observers").field(&self.0.len()).finish()
    }
}
