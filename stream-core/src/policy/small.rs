//! Policies made of closures.

use std::fmt;
use std::future::Future;

use super::{Attention, Needs, PolicyError, SyncPolicy, Verdict};
use crate::block::{StreamBlock, ToolCall};
use crate::chunk::Chunk;
use crate::context::Context;
use crate::policy::Decide;
use crate::request::Request;
use crate::state::StreamState;

/// Makes a policy of a closure that is called at every step, or at the steps that it [needs](PolicyFn::needing). A payload chunk that the closure neither sends nor buffers is dropped.
///
/// ```
/// use stream_core::{StreamProcessor, policy_fn};
///
/// let shout = policy_fn(|chunk, _, ctx| {
///     let text = chunk.text().map(str::to_uppercase);
///     ctx.send(match text {
///         Some(text) => chunk.with_text(text),
///         None => chunk,
///     });
///     Ok(())
/// });
/// let builder = StreamProcessor::builder().policy(shout);
/// # let _ = builder;
/// ```
pub fn policy_fn<F>(hook: F) -> PolicyFn<F>
where
    F: FnMut(Chunk, &StreamState, &mut Context<'_>) -> Result<(), PolicyError> + Send,
{
    PolicyFn { hook, needs: Needs::everything() }
}

/// The policy that [`policy_fn`] makes.
#[derive(Clone)]
#[must_use]
pub struct PolicyFn<F> {
    hook: F,
    needs: Needs,
}

impl<F> PolicyFn<F> {
    /// Sets the needs of the policy, in place of [`Needs::everything`].
    ///
    /// ```
    /// use stream_core::{Attention, Needs, policy_fn};
    ///
    /// // Reasoning is dropped. Other blocks pass without the policy.
    /// let mute = policy_fn(|_, _, _| Ok(())).needing(Needs::nothing().reasoning(Attention::Chunks));
    /// # let _ = mute;
    /// ```
    pub fn needing(mut self, needs: Needs) -> Self {
        self.needs = needs;
        self
    }
}

impl<F> SyncPolicy for PolicyFn<F>
where
    F: FnMut(Chunk, &StreamState, &mut Context<'_>) -> Result<(), PolicyError> + Send,
{
    fn name(&self) -> &str {
        "policy_fn"
    }

    fn needs(&self, _: &Request) -> Needs {
        self.needs.clone()
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        (self.hook)(chunk, state, ctx)
    }
}

/// Makes a policy of a closure that decides over each complete tool call. Everything else passes.
///
/// The policy holds a call until the closure has returned. A call that is cut off is never complete: it is dropped at the end of the
/// stream.
///
/// ```
/// use stream_core::{StreamProcessor, Verdict, each_call};
///
/// let no_rm = each_call(|call, _| match call.name() {
///     "rm" => Verdict::drop("rm is not run here"),
///     _ => Verdict::Release,
/// });
/// let builder = StreamProcessor::builder().policy(no_rm);
/// # let _ = builder;
/// ```
pub fn each_call<F>(judge: F) -> EachCall<F>
where
    F: FnMut(&ToolCall, &Request) -> Verdict + Send,
{
    EachCall(judge)
}

/// The policy that [`each_call`] makes.
#[derive(Clone)]
#[must_use]
pub struct EachCall<F>(F);

impl<F> SyncPolicy for EachCall<F>
where
    F: FnMut(&ToolCall, &Request) -> Verdict + Send,
{
    fn name(&self) -> &str {
        "each_call"
    }

    fn needs(&self, _: &Request) -> Needs {
        WHOLE_CALLS
    }

    fn on_chunk(&mut self, _: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let Some(call) = completed_call(state) else { return Ok(()) };
        let verdict = (self.0)(call, ctx.request());
        Ok(ctx.settle(call.key(), verdict)?)
    }
}

/// Makes a policy like [`each_call`] whose verdict is a future. While the future runs, the call is held, the stream is read on, and other
/// calls are judged. An error, a panic or the deadline of the future drops the call.
///
/// ```
/// use stream_core::{StreamProcessor, Verdict, each_call_async};
///
/// async fn is_allowed(name: String) -> std::io::Result<bool> {
///     Ok(name != "rm")
/// }
///
/// let asked = each_call_async(|call, _| {
///     let name = call.name().to_owned();
///     async move {
///         Ok(if is_allowed(name).await? { Verdict::Release } else { Verdict::drop("not allowed") })
///     }
/// });
/// let builder = StreamProcessor::builder().policy(asked);
/// # let _ = builder;
/// ```
pub fn each_call_async<F, V>(judge: F) -> EachCallAsync<F>
where
    F: FnMut(&ToolCall, &Request) -> V + Send,
    V: Future<Output = Result<Verdict, PolicyError>> + Send + 'static,
{
    EachCallAsync(judge)
}

/// The policy that [`each_call_async`] makes.
#[derive(Clone)]
#[must_use]
pub struct EachCallAsync<F>(F);

impl<F, V> SyncPolicy for EachCallAsync<F>
where
    F: FnMut(&ToolCall, &Request) -> V + Send,
    V: Future<Output = Result<Verdict, PolicyError>> + Send + 'static,
{
    fn name(&self) -> &str {
        "each_call"
    }

    fn needs(&self, _: &Request) -> Needs {
        WHOLE_CALLS
    }

    fn on_chunk(&mut self, _: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let Some(call) = completed_call(state) else { return Ok(()) };
        let judge = (self.0)(call, ctx.request());
        Ok(ctx.decide(call.key(), Decide::by(judge))?)
    }
}

/// The needs of a policy that decides over complete calls.
const WHOLE_CALLS: Needs = Needs::nothing().calls(Attention::Completed);

fn completed_call(state: &StreamState) -> Option<&ToolCall> {
    state.just_completed().and_then(StreamBlock::as_tool_call)
}

macro_rules! named_debug {
    ($($name:ident),*) => { $(
        impl<F> fmt::Debug for $name<F> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(stringify!($name))
            }
        }
    )* };
}
named_debug!(PolicyFn, EachCall, EachCallAsync);
