//! Judges: a completed call in, a [`Verdict`] with a reason out.
//!
//! The gates ([`ToolGate`](crate::ToolGate), [`BufferedJudge`](crate::BufferedJudge)) ask a [`Judge`]. Any async closure
//! is one:
//!
//! ```
//! use stream_core::Verdict;
//! use stream_policies::{CompletedCall, ToolGate};
//!
//! let gate = ToolGate::new(async |call: CompletedCall| match call.name() {
//!     "read_file" => Ok(Verdict::Release),
//!     _ => Ok(Verdict::drop("only files are read")),
//! });
//! ```
//!
//! | judge | what it does | cost |
//! |---|---|---|
//! | a closure | your code | [`Cost::Local`] |
//! | [`Rules`] | names and conditions on arguments | [`Cost::Instant`] |
//! | [`All`] | asks several side by side: all must allow | the highest of its judges |
//! | [`CheapestFirst`] | asks several one after the other, the cheapest first: all must allow | the highest of its judges |
//! | [`Cached`] | remembers the verdicts of another | that of the other |
//! | `Webhook` (feature `http`) | asks a service of yours | [`Cost::Network`] |
//! | `ModelJudge` (feature `http`) | asks a model | [`Cost::Model`] |
//!
//! The gates handle three cases before or after the judge: a call whose opening was not in the stream and a call without a name are denied, and so
//! is a replacement that does not fit the call.

mod all;
mod arguments;
mod ask;
mod cached;
mod call;
mod cheapest_first;
#[cfg(feature = "http")]
pub mod http;
pub mod rules;
#[cfg(test)]
mod tests;

use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use stream_core::{PolicyError, Verdict};

pub use all::All;
pub(crate) use ask::ask;
pub use cached::Cached;
pub use call::CompletedCall;
pub(crate) use call::{is_call, is_server_call};
pub use cheapest_first::CheapestFirst;
#[cfg(feature = "http")]
pub use http::{ModelJudge, Webhook};
pub use rules::Rules;

/// Decides over completed calls. One judge may serve many streams at once.
#[async_trait]
pub trait Judge: Send + Sync {
    /// Decides over one call.
    ///
    /// Dropping the future cancels the question. A reason may be recorded and, where a gate is set to, sent to the
    /// client: it must not hold text of the call.
    ///
    /// # Errors
    ///
    /// When it cannot decide. The call is then denied, unless the gate fails open.
    async fn judge(&self, call: CompletedCall) -> Result<Verdict, PolicyError>;

    /// What a question costs.
    fn cost(&self) -> Cost {
        Cost::Local
    }

    /// Whether it decides over calls that the provider runs, too ([`CompletedCall::is_server_run`]). If it does not, they
    /// pass without waiting.
    fn judges_server_calls(&self) -> bool {
        false
    }
}

/// Whether a judge is asked about a call.
pub(crate) fn asks(judge: &Arc<dyn Judge>, call: &CompletedCall) -> bool {
    !call.is_server_run() || judge.judges_server_calls()
}

/// The cost of asking a judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Cost {
    /// No cost: the answer is ready at the first poll, so that a host that cannot wait may ask.
    Instant,
    /// Some work, or a wait within the process.
    Local,
    /// A service is asked.
    Network,
    /// A model is asked.
    Model,
}

#[async_trait]
impl<F, Fut> Judge for F
where
    F: Fn(CompletedCall) -> Fut + Send + Sync,
    Fut: Future<Output = Result<Verdict, PolicyError>> + Send,
{
    async fn judge(&self, call: CompletedCall) -> Result<Verdict, PolicyError> {
        self(call).await
    }
}

#[async_trait]
impl<J: Judge + ?Sized> Judge for Arc<J> {
    async fn judge(&self, call: CompletedCall) -> Result<Verdict, PolicyError> {
        (**self).judge(call).await
    }

    fn cost(&self) -> Cost {
        (**self).cost()
    }

    fn judges_server_calls(&self) -> bool {
        (**self).judges_server_calls()
    }
}
