//! The processor: a stream of bytes over the [engine](crate::engine).

mod alarm;
mod aside;
mod builder;
mod core;
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

use self::core::{Core, Next};
use crate::engine::BuildError;
use crate::error::BoxError;
use crate::policy::Stage;
use drive::work;
use outlet::Outlet;

/// A stream of bytes: the bytes of a model's stream that its policies let through.
///
/// The processor spawns no task and uses no channel: polling is the backpressure, and dropping the processor drops the upstream and calls
/// [`Policy::on_abort`](crate::policy::Policy::on_abort). Deadlines need a tokio runtime with time enabled.
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
    state: State,
    outlet: Arc<Outlet>,
    handle: Handle,
}

/// The state of a processor: waiting for its upstream alone, or for hooks and judges too.
enum State {
    Idle(Box<Core>),
    /// A hook or a judge runs.
    Busy(Pin<Box<dyn Future<Output = Option<Box<Core>>> + Send>>),
    Over,
}

impl StreamProcessor {
    /// Creates a processor with one policy and default settings.
    ///
    /// # Errors
    ///
    /// When the policy needs settings that have no default: it [counts by session](crate::policy::Needs::session), or
    /// [handles calls written as text](crate::policy::Needs::text_calls).
    pub fn new<S, B, E>(upstream: S, policy: impl Into<Stage>) -> Result<Self, BuildError>
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: Into<Bytes> + Send + 'static,
        E: Into<BoxError> + Send + 'static,
    {
        Self::builder().policy(policy).build(upstream)
    }

    /// Creates a builder, for several policies and for settings.
    pub fn builder() -> Builder {
        Builder::default()
    }

    fn of(core: Core) -> Self {
        Self {
            outlet: Arc::clone(&core.outlet),
            handle: core.handle.clone(),
            state: State::Idle(Box::new(core)),
        }
    }

    /// The handle with which the host stops the stream, drops a held call, and reads the outcome.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.handle.clone()
    }
}

impl Stream for StreamProcessor {
    type Item = Bytes;

    fn poll_next(self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<Bytes>> {
        let this = self.get_mut();
        loop {
            match &mut this.state {
                State::Idle(core) => match core.poll(cx) {
                    Poll::Ready(Next::Bytes(bytes)) => return Poll::Ready(Some(bytes)),
                    Poll::Ready(Next::Waits) => {
                        if let State::Idle(core) = std::mem::replace(&mut this.state, State::Over) {
                            this.state = State::Busy(Box::pin(work(core)));
                        }
                    }
                    Poll::Ready(Next::Over) => this.state = State::Over,
                    Poll::Pending => return Poll::Pending,
                },
                State::Busy(run) => {
                    // Work goes on only while the outlet is empty: that is the backpressure.
                    if let Some(bytes) = this.outlet.take() {
                        return Poll::Ready(Some(bytes));
                    }
                    match run.as_mut().poll(cx) {
                        Poll::Ready(core) => this.state = core.map_or(State::Over, State::Idle),
                        Poll::Pending if this.outlet.is_empty() => return Poll::Pending,
                        Poll::Pending => {}
                    }
                }
                State::Over => return Poll::Ready(None),
            }
        }
    }
}

impl fmt::Debug for StreamProcessor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_over = matches!(self.state, State::Over);
        f.debug_struct("StreamProcessor").field("over", &is_over).finish_non_exhaustive()
    }
}
