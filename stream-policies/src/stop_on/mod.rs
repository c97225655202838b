//! StopOn: ends the stream at a phrase.
//!
//! What comes before the phrase leaves; of the phrase, and of what follows, nothing does, wherever the upstream splits
//! its text.
//!
//! ```
//! use stream_policies::{Pattern, StopOnSettings};
//! use stream_testkit::{Fragments, Replay, Script, WireKind, conformance::Ended};
//!
//! let stop = StopOnSettings::default().pattern(Pattern::literal("marker", "END OF FILE")).build()?;
//! let script = Script::new().text_fragments(Fragments::Chars(4)).text("One. END OF FILE Two.");
//! let log = script.to_log(WireKind::OpenAiChat);
//! let view = Replay::new(&log).policy(move || stop.clone()).run().view();
//! assert_eq!((view.choices[0].content.as_str(), view.ended), ("One. ", Ended::Refused));
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `patterns` | none | regexes and literals with names, see [`Pattern`](crate::Pattern) |
//! | `places` | `content` | where to look: `content`, `reasoning`, `refusal` |
//! | `ends` | `refuse` | `refuse`: with the API's refusal; `error`: with its error; `silently`: the rest of the choice is dropped, and the upstream's own ending leaves when it comes |
//! | `message` | `the answer was stopped` | a sentence for the client |
//! | `hold_limit` | 65536 | how many bytes of one text may be undecided; more of it counts as a phrase |
//!
//! # What is held back
//!
//! As in [`redact`](crate::redact): a chunk leaves as soon as no phrase can start in it any more that has not been
//! decided, in any way that clients put the text together. Reasoning is decided at the end of its block, other text may go on in the next one. Reasoning that is signed
//! (Anthropic, Responses) is held until its block is complete, and has no text left if a phrase is in it (rule 22). A
//! refusal or error within it comes before its signature: such a turn cannot be sent back.
//!
//! A refusal or an error ends all choices. What is said silently away still costs what the upstream takes for it.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::StopOn;
pub use self::settings::{Ends, StopOnSettings, StopPlace};
