//! Composition of policies: chains, conditions, limits, dry runs.
//!
//! | for | use |
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
//!                 reads the           reads the        reads the
//!                 upstream            output of 1      output of 2
//! ```
//!
//! Every stage has a fold and a queue of its own. A later stage sees rewritten blocks rewritten, dropped blocks never, and held blocks when they are
//! released. When a stage ends the stream, `on_end` of the later policies and `on_abort` of the earlier ones is called.
//!
//! | put | before | because |
//! |---|---|---|
//! | rewriting of calls (`ValidateParameters`) | judging of calls (`ToolGate`) | the judged call is the written one |
//! | judging of calls | redaction (`Redact`) | the judge sees the call that would run, and the client the redacted one |
//! | redaction | inserted text (`Inject`) | your own notice is not searched for secrets |
//! | policies that need calls | calls turned into text (`DemoteCalls`) | the reverse order is refused: the policy would never see a call |
//! | cheap policies | expensive ones | a dropped call is not judged again |
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
