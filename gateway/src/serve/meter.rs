//! What is counted.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use stream_core::{Error, Observer};
use stream_http::Api;
use stream_http::tool_loop::{Run, RunOutcome};
use stream_policies::observe::{Metrics, Observers};

use crate::doors::ClientName;

/// Counts over all requests. Clones share the counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Meter {
    /// Decisions by the client whose answer they are about.
    policies: Arc<Mutex<BTreeMap<Option<ClientName>, Metrics>>>,
    counts: Arc<Mutex<Counts>>,
    /// How many requests there were.
    requests: Arc<AtomicU64>,
}

/// The counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Counts {
    /// Answers that were policed, by API.
    pub(crate) streams: BTreeMap<Api, u64>,
    /// Requests by their client and the status of their answer.
    pub(crate) requests: BTreeMap<(Option<ClientName>, u16), u64>,
    /// Answers under way.
    pub(crate) open: u64,
    /// Answers whose client went away.
    pub(crate) abandoned: u64,
    /// Streams that were closed for an error, by whose fault it was.
    pub(crate) errors: BTreeMap<String, u64>,
    pub(crate) first_byte: Histogram,
    /// Calls that the gateway ran.
    pub(crate) runs: BTreeMap<RunOf, Runs>,
    pub(crate) reloads: Reloads,
}

/// What calls that the gateway ran are counted by. The tool is a name or a glob of the configuration: there are no more
/// entries than it allows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunOf {
    pub(crate) client: Option<ClientName>,
    pub(crate) tool: String,
    pub(crate) outcome: RunOutcome,
    pub(crate) iteration: u32,
}

/// How many calls there were, and how long they ran.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Runs {
    pub(crate) count: u64,
    pub(crate) took: Duration,
}

/// What became of configurations that have changed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Reloads {
    pub(crate) taken: u64,
    pub(crate) refused: u64,
    /// Whether the last one was refused: the program runs with another configuration than its file says.
    pub(crate) is_behind: bool,
}

impl Reloads {
    pub(crate) fn taken(&mut self) {
        self.taken += 1;
        self.is_behind = false;
    }

    pub(crate) fn refused(&mut self) {
        self.refused += 1;
        self.is_behind = true;
    }
}

/// How long something took, in buckets.
#[derive(Debug, Clone, Default)]
pub(crate) struct Histogram {
    /// How many took no longer than each of [`BOUNDS`].
    pub(crate) buckets: [u64; BOUNDS.len()],
    pub(crate) count: u64,
    pub(crate) sum: Duration,
}

/// The buckets' bounds, in milliseconds.
pub(crate) const BOUNDS: [u64; 11] = [1, 5, 10, 25, 50, 100, 250, 500, 1000, 5000, 30_000];

impl Meter {
    /// The number of a request that has come, from 1.
    pub(crate) fn next_request(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// An answer is about to be policed.
    pub(crate) fn started(&self, api: Api) {
        *self.counts().streams.entry(api).or_default() += 1;
    }

    /// A call was run.
    pub(crate) fn ran(&self, client: Option<ClientName>, run: &Run) {
        let Run { tool, outcome, iteration, took, .. } = run;
        let of = RunOf { client, tool: tool.clone(), outcome: *outcome, iteration: *iteration };
        let mut counts = self.counts();
        let runs = counts.runs.entry(of).or_default();
        runs.count += 1;
        runs.took += *took;
    }

    /// An observer for one answer.
    pub(crate) fn observer(&self, client: Option<&ClientName>) -> Observers {
        let metrics = self.policies().entry(client.cloned()).or_default().clone();
        Observers::new().and(metrics.observer()).and(Errors(self.clone()))
    }

    /// Decisions by the client whose answer they are about. There are no more entries than clients.
    pub(crate) fn policies(&self) -> MutexGuard<'_, BTreeMap<Option<ClientName>, Metrics>> {
        self.policies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Histogram {
    pub(crate) fn add(&mut self, took: Duration) {
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
