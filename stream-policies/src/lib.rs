//! Bundled policies for model streams: gates, judges, redaction, validation, and how they compose.
//!
//! Each folder holds one policy and has the same grammar: documentation with an example that runs, its settings, the
//! policy, its tests.

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
