//! A policy in whose place another one stands, to see how it is called.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::Poll;

use stream_core::{Chunk, Context, End, Needs, Policy, PolicyError, Request, StreamState, async_trait};

/// How often hooks were called.
#[derive(Debug, Default)]
pub(super) struct Calls {
    pub(super) ends: AtomicUsize,
    pub(super) aborts: AtomicUsize,
}

/// Counts, and waits once before each hook, so that a stream can be dropped there.
pub(super) struct Spy {
    pub(super) policy: Box<dyn Policy>,
    pub(super) calls: Arc<Calls>,
}

#[async_trait]
impl Policy for Spy {
    fn name(&self) -> &str {
        self.policy.name()
    }

    fn needs(&self, request: &Request) -> Needs {
        self.policy.needs(request)
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        breath().await;
        self.policy.on_chunk(chunk, state, ctx).await?;
        // What was staged before this point must not leave if the stream is dropped here.
        breath().await;
        Ok(())
    }

    async fn on_end(
        &mut self,
        end: End,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        self.calls.ends.fetch_add(1, Ordering::Relaxed);
        breath().await;
        self.policy.on_end(end, state, ctx).await
    }

    fn on_abort(&mut self) {
        self.calls.aborts.fetch_add(1, Ordering::Relaxed);
        self.policy.on_abort();
    }
}

/// Is pending once.
pub(super) async fn breath() {
    let mut taken = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut taken, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
