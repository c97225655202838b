//! DemoteCalls: writes structured calls as text, for clients that read only text.
//!
//! ```
//! use stream_policies::DemoteCallsSettings;
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let demote = DemoteCallsSettings::dialect("hermes").build()?;
//! let log = Script::new().call("call_1", "look", r#"{"at":"it"}"#).to_log(WireKind::Gemini);
//! let replayed = Replay::new(&log).policy(move || demote.clone()).run();
//! let choice = &replayed.view().choices[0];
//! assert_eq!(choice.calls, []);
//! assert_eq!(choice.content, r#"<tool_call>{"name": "look", "arguments": {"at":"it"}}</tool_call>"#);
//! # Ok::<(), stream_policies::SettingsError>(())
//! ```
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `own` | one of the two | a dialect of one's own, as in `[[text_calls.own]]` |
//! | `dialect` | one of the two | the dialect that calls are written in, by its name: [`known::named`](stream_core::text_calls::known::named) |
//!
//! The finish reason becomes that of a stop. A call that the dialect cannot express (free text instead of a JSON object, a value that holds the closing
//! tag) is dropped and recorded, since the client could not read it.
//!
//! No later policy sees calls: a chain with a later policy that needs them is refused.
//!
//! # What is held, and for how long
//!
//! Calls are held until they are complete.

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use self::policy::DemoteCalls;
pub use self::settings::DemoteCallsSettings;
