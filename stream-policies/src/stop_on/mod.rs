//! StopOn: ends the stream at a phrase.
//!
//! The text before the phrase is written; the phrase and everything after it are dropped, wherever the upstream splits its text.
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
//! | `ends` | `refuse` | `refuse`: with the API's refusal; `error`: with its error; `silently`: the rest of the choice is dropped, and the upstream's own ending is written |
//! | `message` | `the answer was stopped` | a sentence for the client |
//! | `hold_limit` | 65536 | the number of bytes of one text that may be undecided; more of them count as a phrase |
//!
//! # What is held, and for how long
//!
//! As in [`redact`](crate::redact): a chunk is written as soon as no undecided phrase can start in it, in every way in which clients join the
//! text. Reasoning is decided at the end of its block; other text may go on in the next block. Signed reasoning (Anthropic, Responses) is
//! held until its block is complete, and is emptied if a phrase is in it, since its signature would not fit an edited text. A refusal or
//! error within it is written before the signature: such a turn cannot be sent back.
//!
//! A refusal or an error ends all choices. With `silently`, the upstream still generates, and charges for, what is dropped.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::StopOn;
pub use self::settings::{Ends, StopOnSettings, StopPlace};
