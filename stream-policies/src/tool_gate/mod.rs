//! ToolGate: text flows at once, each tool call waits for its verdict.
//!
//! Each call is held until it is complete, judged on its own, and released, dropped, replaced, or the stream is ended.
//! Judging overlaps the stream and other judgements: call 1 leaves while call 2 is still streaming.
//!
//! # What it holds back, and for how long
//!
//! | what | how long |
//! |---|---|
//! | text, reasoning, refusals before the first held call of their choice | not at all, unless they share a frame with a held call |
//! | what follows a held call in its choice | until the call's verdict: order is never changed |
//! | a tool call | until it is complete and judged |
//! | something opaque of which nobody knows who runs it ([`Runs::Unknown`](stream_core::Runs::Unknown)) | as a tool call, under its kind as name |
//! | a call that the provider runs | until it is complete and judged, if the judge [judges such calls](crate::judge::Judge::judges_server_calls); else not at all |
//! | anything else of the provider's (results, files) | not at all |
//!
//! A call that is cut off is never complete, and so never judged or released. A call whose opening was not in the stream
//! (it was resumed), or that has no name, is denied without asking. A judge that fails or takes too long denies without a
//! notice, unless the policy is wrapped to fail open.
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `on_deny` | `"drop"` | `"drop"`: the stream goes on without the call; `"end"`: it ends there |
//! | `notice` | none | a text for the client in place of a dropped call, where the format has a place for it |
//! | `message` | `"a tool call was not allowed"` | what the client is told when the stream ends |
//! | `deadline` | the stream's policy limit | how long a judgement may take |
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
