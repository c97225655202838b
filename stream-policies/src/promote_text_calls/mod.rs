//! PromoteTextCalls: writes calls in the text as structured calls of the API.
//!
//! [`Config::text_calls`](stream_core::Config::text_calls) sets the dialects that are searched for; without it the stream is refused.
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
//! The policy has no settings. The markup is cut out of the text; the calls are written behind all text, just before the finish, and the finish reason
//! becomes the one for calls. A call without an id gets one that is made of the response's id, so that ids repeat neither in the answer
//! nor in the conversation.
//!
//! A call that is in the text *and* structured, with the same name and arguments, is written once. A call whose arguments are no JSON
//! object stays text: it has no structured form.
//!
//! # What is held, and for how long
//!
//! Calls are held until they are complete; calls in the text until the finish, which is their place.

mod policy;
#[cfg(test)]
mod tests;

pub use self::policy::PromoteTextCalls;
