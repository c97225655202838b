//! The body of an answer on its way.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures::Stream as _;
use hyper::body::{Body, Frame, SizeHint};

use super::tally::{Book, Fate};
use crate::faults::{FaultError, Upstream};

/// A log that is being sent, or a message in one piece.
#[derive(Debug)]
pub(super) struct Served {
    upstream: Option<Upstream>,
    message: Option<Bytes>,
    /// How many bytes are still promised, where the length was.
    promised: Option<usize>,
    /// The end, and the error that it is if it is one, once it was seen.
    end: Option<Option<FaultError>>,
    receipt: Option<Receipt>,
}

impl Served {
    pub(super) fn log(upstream: Upstream, promised: Option<usize>, receipt: Receipt) -> Self {
        Self { upstream: Some(upstream), message: None, promised, end: None, receipt: Some(receipt) }
    }

    pub(super) fn message(message: String) -> Self {
        let promised = Some(message.len());
        Self { upstream: None, message: Some(message.into()), promised, end: None, receipt: None }
    }

    fn complete(&mut self) {
        if let Some(receipt) = &mut self.receipt {
            receipt.fate = Fate::Completed;
        }
    }
}

impl Body for Served {
    type Data = Bytes;
    type Error = FaultError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, FaultError>>> {
        if let Some(end) = self.end.take() {
            self.complete();
            return Poll::Ready(end.map(Err));
        }
        let next = match &mut self.upstream {
            Some(upstream) => ready!(Pin::new(upstream).poll_next(cx)),
            None => self.message.take().map(Ok),
        };
        let Some(Ok(bytes)) = next else {
            // At an error, and where less came than was promised, hyper drops what it has not written yet. It writes
            // whenever it has to wait: so it waits once.
            self.end = Some(next.and_then(Result::err));
            cx.waker().wake_by_ref();
            return Poll::Pending;
        };
        if let Some(promised) = &mut self.promised {
            *promised = promised.saturating_sub(bytes.len());
        }
        // A body whose length is known is not polled once it is there.
        if self.promised == Some(0) {
            self.complete();
        }
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        let exact = |promised| SizeHint::with_exact(u64::try_from(promised).unwrap_or(u64::MAX));
        self.promised.map_or_else(SizeHint::new, exact)
    }
}

/// Tells the book what became of an answer, when the answer is dropped.
#[derive(Debug)]
pub(super) struct Receipt {
    book: Book,
    number: usize,
    fate: Fate,
}

impl Receipt {
    pub(super) fn new(book: Book, number: usize) -> Self {
        Self { book, number, fate: Fate::Cancelled }
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        self.book.settle(self.number, self.fate);
    }
}
