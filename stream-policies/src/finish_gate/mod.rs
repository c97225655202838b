//! FinishGate: holds each call until it is finished.
//!
//! Valid JSON is no sign that a call is meant: the model may still be writing, or may have been cut off. This gate releases a call only when
//! it is *finished*: complete, followed by a finish reason or the terminal marker, with arguments that are empty or one whole JSON value,
//! and not the last call of an answer that ended for length, by a filter or in an error. The gate has no judge; put
//! [`ToolGate`](crate::ToolGate) after it to judge the calls that it releases.
//!
//! # What is held, and for how long
//!
//! | what | how long |
//! |---|---|
//! | text, reasoning, refusals before the first call of their choice | not at all, unless they share a frame with a call |
//! | everything behind a held call in its choice | until the call is settled: order never changes |
//! | a tool call, and an opaque block of which the format does not tell who runs it | until the finish of its choice; with `release = "complete"` until it is complete and something else of its choice follows, or the finish |
//! | calls that the provider runs | not at all |
//!
//! A call that is never finished is dropped; its answer keeps its finish reason (`length` stays `length`).
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `release` | `"finished"` | `"complete"`: each call as soon as it is known to be whole ("partial execution"), without waiting for those behind it |
//! | `deadline` | `"60s"` | the time that a call waits for its finish, from its last delta on, in every format; `"none"`: until the end |
//! | `without_finish` | `"drop"` | at the deadline, or where the bytes end without a finish: `"drop"` the call, `"release"` it if its arguments are whole, or `"end"` the stream |
//! | `terminal_finishes` | `true` | whether the terminal marker (`[DONE]`, `message_stop`) finishes the calls of a choice that has no finish reason; `false`: such calls have no finish |
//!
//! A stream that breaks off with an error always drops calls without a finish.
//!
//! # Example
//!
//! ```
//! use stream_policies::FinishGate;
//! use stream_testkit::{Finish, Replay, Script, WireKind};
//!
//! // The limit of tokens cut the second call off: `{"cmd":"in"}` was never meant.
//! let script = Script::new()
//!     .call("call_1", "shell", r#"{"cmd":"ls"}"#)
//!     .call("call_2", "shell", r#"{"cmd":"in"}"#)
//!     .finish(Finish::Length);
//! let replayed = Replay::new(script.to_log(WireKind::OpenAiChat)).policy(FinishGate::new).run();
//! let choice = &replayed.view().choices[0];
//! let ids: Vec<&str> = choice.calls.iter().map(|call| call.id.as_str()).collect();
//! assert_eq!(ids, ["call_1"]);
//! assert_eq!(choice.finish.as_deref(), Some("length"));
//! ```

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use policy::FinishGate;
pub use settings::{FinishGateSettings, Release, WithoutFinish};
