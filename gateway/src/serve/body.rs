//! The body of an answer on its way to the client.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tracing::Span;

use super::meter::Meter;
use super::request_log::{Answered, Logged};
use crate::telemetry::Answer;

/// A body that is watched: when its first byte leaves, how many do, and whether the client stayed.
#[derive(Debug)]
pub(super) struct Followed {
    body: Body,
    span: Span,
    meter: Meter,
    start: Instant,
    bytes: usize,
    first_byte: Option<Duration>,
    ended: bool,
    logged: Option<Logged>,
    told: Option<Answer>,
}

impl Followed {
    pub(super) fn new(
        body: Body,
        span: Span,
        meter: Meter,
        start: Instant,
        logged: Option<Logged>,
        told: Option<Answer>,
    ) -> Self {
        meter.counts().open += 1;
        let ended = body.is_end_stream();
        Self { body, span, meter, start, bytes: 0, first_byte: None, ended, logged, told }
    }
}

impl HttpBody for Followed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        // Decisions are made while the body is polled: they are logged with their request.
        let polled = this.span.in_scope(|| Pin::new(&mut this.body).poll_frame(cx));
        let frame = ready!(polled);
        if let Some(Ok(data)) = &frame
            && let Some(bytes) = data.data_ref()
        {
            if this.first_byte.is_none() {
                let took = this.start.elapsed();
                this.first_byte = Some(took);
                this.meter.counts().first_byte.add(took);
            }
            this.bytes += bytes.len();
        }
        // A body that is known to be over is not polled again.
        this.ended = !matches!(frame, Some(Ok(_))) || this.body.is_end_stream();
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Followed {
    fn drop(&mut self) {
        // Tools that still run are cancelled, and told of, before the line of the request is written.
        let body = std::mem::take(&mut self.body);
        self.span.in_scope(|| drop(body));
        let mut counts = self.meter.counts();
        counts.open -= 1;
        counts.abandoned += u64::from(!self.ended);
        drop(counts);
        let (bytes, ended, took) = (self.bytes, self.ended, self.start.elapsed());
        let answered = Answered { bytes, first_byte: self.first_byte, took, stayed: ended };
        if let Some(logged) = &self.logged {
            logged.write(answered);
        }
        if let Some(told) = &self.told {
            told.over(answered);
        }
        let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.span.in_scope(|| {
            if ended {
                tracing::info!(bytes, took_ms = took, "answered");
            } else {
                tracing::info!(bytes, took_ms = took, "the client went away");
            }
        });
    }
}
