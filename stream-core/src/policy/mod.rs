//! The seam: what a policy is, what it looks at, what it answers.

mod needs;
mod small;
mod stage;
mod verdict;

use std::error::Error as StdError;
use std::fmt;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::chunk::Chunk;
use crate::context::Context;
use crate::delta::UpstreamError;
use crate::error::Error;
use crate::request::Request;
use crate::state::StreamState;
use crate::wire::Ending;

pub use needs::{Attention, Needs};
pub use small::{EachCall, EachCallAsync, PolicyFn, each_call, each_call_async, policy_fn};
pub use stage::{Chain, OnFailure, Stage};
pub(crate) use verdict::With;
pub use verdict::{Decide, Release, Replacement, Verdict, VerdictFuture};

/// Decides over one stream.
///
/// A policy is one value per stream, made by a factory: streams share no state unless the policy shares it itself.
/// How a policy is run (a time limit, what its failure means, whether it is enforced) is said of its [`Stage`].
///
/// Most policies are smaller than this trait: [`each_call`] decides over complete tool calls, [`policy_fn`] over steps. A
/// policy whose hooks never wait implements [`SyncPolicy`], and is a `Policy` by that.
///
/// ```
/// use stream_core::{Chunk, Context, Policy, PolicyError, StreamState, Verdict, async_trait};
///
/// /// Lets text flow and holds every call until it is complete; `rm` never leaves.
/// struct NoRm;
///
/// #[async_trait]
/// impl Policy for NoRm {
///     async fn on_chunk(
///         &mut self,
///         chunk: Chunk,
///         state: &StreamState,
///         ctx: &mut Context<'_>,
///     ) -> Result<(), PolicyError> {
///         match state.just_completed().and_then(|block| block.as_tool_call()) {
///             Some(call) if call.name() == "rm" => ctx.settle(call.key(), Verdict::drop("rm is not run here"))?,
///             Some(call) => ctx.settle(call.key(), Verdict::Release)?,
///             None if chunk.is_tool_call() => ctx.buffer(chunk),
///             None => ctx.send(chunk),
///         }
///         Ok(())
///     }
/// }
/// ```
#[async_trait]
pub trait Policy: Send {
    /// The name under which decisions are recorded.
    fn name(&self) -> &str {
        short_name::<Self>()
    }

    /// The blocks that the policy looks at in the answer to this request; all blocks by default. The engine asks once, when the
    /// stream starts.
    ///
    /// Blocks that a policy does not look at cost nothing and leave without it. A policy that has nothing to say of a request
    /// needs nothing: the stream leaves as if the policy were not there.
    fn needs(&self, request: &Request) -> Needs {
        let _ = request;
        Needs::everything()
    }

    /// Called at every step the policy [needs](Self::needs). The hook may do what [`Context`] offers; what it does takes
    /// effect when the hook returns `Ok`, and not at all when it returns `Err`, panics, takes too long or is dropped.
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError>;

    /// Called once when the stream is over and every decision has come: the last chance to flush. Blocks that are still
    /// held afterwards are dropped and recorded. Not called after this policy failed or terminated, nor after
    /// [`on_abort`](Self::on_abort).
    async fn on_end(
        &mut self,
        end: End,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let _ = (end, state, ctx);
        Ok(())
    }

    /// Called when the client went away, or a later stage ended the stream. Synchronous: it is also called when the stream is
    /// dropped.
    fn on_abort(&mut self) {}

    /// Runs a hook: how the engine, and wrappers of policies, call `on_chunk` and `on_end`. A hook that never waits answers
    /// without a future.
    #[doc(hidden)]
    fn run<'a>(&'a mut self, step: Step, state: &'a StreamState, ctx: &'a mut Context<'_>) -> Ran<'a> {
        match step {
            Step::Chunk(chunk) => Ran::Waits(self.on_chunk(chunk, state, ctx)),
            Step::End(end) => Ran::Waits(self.on_end(end, state, ctx)),
        }
    }

    /// Whether [`run`](Self::run) may answer with a future.
    #[doc(hidden)]
    fn waits(&self) -> bool {
        true
    }
}

/// A [`Policy`] whose hooks never wait: the same methods without `async`. No future is made for them, and a host that
/// cannot wait takes such policies only.
///
/// A hook that cannot wait can still ask somebody: the future that it gives to [`Context::decide`] is polled by the host
/// while the stream goes on.
///
/// ```
/// use stream_core::{Attention, Chunk, Context, Needs, PolicyError, Request, StreamState, SyncPolicy};
///
/// /// Counts the characters of the answer.
/// struct Count(usize);
///
/// impl SyncPolicy for Count {
///     fn needs(&self, _: &Request) -> Needs {
///         Needs::nothing().content(Attention::Chunks)
///     }
///
///     fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
///         self.0 += chunk.text().map_or(0, |text| text.chars().count());
///         ctx.send(chunk);
///         Ok(())
///     }
/// }
/// ```
pub trait SyncPolicy: Send {
    /// As [`Policy::name`].
    fn name(&self) -> &str {
        short_name::<Self>()
    }

    /// As [`Policy::needs`].
    fn needs(&self, request: &Request) -> Needs {
        let _ = request;
        Needs::everything()
    }

    /// As [`Policy::on_chunk`].
    ///
    /// # Errors
    ///
    /// When the policy has failed.
    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError>;

    /// As [`Policy::on_end`].
    ///
    /// # Errors
    ///
    /// When the policy has failed.
    fn on_end(&mut self, end: End, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let _ = (end, state, ctx);
        Ok(())
    }

    /// As [`Policy::on_abort`].
    fn on_abort(&mut self) {}
}

#[async_trait]
impl<P: SyncPolicy> Policy for P {
    fn name(&self) -> &str {
        SyncPolicy::name(self)
    }

    fn needs(&self, request: &Request) -> Needs {
        SyncPolicy::needs(self, request)
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        SyncPolicy::on_chunk(self, chunk, state, ctx)
    }

    async fn on_end(
        &mut self,
        end: End,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        SyncPolicy::on_end(self, end, state, ctx)
    }

    fn on_abort(&mut self) {
        SyncPolicy::on_abort(self);
    }

    fn run<'a>(&'a mut self, step: Step, state: &'a StreamState, ctx: &'a mut Context<'_>) -> Ran<'a> {
        Ran::Now(match step {
            Step::Chunk(chunk) => SyncPolicy::on_chunk(self, chunk, state, ctx),
            Step::End(end) => SyncPolicy::on_end(self, end, state, ctx),
        })
    }

    fn waits(&self) -> bool {
        false
    }
}

#[async_trait]
impl Policy for Box<dyn Policy> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn needs(&self, request: &Request) -> Needs {
        (**self).needs(request)
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        (**self).on_chunk(chunk, state, ctx).await
    }

    async fn on_end(
        &mut self,
        end: End,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        (**self).on_end(end, state, ctx).await
    }

    fn on_abort(&mut self) {
        (**self).on_abort();
    }

    fn run<'a>(&'a mut self, step: Step, state: &'a StreamState, ctx: &'a mut Context<'_>) -> Ran<'a> {
        (**self).run(step, state, ctx)
    }

    fn waits(&self) -> bool {
        (**self).waits()
    }
}

/// What a hook is called with.
#[doc(hidden)]
#[derive(Debug)]
pub enum Step {
    /// `on_chunk`.
    Chunk(Chunk),
    /// `on_end`.
    End(End),
}

/// What a hook answered, or the future that will.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "a future has none")]
pub enum Ran<'a> {
    /// The hook has returned.
    Now(Result<(), PolicyError>),
    /// The hook has to be waited for.
    Waits(BoxFuture<'a, Result<(), PolicyError>>),
}

/// The name of a type, without its path.
fn short_name<T: ?Sized>() -> &'static str {
    let full = std::any::type_name::<T>();
    full.rsplit("::").next().unwrap_or(full)
}

/// How a stream ended (rule 4).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum End {
    /// A finish reason or the terminal marker came.
    Finished,
    /// The bytes ended early, or the stream was closed for this error. Open blocks were aborted.
    Cut(Option<Error>),
    /// The upstream reported an error in the stream. Open blocks were aborted.
    Failed(UpstreamError),
    /// An earlier stage ended the stream so.
    Terminated(Ending),
}

/// Any error of a policy. Made from every error type by `?`.
pub struct PolicyError(Box<dyn StdError + Send + Sync>);

impl PolicyError {
    /// An error of one sentence.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into().into())
    }

    /// The error that the policy returned.
    #[must_use]
    pub fn into_inner(self) -> Box<dyn StdError + Send + Sync> {
        self.0
    }
}

impl<E: Into<Box<dyn StdError + Send + Sync>>> From<E> for PolicyError {
    fn from(error: E) -> Self {
        Self(error.into())
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
