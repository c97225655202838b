//! Policies: the traits, their needs, stages and verdicts.

mod needs;
mod small;
mod stage;
mod verdict;

use std::fmt;

use async_trait::async_trait;
use futures::future::BoxFuture;

use crate::chunk::Chunk;
use crate::context::Context;
use crate::delta::UpstreamError;
use crate::error::{BoxError, Error};
use crate::request::Request;
use crate::state::StreamState;
use crate::wire::Ending;

pub use needs::{Attention, Needs};
pub use small::{EachCall, EachCallAsync, PolicyFn, each_call, each_call_async, policy_fn};
pub use stage::{Chain, OnFailure, Stage};
pub(crate) use verdict::With;
pub use verdict::{Decide, Release, Replacement, Verdict, VerdictFuture};

/// A policy over one stream.
///
/// Every stream has a policy value of its own: streams share no state unless the policy shares it itself. The [`Stage`] of a
/// policy holds how it is run: a time limit, whether it fails open, whether it is a dry run.
///
/// Most policies are smaller than this trait: [`each_call`] decides over complete tool calls, [`policy_fn`] over steps. A
/// policy whose hooks never wait implements [`SyncPolicy`], and is a `Policy` by that.
///
/// # Traps
///
/// - **A payload chunk that is neither sent nor buffered is dropped**, and recorded. A hook that ignores a chunk hides it.
/// - **Blocks that are still held after [`on_end`](Self::on_end) are dropped.** A policy that buffers implements `on_end`, or settles
///   every block when it completes.
/// - **A cut stream completes nothing.** A call that was cut off is never [`just_completed`](StreamState::just_completed).
/// - **A stored chunk cannot be sent later**: the hook fails. [`Context::buffer`] holds a chunk in its place, and
///   [`Context::settle`] releases its block.
/// - **A hook that awaits delays the stream.** [`Context::decide`] judges a block while the stream is read on.
///
/// ```
/// use stream_core::{Chunk, Context, Policy, PolicyError, StreamState, Verdict, async_trait};
///
/// /// Sends text at once, holds every call until it is complete, and drops `rm`.
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
    /// The name of the policy in records; by default the name of its type.
    fn name(&self) -> &str {
        short_name::<Self>()
    }

    /// The blocks that the policy looks at in the answer to this request; all blocks by default. The engine asks once, when the
    /// stream starts.
    ///
    /// Other blocks cost nothing and pass without the policy. Where a policy [needs nothing](Needs::nothing), the stream passes as if the policy
    /// were not there.
    fn needs(&self, request: &Request) -> Needs {
        let _ = request;
        Needs::everything()
    }

    /// Handles one step that the policy [needs](Self::needs), with the effects that [`Context`] offers. Effects take place when the hook
    /// returns `Ok`, and not at all when it returns `Err`, panics, exceeds its time limit or is dropped. A payload chunk without an
    /// effect is dropped.
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError>;

    /// Handles the end of the stream, once, after every decision: the last chance to release blocks. Blocks that are still held
    /// afterwards are dropped and recorded. The engine does not call `on_end` after this policy failed or terminated, nor after
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

    /// Handles a client that disconnected, or a later stage that ended the stream. The hook is synchronous, since dropping the stream
    /// calls it too.
    fn on_abort(&mut self) {}

    /// Runs a hook, for the engine and for wrappers of policies. A hook that never waits returns without a future.
    #[doc(hidden)]
    fn run<'a>(&'a mut self, step: Step, state: &'a StreamState, ctx: &'a mut Context<'_>) -> Ran<'a> {
        match step {
            Step::Chunk(chunk) => Ran::Waits(self.on_chunk(chunk, state, ctx)),
            Step::End(end) => Ran::Waits(self.on_end(end, state, ctx)),
        }
    }

    /// Returns whether [`run`](Self::run) may return a future.
    #[doc(hidden)]
    fn waits(&self) -> bool {
        true
    }
}

/// A [`Policy`] whose hooks never wait: the same methods without `async`. No future is boxed for them, and a host that
/// cannot wait accepts only such policies.
///
/// A synchronous hook can still start a judge: the host polls the future that [`Context::decide`] takes, while the stream is
/// read on.
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

/// The argument of a hook.
#[doc(hidden)]
#[derive(Debug)]
pub enum Step {
    /// `on_chunk`.
    Chunk(Chunk),
    /// `on_end`.
    End(End),
}

/// The result of a hook, or its future.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "a future has none")]
pub enum Ran<'a> {
    /// The hook has returned.
    Now(Result<(), PolicyError>),
    /// The future of a hook that waits.
    Waits(BoxFuture<'a, Result<(), PolicyError>>),
}

/// The name of a type, without its path.
fn short_name<T: ?Sized>() -> &'static str {
    let full = std::any::type_name::<T>();
    full.rsplit("::").next().unwrap_or(full)
}

/// The end of a stream, for [`Policy::on_end`]. Only a finished stream completes its open blocks ([rule 4](crate::guide::rules#rule-4)).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum End {
    /// The stream had its finish reasons or its terminal marker.
    Finished,
    /// The bytes ended early, or this error closed the stream. Open blocks were aborted.
    Cut(Option<Error>),
    /// The upstream reported an error in the stream. Open blocks were aborted.
    Failed(UpstreamError),
    /// An earlier stage ended the stream with this ending. Open blocks were aborted.
    Terminated(Ending),
}

/// Any error of a policy. The operator `?` converts every error type.
///
/// ```
/// use stream_core::{PolicyError, policy_fn};
///
/// let strict = policy_fn(|chunk, _state, ctx| {
///     if let Some(text) = chunk.text() {
///         std::str::from_utf8(text.as_bytes())?; // any error type
///         if text.contains('\0') {
///             return Err(PolicyError::new("expected text, found a NUL"));
///         }
///     }
///     ctx.send(chunk);
///     Ok(())
/// });
/// # let _ = strict;
/// ```
pub struct PolicyError(BoxError);

impl PolicyError {
    /// Creates an error of one sentence.
    #[must_use]
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into().into())
    }

    /// The source of the error that the policy returned. A `PolicyError` is no [`Error`](std::error::Error) itself, so that the operator
    /// `?` can convert every error type into it.
    #[must_use]
    pub fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.0.source()
    }

    /// The error that the policy returned.
    #[must_use]
    pub fn into_inner(self) -> BoxError {
        self.0
    }
}

impl<E: Into<BoxError>> From<E> for PolicyError {
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
