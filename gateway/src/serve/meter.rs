//! What is counted.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stream_core::{Error, Observer};
use stream_http::Api;
use stream_policies::observe::{Metrics, Observers};

use crate::doors::ClientName;

/// Counts over all requests. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    /// Decisions by the client whose answer they are about.
    policies: Arc<Mutex<BTreeMap<Option<ClientName>, Metrics>>>,
    counts: Arc<Mutex<Counts>>,
}

/// The counts.
#[derive(Debug, Clone, Default)]
pub(super) struct Counts {
    /// Answers that were policed, by API.
    pub(super) streams: BTreeMap<Api, u64>,
    /// Requests by their client and the status of their answer.
    pub(super) requests: BTreeMap<(Option<ClientName>, u16), u64>,
    /// Answers under way.
    pub(super) open: u64,
    /// Answers whose client went away.
    pub(super) abandoned: u64,
    /// Streams that were closed for an error, by whose fault it was.
    pub(super) errors: BTreeMap<String, u64>,
    pub(super) first_byte: Histogram,
}

/// How long something took, in buckets.
#[derive(Debug, Clone, Default)]
pub(super) struct Histogram {
    /// How many took no longer than each of [`BOUNDS`].
    pub(super) buckets: [u64; BOUNDS.len()],
    pub(super) count: u64,
    pub(super) sum: Duration,
}

/// The buckets' bounds, in milliseconds.
pub(super) const BOUNDS: [u64; 11] = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 5000, 30_000];

impl Meter {
    /// An answer is about to be policed.
    pub(super) fn started(&self, api: Api) {
        *self.counts().streams.entry(api).or_default() += 1;
    }

    /// An observer for one answer.
    pub(super) fn observer(&self, client: Option<&ClientName>) -> Observers {
        let metrics = self.policies().entry(client.cloned()).or_default().clone();
        Observers::new().and(metrics.observer()).and(Errors(self.clone()))
    }

    /// Decisions by the client whose answer they are about. There are no more entries than clients.
    pub(super) fn policies(&self) -> MutexGuard<'_, BTreeMap<Option<ClientName>, Metrics>> {
        self.policies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Histogram {
    pub(super) fn add(&mut self, took: Duration) {
        for (bucket, bound) in self.buckets.iter_mut().zip(BOUNDS) {
            *bucket += u64::from(took <= Duration::from_millis(bound));
        }
        self.count += 1;
        self.sum += took;
    }
}

/// Counts the errors of one stream.
struct Errors(Meter);

impl Observer for Errors {
    fn error(&mut self, error: &Error) {
        *self.0.counts().errors.entry(error.origin().to_string()).or_default() += 1;
    }
}
