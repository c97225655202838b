//! A tighter limit for one policy.

use std::time::Duration;

use stream_core::Policy;

use super::delegate;

/// A tighter limit for the hooks and decisions of a policy than the stream's
/// [`Limits::policy`](stream_core::Limits). One that takes longer has failed.
#[derive(Debug, Clone)]
pub struct Timeout<P> {
    limit: Duration,
    policy: P,
}

impl<P: Policy> Timeout<P> {
    /// Gives each hook and each decision of the policy at most this long.
    pub fn new(limit: Duration, policy: P) -> Self {
        Self { limit, policy }
    }
}

impl<P: Policy> Policy for Timeout<P> {
    delegate!(policy: name needs on_failure enforces awaits hooks);

    fn time_limit(&self) -> Option<Duration> {
        Some(self.policy.time_limit().map_or(self.limit, |inner| inner.min(self.limit)))
    }
}
