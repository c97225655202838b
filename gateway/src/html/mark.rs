//! What stands on the timeline.

use std::time::Duration;

use bytes::Bytes;
use stream_core::{Action, Decision};

use super::scale::Moment;

/// A frame that came from the upstream.
#[derive(Debug)]
pub(super) struct Came {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) at: Duration,
    pub(super) moment: Moment,
    pub(super) bytes: Bytes,
    /// When it left as it came, if it did.
    pub(super) left: Option<Moment>,
}

/// Bytes that left for the client.
#[derive(Debug)]
pub(super) struct Left {
    pub(super) at: Duration,
    pub(super) moment: Moment,
    pub(super) bytes: Bytes,
    pub(super) as_what: Leaves,
}

/// What bytes that left are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaves {
    /// The frame of this number, as it came.
    AsItCame(usize),
    /// Written anew, counted from 1.
    Anew(usize),
    /// Written so that the client keeps waiting.
    KeepAlive,
}

/// A decision, and the stretch of time over which its bytes were held.
#[derive(Debug, Clone)]
pub(super) struct Deed {
    pub(super) policy: String,
    pub(super) action: Action,
    pub(super) reason: Option<String>,
    pub(super) bytes: usize,
    pub(super) held: Duration,
    pub(super) enforced: bool,
    pub(super) from: Moment,
    pub(super) to: Moment,
}

impl Deed {
    pub(super) fn new(decision: &Decision, from: Moment, to: Moment) -> Self {
        let Decision { policy, action, reason, bytes, held, enforced, .. } = decision.clone();
        Self { policy, action, reason, bytes, held, enforced, from, to }
    }

    /// Whether another one says the same.
    pub(super) fn says(&self, other: &Self) -> bool {
        self.policy == other.policy
            && self.action == other.action
            && self.reason == other.reason
            && self.enforced == other.enforced
    }
}
