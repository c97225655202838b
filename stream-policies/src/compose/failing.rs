//! What happens when a policy fails.

use stream_core::{OnFailure, Policy};

use super::delegate;

/// When the policy fails, what it held is released in order, and it is not called again.
///
/// For policies whose absence is better than an outage: statistics, notices. A judge that fails then releases the call it
/// was asked about.
#[derive(Debug, Clone)]
pub struct FailOpen<P>(P);

impl<P: Policy> FailOpen<P> {
    /// Lets this policy fail open.
    pub fn new(policy: P) -> Self {
        Self(policy)
    }
}

impl<P: Policy> Policy for FailOpen<P> {
    delegate!(0: name needs time_limit enforces awaits hooks);

    fn on_failure(&self) -> OnFailure {
        OnFailure::Open
    }
}

/// When the policy fails, what is held is dropped and the client gets an error ending. So it is without a wrapper, unless
/// the policy says otherwise.
#[derive(Debug, Clone)]
pub struct FailClosed<P>(P);

impl<P: Policy> FailClosed<P> {
    /// Lets this policy fail closed.
    pub fn new(policy: P) -> Self {
        Self(policy)
    }
}

impl<P: Policy> Policy for FailClosed<P> {
    delegate!(0: name needs time_limit enforces awaits hooks);

    fn on_failure(&self) -> OnFailure {
        OnFailure::Close
    }
}
