//! Fold a model's stream into typed blocks and let a policy decide, block by block, what leaves.
//!
//! Bytes of a model's stream come in; they are framed, read and folded into typed [blocks](StreamBlock); a [`Policy`] sees each
//! step and says send, buffer, flush, settle or terminate; bytes that every real client accepts come out. Frames that no policy
//! touches leave byte for byte.
//!
//! # A policy
//!
//! The commonest policy decides over complete tool calls. [`each_call`] makes it of a closure:
//!
//! ```
//! use stream_core::{Verdict, each_call};
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let no_rm = || each_call(|call, _request| match call.name() {
//!     "rm" => Verdict::drop("rm is not allowed"),
//!     _ => Verdict::Release,
//! });
//!
//! let answer = Script::new().text("On it.").call("call_1", "rm", r#"{"path":"/"}"#).call("call_2", "ls", "{}");
//! for kind in WireKind::ALL {
//!     let view = Replay::new(&answer.to_log(kind)).policy(no_rm).run().view();
//!     let names: Vec<_> = view.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
//!     assert_eq!((view.choices[0].content.as_str(), names), ("On it.", vec!["ls"]), "{kind}");
//! }
//! ```
//!
//! [`each_call_async`] is its sister for judges that take their time, [`policy_fn`] a closure that sees every step. Whoever needs
//! more implements [`SyncPolicy`], or [`Policy`] where a hook has to wait.
//!
//! # In a stream
//!
//! [`StreamProcessor`] turns any stream of bytes into a stream of bytes. No task is spawned: dropping it drops the upstream.
//!
//! ```
//! use bytes::Bytes;
//! use futures::{StreamExt as _, stream};
//! use stream_core::{Passthrough, Stage, StreamProcessor};
//! # use std::time::Duration;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), stream_core::BuildError> {
//! let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
//! let upstream = stream::iter([Ok::<_, std::io::Error>(Bytes::from(body))]);
//! let processor = StreamProcessor::builder()
//!     .policy(Stage::new(Passthrough).within(Duration::from_secs(2)).fail_open())
//!     .policy(Passthrough)
//!     .build(upstream)?;
//! let out: Vec<Bytes> = processor.collect().await;
//! assert_eq!(out.concat(), body.as_bytes());
//! # Ok(())
//! # }
//! ```
//!
//! A [`Stage`] says how a policy is run: its time limit, what its failure means, whether it is only a dry run. Several stages are a
//! [`Chain`]: the output of one is the input of the next. A host without a runtime drives the [`Engine`] itself (without the feature
//! `processor`, the crate does not depend on tokio).
//!
//! # What a step is
//!
//! A hook is called with a [`Chunk`], the [`StreamState`] and a [`Context`]. The chunk is what came: text of a channel, more of a tool
//! call, something opaque, structure, or the word that a block is complete ([`StreamState::just_completed`]). The table of
//! [`Context`] says what becomes of each.
//!
//! ```
//! use stream_core::{ChunkKind, policy_fn};
//!
//! let shout = policy_fn(|chunk, _state, ctx| {
//!     let loud = match chunk.kind() {
//!         ChunkKind::Text(_) => chunk.text().map(str::to_uppercase),
//!         _ => None,
//!     };
//!     ctx.send(match loud {
//!         Some(text) => chunk.with_text(text),
//!         None => chunk,
//!     });
//!     Ok(())
//! });
//! # let _ = shout;
//! ```
//!
//! # Blocks
//!
//! Chunks add up to blocks: content, reasoning, refusals, tool calls, and opaque blocks for what no policy can read. [`Assembler`] is the fold
//! without policies, for a client that wants the blocks alone.
//!
//! ```
//! use stream_core::Assembler;
//! use stream_testkit::{Script, WireKind};
//!
//! let log = Script::new().text("On it.").call("call_1", "ls", r#"{"path":"/tmp"}"#).to_log(WireKind::AnthropicMessages);
//! let mut client = Assembler::new();
//! client.push(log.bytes())?;
//! client.finish()?;
//! let [text, call] = client.state().blocks() else { panic!("two blocks") };
//! assert_eq!(text.as_text().unwrap().text(), "On it.");
//! assert_eq!(call.as_tool_call().unwrap().arguments(), r#"{"path":"/tmp"}"#);
//! # Ok::<(), stream_core::Error>(())
//! ```
//!
//! # Needs
//!
//! [`Needs`] say what a policy looks at. Blocks that a policy does not need leave without it and cost nothing; blocks that it needs
//! [`Completed`](Attention::Completed) are held until they are complete, and shown once.
//!
//! # Decisions and endings
//!
//! A [`Verdict`] releases, drops or replaces a block, or ends the stream. A hook gives it at once with [`Context::settle`], or asks a judge with
//! [`Context::decide`], while the stream is read on. This policy drops every answer's reasoning behind its first hundred bytes, and ends the
//! answer at a word:
//!
//! ```
//! use stream_core::{
//!     Attention, Chunk, Context, Ending, Needs, PolicyError, Request, StreamState, SyncPolicy, Verdict,
//! };
//!
//! struct Short;
//!
//! impl SyncPolicy for Short {
//!     fn name(&self) -> &str {
//!         "short"
//!     }
//!
//!     fn needs(&self, _request: &Request) -> Needs {
//!         Needs::nothing().content(Attention::Chunks).reasoning(Attention::Chunks)
//!     }
//!
//!     fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
//!         let Some(block) = state.current_block() else { return Ok(()) };
//!         let text = block.as_text().map_or("", |block| block.text());
//!         if text.contains("swordfish") {
//!             ctx.terminate(Ending::refuse("This cannot be answered."));
//!         } else if block.channel() == Some(stream_core::Channel::Reasoning) && text.len() > 100 {
//!             ctx.settle(block.key(), Verdict::drop("too long"))?;
//!         } else {
//!             ctx.send(chunk);
//!         }
//!         Ok(())
//!     }
//! }
//!
//! use stream_testkit::{Replay, Script, WireKind};
//! let log = Script::new().text("The word is ").text("swordfish").to_log(WireKind::OpenAiChat);
//! assert_eq!(Replay::new(&log).policy(|| Short).run().view().choices[0].finish.as_deref(), Some("content_filter"));
//! ```
//!
//! An [`Ending`] is the API's own refusal or error, such that the official SDKs do not take it for success. Every decision is a
//! [`Decision`] for the host's [`Observer`].
//!
//! # Whole answers and other formats
//!
//! [`processor::Builder::whole`] takes a response that is not streamed through the same policies:
//!
//! ```
//! use stream_core::{StreamProcessor, Verdict, each_call};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), stream_core::BuildError> {
//! let body = r#"{"choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}]}"#;
//! let policy = each_call(|_, _| Verdict::drop("no calls"));
//! let whole = StreamProcessor::builder().policy(policy).whole(body).await?;
//! assert_eq!(whole.body, body);
//! # Ok(())
//! # }
//! ```
//!
//! The four formats stand behind [`wire::WireFormat`], which a user can implement ([`Config::also`]); its page shows one.
//!
//! # How it works
//!
//! The walk of a chunk through the rooms of this crate is drawn in [the architecture](guide::architecture); the rules that tests cite
//! by number are [the rules](guide::rules). [`Assembler`] folds without policies.

pub mod assembler;
pub mod block;
pub mod chunk;
pub mod context;
pub mod delta;
pub mod ending;
pub mod engine;
pub mod error;
mod few;
#[cfg(any(doc, doctest))]
pub mod guide {
    //! How the crate is built, and the rules that it keeps.

    #[doc = include_str!("../docs/architecture.md")]
    pub mod architecture {}

    #[doc = include_str!("../docs/rules.md")]
    pub mod rules {}

    #[doc = include_str!("../docs/text-calls.md")]
    pub mod text_calls {}
}
pub(crate) mod json;
pub mod limits;
mod passthrough;
pub mod policy;
#[cfg(feature = "processor")]
pub mod processor;
pub mod record;
pub mod request;
mod scrub;
mod spare;
mod spelling;
pub mod sse;
pub mod state;
pub mod text_calls;
pub mod wire;

pub use assembler::Assembler;
pub use async_trait::async_trait;
pub use block::{BlockKey, BlockStatus, OpaqueBlock, StreamBlock, TextBlock, ToolCall};
pub use chunk::{Chunk, ChunkKind, Structure};
pub use context::{Context, EffectError};
pub use delta::{CallFlavor, Channel, FinishKind, FinishReason, Runs, UpstreamError, Usage};
pub use ending::{Ending, EndingKind};
pub use engine::{BuildError, Config, Engine, Ticket};
pub use error::{Error, ErrorKind, Origin};
pub use limits::Limits;
pub use passthrough::Passthrough;
pub use policy::{
    Attention, Chain, Decide, End, Needs, OnFailure, Policy, PolicyError, Release, Replacement, Stage,
    SyncPolicy, Verdict, each_call, each_call_async, policy_fn,
};
#[cfg(feature = "processor")]
pub use processor::{Handle, Outcome, StreamProcessor};
pub use record::{Action, Cause, Decision, Observer};
pub use request::{CallTags, Request, SessionKey, Tool};
pub use scrub::Scrub;
pub use state::StreamState;
pub use wire::Odd;

/// The code in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
