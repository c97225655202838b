//! Quota: ends answers that are too long or too slow, or have too many blocks or calls.
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
//! | `bytes` | none | the number of bytes of text and arguments, over all choices; reasoning counts |
//! | `blocks` | none | the number of blocks: stretches of text, reasoning, calls, opaque blocks |
//! | `calls` | none | the number of tool calls |
//! | `seconds` | none | the time since the stream started |
//! | `message` | `the answer exceeded a quota` | a sentence for the client |
//! | `error` | `false` | whether the client gets the API's error, rather than its refusal |
//!
//! Text is cut at the quota, at a character border. A call, an opaque block or signed reasoning that exceeds the quota is dropped whole. A refusal in a
//! whole Anthropic response keeps the text and none of the calls before it. The policy checks the time when a step arrives: a silent
//! upstream is ended by [`Limits::idle`](stream_core::Limits::idle).
//!
//! # What is held, and for how long
//!
//! With `bytes`, each call is held until it is complete, since half a call could only end in an error; so is each block of signed
//! reasoning (Anthropic, Responses), whose signature would not fit a part of it. Nothing else is held.
//!
//! Reasoning that exceeds the quota ends before its signature: such a turn cannot be sent back.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::Quota;
pub use self::settings::QuotaSettings;
