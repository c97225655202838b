//! BufferedJudge: nothing leaves before it was judged.
//!
//! Everything is held until a tool call is complete and judged. Approved: everything held leaves, in order. Denied: the
//! client gets the reason in an ending that is valid for its format, and nothing of the call.
//!
//! It is the strictest of the gates, and the slowest: **the client of a stream without calls sees nothing before its
//! end**, and calls are judged one after the other while the stream waits. [`ToolGate`](crate::ToolGate) judges the same
//! calls and lets text flow.
//!
//! # What it holds back, and for how long
//!
//! | what | how long |
//! |---|---|
//! | text, reasoning, refusals, what the provider runs | until the next call was approved, or the end |
//! | a tool call, and something opaque of which nobody knows who runs it | until it is complete and approved |
//! | structure (the opening, pings) | not at all |
//!
//! At a denial what is held is dropped. At the end of a stream that was cut, text still leaves; a call that is not
//! complete never does. The stream's limit of held bytes bounds what it holds. A judge that fails or takes too long ends
//! the stream with an error, unless the policy is wrapped to fail open.
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `message` | `"{reason}"` | what the client is told at a denial; `{reason}` is the judge's reason |
//!
//! The message stands where the format has a place for it: a refusal (chat, Responses), the explanation of a refusal
//! (Anthropic), the finish message (Gemini).
//!
//! # Example
//!
//! ```
//! use stream_core::Verdict;
//! use stream_policies::{BufferedJudge, CompletedCall};
//! use stream_testkit::conformance::Ended;
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let judge = || BufferedJudge::new(async |_: CompletedCall| Ok(Verdict::drop("no tools today")));
//! let script = Script::new().text("Let me see.").call("call_1", "shell", r#"{"command":"ls"}"#);
//! let view = Replay::new(script.to_log(WireKind::OpenAiChat)).policy(judge).run().view();
//! assert_eq!(view.ended, Ended::Refused);
//! assert_eq!(view.choices[0].content, "");
//! assert_eq!(view.choices[0].refusal, "no tools today");
//! assert_eq!(view.choices[0].calls, []);
//! ```

mod policy;
mod settings;
#[cfg(test)]
mod tests;

pub use policy::BufferedJudge;
pub use settings::BufferedJudgeSettings;
