//! A client that goes away.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

use futures::{Stream, StreamExt as _};
use tokio::time::timeout;

/// The moment at which a client disconnects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Leave {
    /// After this many items. After none it never asks for one.
    Items(usize),
    /// The client has received this number of bytes.
    Bytes(usize),
    /// After this time.
    After(Duration),
    /// After it has asked this many times, answered or not: every await is reached by some number.
    Polls(usize),
}

/// The bytes that a client had received when it disconnected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Received {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// `true` if the stream was over before the client disconnected.
    pub ended: bool,
}

/// Reads a stream as a client that goes away: the stream is dropped before this returns.
pub async fn leave<S>(stream: S, when: Leave) -> Received
where
    S: Stream,
    S::Item: AsRef<[u8]>,
{
    let mut stream = pin!(stream);
    let mut received = Received::default();
    match when {
        Leave::Items(count) => {
            for _ in 0..count {
                if !received.take(stream.next().await.as_ref()) {
                    break;
                }
            }
        }
        Leave::Bytes(count) => {
            while received.bytes.len() < count && received.take(stream.next().await.as_ref()) {}
        }
        Leave::After(time) => {
            let read = async { while received.take(stream.next().await.as_ref()) {} };
            // Running out of time is what is wanted.
            timeout(time, read).await.unwrap_or_default();
        }
        Leave::Polls(count) => {
            for _ in 0..count {
                if !received.poll(stream.as_mut()).await {
                    break;
                }
            }
        }
    }
    received
}

impl Received {
    /// Takes an item; false if the stream is over.
    fn take(&mut self, item: Option<&impl AsRef<[u8]>>) -> bool {
        match item {
            Some(item) => self.bytes.extend_from_slice(item.as_ref()),
            None => self.ended = true,
        }
        !self.ended
    }

    /// Polls once, and waits until it is worth another time; false if the stream is over.
    async fn poll<S>(&mut self, mut stream: Pin<&mut S>) -> bool
    where
        S: Stream,
        S::Item: AsRef<[u8]>,
    {
        let mut asked = false;
        poll_fn(|cx| {
            // Woken after a poll without an answer: the next count is due.
            if std::mem::replace(&mut asked, true) {
                return Poll::Ready(true);
            }
            match stream.as_mut().poll_next(cx) {
                Poll::Ready(item) => Poll::Ready(self.take(item.as_ref())),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}
