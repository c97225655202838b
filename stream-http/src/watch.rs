//! Whether a policy has ended an answer.

use std::sync::{Arc, OnceLock};

use stream_core::record::{StagedView, StepView, VerdictView};
use stream_core::{Decision, Ending, Error, Observer};

/// Tells whether a policy has ended the answer, or something closed it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Watch(Arc<Seen>);

#[derive(Debug, Default)]
struct Seen {
    blocked: OnceLock<Ending>,
    error: OnceLock<Error>,
}

impl Watch {
    /// The ending of a policy that ended the answer.
    pub(crate) fn blocked(&self) -> Option<&Ending> {
        self.0.blocked.get()
    }

    /// Why the answer was closed.
    pub(crate) fn error(&self) -> Option<&Error> {
        self.0.error.get()
    }
}

/// An observer that tells a [`Watch`], and the host's own behind it.
pub(crate) struct Watched {
    watch: Watch,
    inner: Option<Box<dyn Observer>>,
}

impl Watched {
    pub(crate) fn new(watch: Watch, inner: Option<Box<dyn Observer>>) -> Self {
        Self { watch, inner }
    }
}

impl Observer for Watched {
    fn input(&mut self, frame: &[u8]) {
        if let Some(inner) = &mut self.inner {
            inner.input(frame);
        }
    }

    fn step(&mut self, step: &StepView<'_>) {
        if let Some(inner) = &mut self.inner {
            inner.step(step);
        }
    }

    fn staged(&mut self, staged: &StagedView<'_>) {
        if let Some(inner) = &mut self.inner {
            inner.staged(staged);
        }
    }

    fn verdict(&mut self, verdict: &VerdictView<'_>) {
        if let Some(inner) = &mut self.inner {
            inner.verdict(verdict);
        }
    }

    fn decision(&mut self, decision: &Decision) {
        // A policy that is not enforced ends nothing, and of the others only the first.
        if let (Some(ending), true) = (&decision.ending, decision.enforced) {
            self.watch.0.blocked.get_or_init(|| (**ending).clone());
        }
        if let Some(inner) = &mut self.inner {
            inner.decision(decision);
        }
    }

    fn written(&mut self, bytes: &[u8]) {
        if let Some(inner) = &mut self.inner {
            inner.written(bytes);
        }
    }

    fn output(&mut self, bytes: &[u8]) {
        if let Some(inner) = &mut self.inner {
            inner.output(bytes);
        }
    }

    fn error(&mut self, error: &Error) {
        self.watch.0.error.get_or_init(|| error.clone());
        if let Some(inner) = &mut self.inner {
            inner.error(error);
        }
    }
}
