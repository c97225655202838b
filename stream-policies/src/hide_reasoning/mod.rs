//! HideReasoning: keeps the model's reasoning from the client.
//!
//! Everything else leaves as it came. Reasoning that is signed (Anthropic, Responses) keeps its block, signature and id,
//! with no text in it, so that the next turn still works (rule 22); elsewhere nothing of it leaves.
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
//! | `placeholder` | none | what stands for each stretch of reasoning, where it is not signed |
//!
//! # What is held back
//!
//! Nothing.
//!
//! # What it does not see
//!
//! Reasoning that the API itself has encrypted or left out, which says nothing to the client, and everything else.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::HideReasoning;
pub use self::settings::HideReasoningSettings;
