//! Fold a model's stream into typed blocks and let an async policy decide, block by block, what leaves.
//!
//! Bytes of a model's stream come in; they are framed, decoded and folded into typed blocks; an async [`Policy`] sees
//! every step and says send, buffer, flush or terminate; bytes that any real client accepts come out.
//!
//! - [`StreamProcessor`] is the way in: any stream of bytes becomes a stream of bytes.
//! - [`Policy`] and [`Context`] are the seam.
//! - [`Assembler`] folds without policies, [`Engine`] runs without async.
//! - [`wire`] holds the formats, behind a trait of which a user can bring their own.
//!
//! The walk of a chunk through these rooms is drawn in [the architecture](guide::architecture); the rules that tests cite by
//! number are [the rules](guide::rules).

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
