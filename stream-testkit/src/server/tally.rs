//! Who came, and what became of it.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::watch;

/// The connections and requests of a server so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    connections: usize,
    requests: Vec<Seen>,
}

impl Tally {
    /// The number of connections.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.connections
    }

    /// The requests, in order.
    #[must_use]
    pub fn requests(&self) -> &[Seen] {
        &self.requests
    }

    /// The number of requests that were answered to the end.
    #[must_use]
    pub fn completed(&self) -> usize {
        self.count(Fate::Completed)
    }

    /// The number of clients that disconnected in the middle of an answer.
    #[must_use]
    pub fn cancelled(&self) -> usize {
        self.count(Fate::Cancelled)
    }

    fn count(&self, fate: Fate) -> usize {
        self.requests.iter().filter(|seen| seen.fate == fate).count()
    }
}

/// A request that a server has seen.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Seen {
    /// The method: `POST`.
    pub method: String,
    /// The path and query: `/v1/models/a:streamGenerateContent?alt=sse`.
    pub target: String,
    /// The body.
    pub body: Bytes,
    /// The fate of the answer.
    pub fate: Fate,
}

/// The fate of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fate {
    /// The answer is being sent.
    Serving,
    /// The answer was sent to its end; a reply with a fault has broken off.
    Completed,
    /// The client went away before its end.
    Cancelled,
    /// The server had no reply left, and answered with status 404.
    Unexpected,
}

/// The tally under way, shared by all who write into it.
#[derive(Debug, Clone, Default)]
pub(super) struct Book(Arc<watch::Sender<Tally>>);

impl Book {
    pub(super) fn connected(&self) {
        self.0.send_modify(|tally| tally.connections += 1);
    }

    /// Enters a request; its number.
    pub(super) fn requested(&self, seen: Seen) -> usize {
        let mut number = 0;
        self.0.send_modify(|tally| {
            number = tally.requests.len();
            tally.requests.push(seen);
        });
        number
    }

    pub(super) fn settle(&self, number: usize, fate: Fate) {
        self.0.send_modify(|tally| tally.requests[number].fate = fate);
    }

    pub(super) fn tally(&self) -> Tally {
        self.0.borrow().clone()
    }

    pub(super) async fn until(&self, mut reached: impl FnMut(&Tally) -> bool) -> Tally {
        let mut changes = self.0.subscribe();
        loop {
            let tally = changes.borrow_and_update().clone();
            // The sender is here, so that waiting can only end with a change.
            if reached(&tally) || changes.changed().await.is_err() {
                return tally;
            }
        }
    }
}
