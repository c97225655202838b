//! Bytes of a future that speaks while it runs, as a stream.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::channel::mpsc;
use futures::future::BoxFuture;
use futures::{FutureExt as _, SinkExt as _, Stream, StreamExt as _};

/// Where the future puts what it has to say. A send waits until the client has taken what was sent before.
#[derive(Debug)]
pub(super) struct Outlet(mpsc::Sender<Bytes>);

impl Outlet {
    pub(super) async fn send(&mut self, bytes: Bytes) {
        // Nobody listens only after the stream was dropped, and the future with it.
        let _ = self.0.send(bytes).await;
    }

    pub(super) async fn send_all(&mut self, all: &mut Vec<Bytes>) {
        for bytes in all.drain(..) {
            self.send(bytes).await;
        }
    }
}

/// What a future says. No task: the future is polled with the stream, and dropped with it.
pub(super) struct Spoken {
    speaker: Option<BoxFuture<'static, ()>>,
    said: mpsc::Receiver<Bytes>,
}

impl Spoken {
    pub(super) fn new<F>(speaker: impl FnOnce(Outlet) -> F) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (sender, said) = mpsc::channel(0);
        Self { speaker: Some(speaker(Outlet(sender)).boxed()), said }
    }
}

impl Stream for Spoken {
    type Item = Bytes;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if let Poll::Ready(said) = self.said.poll_next_unpin(cx) {
            return Poll::Ready(said);
        }
        if let Some(speaker) = &mut self.speaker
            && speaker.poll_unpin(cx).is_ready()
        {
            self.speaker = None;
        }
        self.said.poll_next_unpin(cx)
    }
}
