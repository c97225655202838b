//! Noticing what becomes of an upstream.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use tokio::sync::watch;

/// A stream and the watch over it.
pub fn watched<S>(stream: S) -> (Watched<S>, Watch) {
    let (seen, watch) = watch::channel(Seen::default());
    (Watched { stream: Box::pin(stream), seen }, Watch(watch))
}

/// A stream that is watched: what it gives is unchanged.
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Watched<S> {
    stream: Pin<Box<S>>,
    /// Gone with the stream: that is how a watch learns of it.
    seen: watch::Sender<Seen>,
}

impl<S: Stream> Stream for Watched<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let next = self.stream.as_mut().poll_next(cx);
        self.seen.send_modify(|seen| match &next {
            Poll::Ready(Some(_)) => seen.items += 1,
            Poll::Ready(None) => seen.ended = true,
            Poll::Pending => {}
        });
        next
    }
}

/// The fate of a [`Watched`] stream.
#[derive(Debug, Clone)]
pub struct Watch(watch::Receiver<Seen>);

#[derive(Debug, Clone, Copy, Default)]
struct Seen {
    items: usize,
    ended: bool,
}

impl Watch {
    /// The number of items that were taken.
    #[must_use]
    pub fn items(&self) -> usize {
        self.0.borrow().items
    }

    /// Returns whether the stream was read to its end.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.0.borrow().ended
    }

    /// Returns whether the stream was dropped, read to its end or not.
    #[must_use]
    pub fn is_dropped(&self) -> bool {
        self.0.has_changed().is_err()
    }

    /// Waits until it is dropped.
    pub async fn dropped(&mut self) {
        while self.0.changed().await.is_ok() {}
    }
}
