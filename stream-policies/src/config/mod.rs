//! Policies from a file: TOML, or any serde format.
//!
//! ```toml
//! [[policy]]
//! kind = "validate-parameters"
//! budget = 3
//!
//! [policy.tools.shell]
//! required = ["command"]
//! aliases = { command = ["cmd", "bash", "terminal", "shell"] }
//!
//! [[policy]]
//! kind = "hide-reasoning"
//! when = { models = ["small-*"] }
//! on_failure = "open"
//! ```
//!
//! The order of the tables is the order of the [chain](crate::compose). Every kind has the settings of its policy, and:
//!
//! | key | default | what it does |
//! |---|---|---|
//! | `when.models`, `when.offers` | any | the policy runs only for requests with such a model, that offer such a tool (globs) |
//! | `when.tools` | any | the policy sees only calls of such tools (globs), and blocks that may hold one; text passes. Refused for a kind that needs no calls |
//! | `time_limit` | the stream's | a tighter limit for hooks and decisions: `"200ms"`, `"5s"` |
//! | `on_failure` | `"closed"` | `"open"`: when the policy fails, the stream goes on without it |
//! | `monitor` | `false` | a dry run: the policy changes nothing, and its decisions are recorded |
//!
//! The gates `tool-gate` and `buffered-judge` also name their judges: `rules`
//! ([settings](crate::judge::rules::RulesSettings)) and, with the feature `http`, `webhook` and `model`. All that are named
//! must allow, the cheapest is asked first; `cache = 1000` keeps verdicts of those over the network.
//!
//! A table `[text_calls]` switches the search for calls in text on, and sets the dialects:
//!
//! ```toml
//! [text_calls]
//! dialects = ["hermes", "qwen-prompted"]     # by their names
//! by_model = true                            # also those of the model's family
//! reasoning = [["<think>", "</think>"]]      # text in these tags is reasoning
//! count = "everywhere"                       # or "outside_code"; by default everywhere if a policy guards calls
//! ```
//!
//! The error of an answer that a policy ends has the code `blocked_by_policy` and the type `policy_error` on every API, unless
//! the file names others (see [`Ending`](stream_core::Ending) for where each API has them):
//!
//! ```toml
//! [blocked]
//! code = "guardrail"
//! type = "house_rules"
//! ```
//!
//! # A wrong file never means "no policy"
//!
//! Unknown kinds and keys, values of another type, bad patterns, contradictory settings, policies that cannot work together,
//! and a file without policies are errors. They name the place (line and column where the format tells), what was expected,
//! and the nearest name; they never quote a pattern, a literal or a header. A file that lets everything pass has `kind = "passthrough"`.
//!
//! ```
//! # #[cfg(feature = "toml")] {
//! use stream_policies::config::PolicySet;
//!
//! let error = PolicySet::from_toml("[[policy]]\nkind = \"validate-parameter\"").unwrap_err();
//! assert_eq!(error.meant(), Some("validate-parameters"));
//! assert_eq!(error.place().map(|place| (place.line, place.column)), Some((2, 8)));
//! # }
//! ```
//!
//! A [`Registry`] adds kinds of your own. [`PolicySet::describe`] lists, for the start of a program, the blocks that each policy does not look at.

mod blocked;
mod bundled;
mod common;
mod de;
mod describe;
mod error;
mod judges;
mod nearest;
mod node;
mod registry;
mod set;
#[cfg(feature = "toml")]
#[cfg(test)]
mod tests;
mod text_calls;
#[cfg(feature = "toml")]
mod toml;

pub use describe::{Described, Description};
pub use error::{ConfigError, Place};
pub use registry::Registry;
pub use set::PolicySet;
