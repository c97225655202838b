//! The stream that is recorded.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures::Stream;
use pin_project_lite::pin_project;

use super::Tappable;
use super::recording::Recorder;

pin_project! {
    /// A stream that is recorded by a [`Tap`](super::Tap). It is the same stream.
    #[derive(Debug)]
    #[must_use = "streams do nothing unless polled"]
    pub struct Tapped<S> {
        #[pin]
        stream: S,
        recorder: Recorder,
    }
}

impl<S> Tapped<S> {
    pub(super) fn new(stream: S, recorder: Recorder) -> Self {
        Self { stream, recorder }
    }
}

impl<S> Stream for Tapped<S>
where
    S: Stream,
    S::Item: Tappable,
{
    type Item = S::Item;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<S::Item>> {
        let this = self.project();
        let polled = this.stream.poll_next(cx);
        match &polled {
            Poll::Ready(Some(item)) => {
                if let Some(bytes) = item.tapped() {
                    this.recorder.record(bytes);
                }
            }
            Poll::Ready(None) => this.recorder.finish(true),
            Poll::Pending => {}
        }
        polled
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.stream.size_hint()
    }
}
