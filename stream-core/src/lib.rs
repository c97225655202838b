//! Policies for the answers of language models: bytes of a stream in, the bytes that a policy lets through out.
//!
//! A model API streams its answer as server-sent events. This crate cuts the bytes into frames, reads each frame, and folds what the frames
//! say into typed [blocks](StreamBlock): text, reasoning, tool calls. A [`Policy`] is shown every step of the fold, and sends, holds, drops,
//! replaces or ends. A frame that no policy touches is written to the client byte for byte; a touched frame stays valid for the API's own SDKs.
//! The crate reads and writes OpenAI Chat Completions, OpenAI Responses, Anthropic Messages and Gemini, streamed and whole.
//!
//! # A policy
//!
//! Most policies decide over complete tool calls. [`each_call`] makes such a policy of a closure. Text is sent at once, and a call is held until
//! the closure has returned its verdict:
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
//! | policy | for |
//! |---|---|
//! | [`each_call`] | a verdict over each complete tool call |
//! | [`each_call_async`] | the same, by a future: a service, a model, a person |
//! | [`policy_fn`] | a closure that is called at every step, or at the steps that it needs |
//! | [`SyncPolicy`] | a type with state, or with an `on_end` |
//! | [`Policy`] | the same with `async` hooks |
//!
//! # In a stream
//!
//! [`StreamProcessor`] is a stream of bytes over a stream of bytes. The processor spawns no task, and dropping it drops the upstream.
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
//! A [`Stage`] is a policy and how it is run: its time limit, whether a failure closes the stream, whether the policy is a dry run. Stages form
//! a [`Chain`]: each stage reads the output of the stage before it. [`Config`] holds the settings of a stream, [`Limits`] its limits, and
//! [`Request`] the facts of the request that policies may read. A [`Handle`] stops a running stream.
//!
//! A host without a runtime drives the [`Engine`], which has neither I/O nor a clock. Without the feature `processor` the crate does not depend
//! on tokio.
//!
//! # Steps
//!
//! A hook is called once per step, with the [`Chunk`] of the step, the [`StreamState`] so far, and a [`Context`] for what it decides:
//!
//! | step | [`Chunk::kind`] | without a decision of the hook |
//! |---|---|---|
//! | a piece of text, of a tool call, or of an opaque block | [`Text`](ChunkKind::Text), [`ToolCall`](ChunkKind::ToolCall), [`Opaque`](ChunkKind::Opaque) | **dropped**, and recorded; held where the block is under [`decide`](Context::decide) |
//! | a block is complete: [`StreamState::just_completed`] | [`Completed`](ChunkKind::Completed) | held parts of the block stay held |
//! | an opening, a finish, usage, a keep-alive | [`Structure`](ChunkKind::Structure) | written to the client, in order |
//!
//! The table on [`Context`] lists every effect. Effects take place when the hook returns `Ok`, and not at all when it returns `Err`, panics or
//! exceeds its time limit.
//!
//! ```
//! use stream_core::{ChunkKind, policy_fn};
//! use stream_testkit::{Replay, Script, WireKind};
//!
//! let shout = || policy_fn(|chunk, _state, ctx| {
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
//!
//! let log = Script::new().text("On it.").to_log(WireKind::Gemini);
//! assert_eq!(Replay::new(&log).policy(shout).run().view().choices[0].content, "ON IT.");
//! ```
//!
//! # Blocks
//!
//! Deltas add up to blocks: content, reasoning, refusals, tool calls, and opaque blocks for what is none of these. A block is known by its
//! [`BlockKey`]; ids and indices are the provider's, and may repeat. [`Assembler`] folds without policies, for a client that wants the blocks alone.
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
//! [`Needs`] name the blocks that a policy looks at, and how closely. A block that a policy does not need passes without it and costs nothing; a
//! block that a policy needs [`Completed`](Attention::Completed) is held until it is complete, and is then one step.
//!
//! ```
//! use stream_core::{Attention, Chunk, Context, Needs, PolicyError, Request, StreamState, SyncPolicy, Verdict};
//!
//! /// Drops reasoning that names a customer. Text and calls pass without this policy.
//! struct NoNames;
//!
//! impl SyncPolicy for NoNames {
//!     fn needs(&self, _request: &Request) -> Needs {
//!         Needs::nothing().reasoning(Attention::Completed)
//!     }
//!
//!     fn on_chunk(&mut self, _chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
//!         let Some(block) = state.just_completed() else { return Ok(()) };
//!         let names = block.as_text().is_some_and(|text| text.text().contains("Jane Doe"));
//!         Ok(ctx.settle(block.key(), if names { Verdict::drop("a name") } else { Verdict::Release })?)
//!     }
//! }
//!
//! use stream_testkit::{Replay, Script, WireKind};
//! let log = Script::new().reasoning("Jane Doe asks.").text("Hello.").to_log(WireKind::OpenAiChat);
//! let view = Replay::new(&log).policy(|| NoNames).run().view();
//! assert_eq!((view.choices[0].reasoning.as_str(), view.choices[0].content.as_str()), ("", "Hello."));
//! ```
//!
//! # Decisions and endings
//!
//! A [`Verdict`] releases, drops or replaces a block, or ends the stream. A hook applies a verdict with [`Context::settle`], or starts a judge
//! with [`Context::decide`] and returns: the block is held, and the stream is read on. Blocks that are still held after
//! [`on_end`](Policy::on_end) are dropped. An [`Ending`] is the API's own refusal or error, which the official SDKs do not take for success.
//!
//! This policy drops reasoning once it is longer than a hundred bytes, and ends the answer at a word:
//!
//! ```
//! use stream_core::{
//!     Attention, Channel, Chunk, Context, Ending, Needs, PolicyError, Request, StreamState, SyncPolicy, Verdict,
//! };
//!
//! struct Short;
//!
//! impl SyncPolicy for Short {
//!     fn needs(&self, _request: &Request) -> Needs {
//!         Needs::nothing().content(Attention::Chunks).reasoning(Attention::Chunks)
//!     }
//!
//!     fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
//!         let Some(block) = state.current_block() else { return Ok(()) };
//!         let text = block.as_text().map_or("", |block| block.text());
//!         if text.contains("swordfish") {
//!             ctx.terminate(Ending::refuse("This cannot be answered."));
//!         } else if block.channel() == Some(Channel::Reasoning) && text.len() > 100 {
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
//! Every decision is a [`Decision`] for the host's [`Observer`]: the policy, the block, the action, the cause, bytes and time, and no text of the stream.
//!
//! # Whole answers
//!
//! [`processor::Builder::whole`] runs the same policies over a response that is not streamed:
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
//! # A format of your own
//!
//! A wire format implements [`wire::WireFormat`] and a [`wire::Writer`]; the page of the trait has one that runs. [`Config::also`] adds the format to those
//! that are recognised by their frames, and [`Config::format`] names it.
//!
//! # Further
//!
//! | page | has |
//! |---|---|
//! | [architecture](guide::architecture) | the way of a delta through this crate, file by file |
//! | [rules](guide::rules) | the numbered rules that tests and comments cite |
//! | [text calls](guide::text_calls) | tool calls that models write into their text |
//! | `stream-policies` | bundled policies: gates, judges, redaction, quotas, validation |
//! | `stream-http`, `stream-envoy` | the processor as a tower layer, and in Envoy |
//! | `stream-testkit` | scripts, replay, snapshots and laws, for tests of policies |

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
    //! The [architecture] of the crate, the [rules] that its tests cite, and [calls written as text](text_calls).

    // The first definition of a link counts: these lead to pages of this documentation where the guides lead to files.
    #[doc = "[rule 20]: crate::guide::rules#rule-20"]
    #[doc = "[rule 21]: crate::guide::rules#rule-21"]
    #[doc = include_str!("../docs/architecture.md")]
    pub mod architecture {}

    #[doc = "[one meaning]: crate::wire::Odd"]
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
pub use error::{BoxError, Error, ErrorKind, Origin};
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
