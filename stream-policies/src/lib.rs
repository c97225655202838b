//! Bundled policies for model streams: gates, judges, redaction, validation, quotas, and their composition.
//!
//! | policy | what it does |
//! |---|---|
//! | [`Passthrough`] | nothing |
//! | [`ToolGate`] | holds each tool call until it is complete and judged; sends text at once |
//! | [`BufferedJudge`] | holds everything until a completed call was judged |
//! | [`FinishGate`] | holds each call until it is finished |
//! | [`ValidateParameters`] | drops calls whose arguments are not what their tool takes |
//! | `Redact` (feature `patterns`) | replaces secrets in every string |
//! | `StopOn` (feature `patterns`) | ends the answer at a phrase |
//! | [`Quota`] | ends answers that are too long or too slow |
//! | [`HideReasoning`] | drops reasoning |
//! | [`Inject`] | inserts a notice |
//! | [`RewriteTags`], [`PromoteTextCalls`], [`DemoteCalls`] | rewrite calls in text, make them structured, and the reverse |
//!
//! A gate asks a [judge]; [`compose`] has conditions and the order of a chain; [`config`] reads policies from a file; [`observe`] has sinks for
//! decisions. The page of each policy has its settings, what it holds and for how long, and an example that runs. The [guide] compares
//! them.
//!
//! ```
//! use stream_core::Verdict;
//! use stream_policies::{CompletedCall, ToolGate};
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let gate = || ToolGate::new(async |call: CompletedCall| match call.name() {
//!     "read_file" => Ok(Verdict::Release),
//!     _ => Ok(Verdict::drop("only files are read")),
//! });
//! let script = Script::new().text("Let me see.").call("call_1", "shell", "{}").call("call_2", "read_file", "{}");
//! let view = Replay::new(script.to_log(WireKind::Gemini)).policy(gate).run().view();
//! let names: Vec<_> = view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
//! assert_eq!(names, ["read_file"]);
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod buffered_judge;
pub mod compose;
pub mod config;
pub mod demote_calls;
mod duration;
pub mod finish_gate;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzz;
mod glob;
#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/policies.md")]
pub mod guide {}
mod dialects;
pub mod hide_reasoning;
pub mod inject;
pub mod judge;
#[cfg(feature = "patterns")]
mod matcher;
mod names;
pub mod observe;
pub mod promote_text_calls;
pub mod quota;
#[cfg(feature = "patterns")]
pub mod redact;
pub mod rewrite_tags;
mod settings_error;
#[cfg(feature = "patterns")]
pub mod stop_on;
#[cfg(test)]
mod testing;
pub mod tool_gate;
pub mod validate_parameters;

pub use buffered_judge::{BufferedJudge, BufferedJudgeSettings};
pub use compose::{Condition, When};
pub use config::{PolicySet, Registry};
pub use demote_calls::{DemoteCalls, DemoteCallsSettings};
pub use finish_gate::{FinishGate, FinishGateSettings};
pub use hide_reasoning::{HideReasoning, HideReasoningSettings};
pub use inject::{Inject, InjectSettings};
pub use judge::{CompletedCall, Judge, Rules};
#[cfg(feature = "patterns")]
pub use matcher::{BlockEnds, Pattern};
pub use promote_text_calls::PromoteTextCalls;
pub use quota::{Quota, QuotaSettings};
#[cfg(feature = "patterns")]
pub use redact::{AtLimit, Place, Preset, Redact, RedactSettings};
pub use rewrite_tags::{RewriteTags, RewriteTagsSettings};
pub use settings_error::SettingsError;
#[cfg(feature = "patterns")]
pub use stop_on::{StopOn, StopOnSettings};
pub use stream_core::Passthrough;
pub use tool_gate::{ToolGate, ToolGateSettings};
pub use validate_parameters::{ValidateParameters, ValidateParametersSettings};
