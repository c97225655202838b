//! HideReasoning: drops the model's reasoning.
//!
//! Everything else passes unchanged. Signed reasoning (Anthropic, Responses) keeps its block, signature and id, without text, so that the
//! next turn is still accepted; on other APIs nothing of it is written.
//!
//! ```
//! use stream_policies::HideReasoning;
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let log = Script::new().reasoning("They want a greeting.").text("Hello.").to_log(WireKind::OpenAiChat);
//! let replayed = Replay::new(&log).policy(HideReasoning::default).run();
//! assert_eq!(replayed.view().choices[0].reasoning, "");
//! assert_eq!(replayed.view().choices[0].content, "Hello.");
//! ```
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `placeholder` | none | a text for each stretch of reasoning that is not signed |
//!
//! # What is held
//!
//! Nothing.
//!
//! # What the policy does not see
//!
//! Reasoning that the API itself encrypts or omits, which no client can read.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::HideReasoning;
pub use self::settings::HideReasoningSettings;
