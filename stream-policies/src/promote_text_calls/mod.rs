//! PromoteTextCalls: calls that the model writes as text leave as structured calls of the API.
//!
//! Which dialects are looked for is a setting of the stream ([`Config::text_calls`](stream_core::Config::text_calls)).
//!
//! ```
//! use stream_core::Config;
//! use stream_core::text_calls::{DialectSet, known};
//! use stream_policies::PromoteTextCalls;
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let text = r#"I look.<tool_call>{"name": "look", "arguments": {"at": "it"}}</tool_call>"#;
//! let log = Script::new().text(text).to_log(WireKind::AnthropicMessages);
//! let config = Config::default().text_calls(DialectSet::new().with(known::hermes()));
//! let replayed = Replay::new(&log).config(config).policy(PromoteTextCalls::new).run();
//! let choice = &replayed.view().choices[0];
//! assert_eq!((choice.content.as_str(), choice.calls.len()), ("I look.", 1));
//! assert_eq!(choice.calls[0].arguments, r#"{"at": "it"}"#);
//! ```
//!
//! It has no settings. The markup leaves the text; the calls stand behind all text, just before the answer finishes, and the
//! finish reason says that there are calls. A call without an id gets one that is made of the response's id, so that it
//! repeats neither in the answer nor in the conversation.
//!
//! A call that is written *and* comes through the API's own channel, with the same name and arguments, leaves once. A call
//! whose arguments are no JSON object stays text: there is no structured form of it.
//!
//! # What is held back
//!
//! Calls, until they are complete; those written as text until the answer finishes, where they have their place.

mod policy;
#[cfg(test)]
mod tests;

pub use self::policy::PromoteTextCalls;
