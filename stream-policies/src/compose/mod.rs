//! Policies from policies: chains, conditions, limits, dry runs.
//!
//! | what | by |
//! |---|---|
//! | several policies in order: the output of one is the input of the next | [`Chain`](stream_core::Chain) |
//! | a policy only for some models, requests or tools; all else passes | [`When`] |
//! | a tighter limit for the hooks and decisions of a policy | [`Stage::within`](stream_core::Stage::within) |
//! | what happens when a policy fails | [`Stage::fail_open`](stream_core::Stage::fail_open) |
//! | a dry run: the policy changes nothing, and what it would have done is recorded | [`Stage::monitor`](stream_core::Stage::monitor) |
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
//! # Example
//!
//! ```
//! use std::time::Duration;
//! use stream_core::{Chain, Config, Passthrough, Request, Stage, StreamProcessor};
//! use stream_policies::compose::{Condition, When};
//!
//! let chain = Chain::new()
//!     .then(When::new(Condition::model("small-*")?, Passthrough))
//!     .then(Stage::new(Passthrough).within(Duration::from_millis(200)).fail_open())
//!     .then(Stage::new(Passthrough).monitor());
//! assert_eq!(chain.len(), 3);
//!
//! let config = Config::default().request(Request::new().model("small-1"));
//! let builder = StreamProcessor::builder().config(config).chain(chain);
//! # let _ = builder;
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```

mod condition;
#[cfg(test)]
mod tests;
mod when;

pub use condition::Condition;
pub use when::When;
pub(crate) use when::needs_of_calls;
