//! The body of a request on its way in: how long it may be silent, and how long it may be.

use std::fmt;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::time::{Instant, Sleep, sleep};

/// Why a request's body was not read to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// Nothing came for this long.
    Silent(Duration),
    /// More bytes came than this.
    Large(u32),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Silent(time) => {
                write!(f, "expected more of the request's body within {} ms, found none", time.as_millis())
            }
            Self::Large(most) => write!(f, "expected a request of at most {most} bytes, found a larger one"),
        }
    }
}

impl std::error::Error for Fault {}

/// Where the fault of a body can be looked up after the request was answered.
pub(super) type Noted = Arc<OnceLock<Fault>>;

/// A body with limits. What is wrong with it is noted, so that the answer can tell.
pub(super) struct Guarded {
    body: Body,
    most: Option<u32>,
    left: u64,
    silence: Duration,
    alarm: Pin<Box<Sleep>>,
    noted: Noted,
}

impl Guarded {
    pub(super) fn new(body: Body, most: Option<u32>, silence: Duration, noted: Noted) -> Self {
        let left = most.map_or(u64::MAX, u64::from);
        Self { body, most, left, silence, alarm: Box::pin(sleep(silence)), noted }
    }

    fn fail(&self, fault: Fault) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Poll::Ready(Some(Err(axum::Error::new(*self.noted.get_or_init(|| fault)))))
    }
}

impl HttpBody for Guarded {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        let Poll::Ready(frame) = Pin::new(&mut this.body).poll_frame(cx) else {
            ready!(this.alarm.as_mut().poll(cx));
            return this.fail(Fault::Silent(this.silence));
        };
        this.alarm.as_mut().reset(Instant::now() + this.silence);
        if let Some(Ok(data)) = &frame
            && let Some(bytes) = data.data_ref()
        {
            let length = u64::try_from(bytes.len()).unwrap_or(u64::MAX);
            match (this.left.checked_sub(length), this.most) {
                (Some(left), _) => this.left = left,
                (None, most) => return this.fail(Fault::Large(most.unwrap_or(u32::MAX))),
            }
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
