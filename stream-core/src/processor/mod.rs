//! The processor: one async loop over the [engine](crate::engine).

mod builder;
mod drive;
mod handle;
mod outlet;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use bytes::Bytes;
use futures::Stream;

pub use builder::{Builder, Whole};
pub use handle::{Handle, Outcome};

use crate::engine::BuildError;
use crate::policy::Stage;
use outlet::Outlet;

/// Turns the bytes of a model's stream into the bytes that its policies let leave.
///
/// No task is spawned and no channel is used: backpressure and cancellation come from polling. Dropping it drops the
/// upstream and calls [`Policy::on_abort`](crate::policy::Policy::on_abort). It needs a tokio runtime with time enabled once a deadline has to be
/// watched.
///
/// ```
/// use bytes::Bytes;
/// use futures::{StreamExt as _, stream};
/// use stream_core::{Passthrough, StreamProcessor};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), stream_core::BuildError> {
/// let body = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\n";
/// let upstream = stream::iter([Ok::<_, std::io::Error>(Bytes::from(body))]);
/// let processed: Vec<Bytes> = StreamProcessor::new(upstream, Passthrough)?.collect().await;
/// assert_eq!(processed.concat(), body.as_bytes());
/// # Ok(())
/// # }
/// ```
#[must_use = "streams do nothing unless polled"]
pub struct StreamProcessor {
    run: Pin<Box<dyn Future<Output = ()> + Send>>,
    outlet: Arc<Outlet>,
    handle: Handle,
    over: bool,
}

impl StreamProcessor {
    /// A processor with one policy and default settings.
    ///
    /// # Errors
    ///
    /// When the policy cannot work so: it [counts by session](crate::policy::Needs::session), or is [about calls in the
    /// text](crate::policy::Needs::text_calls), of which default settings say nothing.
    pub fn new<S, B, E>(upstream: S, policy: impl Into<Stage>) -> Result<Self, BuildError>
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: Into<Bytes> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        Self::builder().policy(policy).build(upstream)
    }

    /// A processor with settings of its own.
    pub fn builder() -> Builder {
        Builder::default()
    }

    /// A handle with which the host can end the stream, drop a held call, and read the outcome.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Stream for StreamProcessor {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        loop {
            if let Some(bytes) = self.outlet.take() {
                return Poll::Ready(Some(bytes));
            }
            if self.over {
                return Poll::Ready(None);
            }
            // The loop is polled only while the outlet is empty: that is the backpressure.
            match self.run.as_mut().poll(cx) {
                Poll::Ready(()) => self.over = true,
                Poll::Pending if self.outlet.is_empty() => return Poll::Pending,
                Poll::Pending => {}
            }
        }
    }
}

impl fmt::Debug for StreamProcessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamProcessor").field("over", &self.over).finish_non_exhaustive()
    }
}
