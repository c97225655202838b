//! Policies from policies: chains, conditions, limits, and trying a policy without its consequences.
//!
//! | wrapper | what it does |
//! |---|---|
//! | [`Chain`] | several policies in order: the output of one is the input of the next |
//! | [`When`] | a policy only for some models, requests or tools; all else passes |
//! | [`Timeout`] | a tighter limit for the hooks and decisions of a policy |
//! | [`FailOpen`], [`FailClosed`] | what happens when a policy fails |
//! | [`Monitor`] | runs a policy, changes nothing, reports what it would have done |
//!
//! # Order
//!
//! ```text
//!  upstream ──▶ ┌─────────────┐ ──▶ ┌──────────┐ ──▶ ┌─────────┐ ──▶ client
//!               │ 1 validate  │     │ 2 gate   │     │ 3 redact│
//!               └─────────────┘     └──────────┘     └─────────┘
//!                 sees what the       sees what        sees what
//!                 upstream sent       1 let go         2 let go
//! ```
//!
//! Every policy has a fold and an outbox of its own. What the first rewrites, the second sees rewritten; what it drops, the
//! second never sees; what it holds, the second sees later. When one ends the stream, those behind it see the ending
//! (`on_end`), those before it are told that it is over (`on_abort`).
//!
//! | put | before | because |
//! |---|---|---|
//! | what rewrites calls (`ValidateParameters`) | what judges calls (`ToolGate`) | what was judged is what leaves |
//! | what judges calls | what redacts (`Redact`) | the judge sees what would run; the client what is left of it |
//! | what redacts | what writes text of its own (`Inject`) | a notice of yours is not searched for secrets, and costs nothing |
//! | what needs calls | what turns calls into text | else it would never see one: such a chain is refused |
//! | cheap ones | dear ones | what is dropped early is not judged late |
//!
//! Wrappers stand around one policy. They can be nested in any order.
//!
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use stream_core::{Config, Passthrough, Request, StreamProcessor};
//! use stream_policies::compose::{Chain, Condition, FailOpen, Monitor, Timeout, When};
//!
//! let chain = Chain::new()
//!     .then(When::new(Condition::model("small-*")?, Passthrough))
//!     .then(FailOpen::new(Timeout::new(Duration::from_millis(200), Passthrough)))
//!     .then(Monitor::new(Passthrough));
//! assert_eq!(chain.len(), 3);
//!
//! let config = Config::default().request(Request::new().model("small-1"));
//! let builder = chain.add_to(StreamProcessor::builder().config(config));
//! # let _ = builder;
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```

mod chain;
mod condition;
mod failing;
mod monitor;
#[cfg(test)]
mod tests;
mod timeout;
mod when;

pub use chain::Chain;
pub use condition::Condition;
pub use failing::{FailClosed, FailOpen};
pub use monitor::Monitor;
pub use timeout::Timeout;
pub use when::When;

/// Everything of [`Policy`](stream_core::Policy) that a wrapper leaves to the policy it stands around, but for what it
/// names: one place to change when the trait grows.
macro_rules! delegate {
    ($inner:tt: $($what:ident)*) => { $(delegate!(@ $what $inner);)* };
    (@ name $inner:tt) => {
        fn name(&self) -> &str {
            self.$inner.name()
        }
    };
    (@ needs $inner:tt) => {
        fn needs(&self) -> stream_core::Needs {
            self.$inner.needs()
        }

        fn needs_for(&self, request: &stream_core::Request) -> stream_core::Needs {
            self.$inner.needs_for(request)
        }

        fn scrub(&self, request: &stream_core::Request) -> Option<Box<dyn stream_core::Scrub>> {
            self.$inner.scrub(request)
        }
    };
    (@ on_failure $inner:tt) => {
        fn on_failure(&self) -> stream_core::OnFailure {
            self.$inner.on_failure()
        }
    };
    (@ time_limit $inner:tt) => {
        fn time_limit(&self) -> Option<std::time::Duration> {
            self.$inner.time_limit()
        }
    };
    (@ enforces $inner:tt) => {
        fn enforces(&self) -> bool {
            self.$inner.enforces()
        }
    };
    (@ awaits $inner:tt) => {
        fn awaits(&self) -> bool {
            self.$inner.awaits()
        }
    };
    // The hooks as `async_trait` writes them, so that a wrapper adds no future of its own.
    (@ hooks $inner:tt) => {
        fn on_chunk<'life0, 'life1, 'life2, 'life3, 'wait>(
            &'life0 mut self,
            chunk: stream_core::Chunk,
            state: &'life1 stream_core::StreamState,
            ctx: &'life2 mut stream_core::Context<'life3>,
        ) -> futures::future::BoxFuture<'wait, Result<(), stream_core::PolicyError>>
        where
            'life0: 'wait,
            'life1: 'wait,
            'life2: 'wait,
            'life3: 'wait,
            Self: 'wait,
        {
            self.$inner.on_chunk(chunk, state, ctx)
        }

        fn on_end<'life0, 'life1, 'life2, 'life3, 'wait>(
            &'life0 mut self,
            end: stream_core::End,
            state: &'life1 stream_core::StreamState,
            ctx: &'life2 mut stream_core::Context<'life3>,
        ) -> futures::future::BoxFuture<'wait, Result<(), stream_core::PolicyError>>
        where
            'life0: 'wait,
            'life1: 'wait,
            'life2: 'wait,
            'life3: 'wait,
            Self: 'wait,
        {
            self.$inner.on_end(end, state, ctx)
        }

        fn on_abort(&mut self) {
            self.$inner.on_abort();
        }
    };
}
use delegate;
