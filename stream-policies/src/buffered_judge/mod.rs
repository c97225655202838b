//! BufferedJudge: holds everything until a completed call was judged.
//!
//! The policy holds everything until a tool call is complete and judged. An approval releases everything, in order. A denial ends the answer: the
//! client gets the reason in the format's refusal, and nothing of the call.
//!
//! BufferedJudge is the strictest and the slowest of the gates: **the client of a stream without calls sees nothing before its
//! end**, and the stream waits while a call is judged. [`ToolGate`](crate::ToolGate) judges the same calls and sends text at once.
//!
//! # What is held, and for how long
//!
//! | what | how long |
//! |---|---|
//! | text, reasoning, refusals, calls that the provider runs | until the next call was approved, or the end |
//! | a tool call, and an opaque block of which the format does not tell who runs it | until it is complete and approved |
//! | structure (the opening, pings) | not at all |
//!
//! A denial drops everything that is held. At the end of a cut stream, text is still released; an incomplete call never is.
//! [`Limits::held`](stream_core::Limits::held) bounds the held bytes. A judge that fails or misses its deadline ends the stream with an error, unless the
//! stage [fails open](stream_core::Stage::fail_open).
//!
//! # Settings
//!
//! | setting | default | |
//! |---|---|---|
//! | `message` | `"{reason}"` | the sentence for the client at a denial; `{reason}` is the judge's reason |
//!
//! The message is written where the format has a place for it: a refusal (chat, Responses), the explanation of a refusal
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
