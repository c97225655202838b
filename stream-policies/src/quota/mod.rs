//! Quota: ends answers that are too long, too many or too slow.
//!
//! ```
//! use stream_policies::QuotaSettings;
//! use stream_testkit::{Replay, Script, WireKind, conformance::Ended};
//!
//! let quota = QuotaSettings::default().bytes(5).build()?;
//! let log = Script::new().text("Hello, world.").to_log(WireKind::OpenAiChat);
//! let view = Replay::new(&log).policy(move || quota.clone()).run().view();
//! assert_eq!((view.choices[0].content.as_str(), view.ended), ("Hello", Ended::Refused));
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `bytes` | none | the most bytes of text and arguments, over all choices; reasoning counts |
//! | `blocks` | none | the most blocks: stretches of text, reasoning, calls, everything opaque |
//! | `calls` | none | the most tool calls |
//! | `seconds` | none | the longest time since the stream started |
//! | `message` | `the answer exceeded a quota` | a sentence for the client |
//! | `error` | `false` | whether the client gets the API's error, rather than its refusal |
//!
//! Text is cut where the quota ends, at a character. Nothing of a call, block, opaque thing or signed reasoning that
//! exceeds it leaves. A refusal in a whole Anthropic response keeps text alone, and none of the calls before it.
//! The time is looked at when something comes: a silent upstream is ended by the stream's own idle limit.
//!
//! # What is held back
//!
//! With `bytes`, each call until it is complete: half a call could only end in an error; and each block of signed
//! reasoning (Anthropic, Responses), which cannot be cut (rule 22). Otherwise nothing.
//!
//! A thought that exceeds the quota ends before its signature: such a turn cannot be sent back.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::Quota;
pub use self::settings::QuotaSettings;
