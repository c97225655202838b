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
//! # Needs
//!
//! [`Needs`] say what a policy looks at. What it does not need leaves without it and costs it nothing; what it needs
//! [`Completed`](Attention::Completed) is held for it and shown once.
//!
//! # Decisions and endings
//!
//! A [`Verdict`] releases, drops or replaces a block, or ends the stream: said at once with [`Context::settle`], or by a judge that is
//! asked with [`Context::decide`] while the stream is read on. An [`Ending`] is the API's own refusal or error, such that the
//! official SDKs do not take it for success. Every decision is a [`Decision`] for the host's [`Observer`].
//!
//! # Whole answers and other formats
//!
//! [`processor::Builder::whole`] takes a response that is not streamed through the same policies. The four formats stand behind
//! [`wire::WireFormat`], which a user can implement ([`Config::also`]).
//!
//! # How it works
//!
//! The walk of a chunk through the rooms of this crate is drawn in [the architecture](guide::architecture); the rules that tests cite
//! by number are [the rules](guide::rules). [`Assembler`] folds without policies.

pub mod assembler;
pub mod block;
pub mod chunk;
mod closing;
pub mod context;
pub mod delta;
pub mod engine;
pub mod error;
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
mod intake;
pub(crate) mod json;
mod lanes;
mod ledger;
pub mod limits;
mod outbox;
mod passthrough;
pub mod policy;
#[cfg(feature = "processor")]
pub mod processor;
pub mod record;
pub mod request;
mod scrub;
mod spelling;
pub mod sse;
mod stage;
pub mod state;
pub mod text_calls;
pub mod wire;

pub use assembler::Assembler;
pub use async_trait::async_trait;
pub use block::{BlockKey, BlockStatus, OpaqueBlock, StreamBlock, TextBlock, ToolCall};
pub use chunk::{Chunk, ChunkKind, Structure};
pub use context::{Context, EffectError};
pub use delta::{CallFlavor, Channel, FinishKind, FinishReason, Runs, UpstreamError, Usage};
pub use engine::{BuildError, Config, Engine};
pub use error::{Error, ErrorKind, Origin};
pub use ledger::Ticket;
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
pub use wire::{Ending, EndingKind, Odd};

/// The code in the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
