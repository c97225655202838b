//! How many streams are open at once.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts streams while they are open, and keeps the most.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    open: AtomicUsize,
    most: AtomicUsize,
}

impl Gauge {
    /// Counts a stream until this is dropped.
    pub(crate) fn enter(&self) -> Open<'_> {
        let open = self.open.fetch_add(1, Ordering::Relaxed) + 1;
        self.most.fetch_max(open, Ordering::Relaxed);
        Open(self)
    }

    /// The most that were open at once.
    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }
}

/// A stream that is open.
#[derive(Debug)]
pub(crate) struct Open<'a>(&'a Gauge);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.open.fetch_sub(1, Ordering::Relaxed);
    }
}
