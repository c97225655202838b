//! The policies the matrix is made with.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stream_core::{
    Attention, Chunk, ChunkKind, Context, End, Needs, Policy, PolicyError, StreamState, ToolCall,
    async_trait, policy_fn,
};

/// What a hook did, or is to do.
pub(crate) type Did = Result<(), PolicyError>;

/// A policy that is one function of the step. Its hook is a future: `policy_fn` makes policies without one.
pub(crate) struct Hook<F>(pub(crate) F);

#[async_trait]
impl<F> Policy for Hook<F>
where
    F: FnMut(Chunk, &StreamState, &mut Context<'_>) -> Did + Send,
{
    fn name(&self) -> &str {
        "hook"
    }

    async fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        (self.0)(chunk, state, ctx)
    }
}

/// Gives every step to the function.
pub(crate) fn hook<F>(function: F) -> Hook<F>
where
    F: FnMut(Chunk, &StreamState, &mut Context<'_>) -> Did + Send,
{
    Hook(function)
}

/// Sends everything but calls, holds those, and gives each complete one to the function.
pub(crate) fn at_calls(
    mut function: impl FnMut(&ToolCall, &mut Context<'_>) -> Did + Send,
) -> Hook<impl FnMut(Chunk, &StreamState, &mut Context<'_>) -> Did + Send> {
    hook(move |chunk, state, ctx| {
        let complete = state.just_completed().and_then(|block| block.as_tool_call());
        if chunk.is_tool_call() {
            ctx.buffer(chunk);
        } else {
            ctx.send(chunk);
        }
        complete.map_or(Ok(()), |call| function(call, ctx))
    })
}

/// Sends everything.
pub(crate) fn send_all() -> Hook<impl FnMut(Chunk, &StreamState, &mut Context<'_>) -> Did + Send> {
    hook(|chunk, _, ctx| {
        ctx.send(chunk);
        Ok(())
    })
}

/// Sends content, and needs nothing else.
pub(crate) fn text_only() -> impl Policy {
    let send = |chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| {
        ctx.send(chunk);
        Ok(())
    };
    policy_fn(send).needing(Needs::nothing().content(Attention::Chunks))
}

/// How often the hooks of a policy were called.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    pub(crate) chunks: AtomicUsize,
    pub(crate) ends: AtomicUsize,
    pub(crate) aborts: AtomicUsize,
}

impl Calls {
    /// `on_chunk`, `on_end`, `on_abort`.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let load = |count: &AtomicUsize| count.load(Ordering::SeqCst);
        (load(&self.chunks), load(&self.ends), load(&self.aborts))
    }
}

/// Counts the calls of another policy's hooks.
pub(crate) struct Counted<P> {
    inner: P,
    calls: Arc<Calls>,
}

pub(crate) fn counted<P: Policy>(inner: P) -> (Counted<P>, Arc<Calls>) {
    let calls = Arc::new(Calls::default());
    (Counted { inner, calls: Arc::clone(&calls) }, calls)
}

#[async_trait]
impl<P: Policy> Policy for Counted<P> {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn needs(&self, request: &stream_core::Request) -> stream_core::Needs {
        self.inner.needs(request)
    }

    async fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        self.calls.chunks.fetch_add(1, Ordering::SeqCst);
        self.inner.on_chunk(chunk, state, ctx).await
    }

    async fn on_end(&mut self, end: End, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        self.calls.ends.fetch_add(1, Ordering::SeqCst);
        self.inner.on_end(end, state, ctx).await
    }

    fn on_abort(&mut self) {
        self.calls.aborts.fetch_add(1, Ordering::SeqCst);
        self.inner.on_abort();
    }
}

/// Whether a chunk is text that the user reads.
pub(crate) fn is_content(chunk: &Chunk) -> bool {
    chunk.kind() == ChunkKind::Text(stream_core::Channel::Content)
}
