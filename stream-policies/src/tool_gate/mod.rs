//! ToolGate: holds each tool call until its verdict, and sends text at once.
//!
//! The gate holds each call until it is complete, asks its judge, and applies the verdict. The stream is read on meanwhile, and calls are
//! judged side by side: call 1 is written while call 2 still streams.
//!
//! # What is held, and for how long
//!
//! | what | how long |
//! |---|---|
//! | text, reasoning, refusals before the first held call of their choice | not at all, unless they share a frame with a held call |
//! | everything behind a held call in its choice | until the verdict on the call: order never changes |
//! | a tool call | until it is complete and judged |
//! | an opaque block of which the format does not tell who runs it ([`Runs::Unknown`](stream_core::Runs::Unknown)) | as a tool call, with its kind as name |
//! | a call that the provider runs | until it is complete and judged, if the judge [judges such calls](crate::judge::Judge::judges_server_calls); else not at all |
//! | other blocks of the provider (results, files) | not at all |
//!
//! A call that is cut off is never complete, and so never judged or released. A call without a name, or whose opening was not in the stream
//! (a resumed stream), is denied without asking. A judge that fails or misses its deadline denies without a notice, unless the
//! stage [fails open](stream_core::Stage::fail_open).
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `on_deny` | `"drop"` | `"drop"`: the stream goes on without the call; `"end"`: the stream ends there |
//! | `notice` | none | a text for the client in place of a dropped call, where the format has a place for it |
//! | `message` | `"a tool call was not allowed"` | the sentence for the client when the stream ends |
//! | `deadline` | the stream's policy limit | the deadline of a judgement |
//!
//! `{reason}` in a notice or message is the judge's reason.
//!
//! # Example
//!
//! ```
//! use stream_core::Verdict;
//! use stream_policies::{CompletedCall, ToolGate, ToolGateSettings};
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let gate = || {
//!     ToolGate::new(async |call: CompletedCall| match call.name() {
//!         "read_file" => Ok(Verdict::Release),
//!         _ => Ok(Verdict::drop("only files are read")),
//!     })
//!     .settings(ToolGateSettings::default().notice("[{reason}]"))
//! };
//!
//! let script = Script::new()
//!     .text("Let me see.")
//!     .call("call_1", "shell", r#"{"command":"rm -rf /"}"#)
//!     .call("call_2", "read_file", r#"{"path":"a.txt"}"#);
//! let replayed = Replay::new(script.to_log(WireKind::OpenAiChat)).policy(gate).run();
//! let choice = &replayed.view().choices[0];
//! assert_eq!(choice.content, "Let me see.[only files are read]");
//! assert_eq!(choice.calls.len(), 1);
//! assert_eq!(choice.calls[0].name, "read_file");
//! ```

pub(crate) mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use policy::ToolGate;
pub use settings::{OnDeny, ToolGateSettings};
