//! Decisions to a closure.

use std::fmt;

use stream_core::{Decision, Observer};

/// Hands every decision of a stream to a closure.
pub struct Decisions<F>(F);

impl<F: FnMut(&Decision) + Send> Decisions<F> {
    /// Calls this for every decision, in order.
    pub fn to(sink: F) -> Self {
        Self(sink)
    }
}

impl<F: FnMut(&Decision) + Send> Observer for Decisions<F> {
    fn decision(&mut self, decision: &Decision) {
        (self.0)(decision);
    }
}

impl<F> fmt::Debug for Decisions<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Decisions")
    }
}
