//! What is around every request: a number, a span for its logs, and its counts.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body as HttpBody;
use tower_service::Service;
use tracing::Instrument as _;

use super::body::Followed;
use super::meter::Meter;
use super::record::{Recorder, Side};

/// The number of a request, from 1; an extension of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(pub(super) u64);

/// Follows each request from its start to the last byte of its answer.
#[derive(Debug, Clone)]
pub(super) struct Around<S> {
    inner: S,
    meter: Meter,
    recorder: Option<Recorder>,
    last: Arc<AtomicU64>,
}

impl<S> Around<S> {
    pub(super) fn new(inner: S, meter: Meter, recorder: Option<Recorder>) -> Self {
        Self { inner, meter, recorder, last: Arc::default() }
    }
}

impl<S, B> Service<Request<Body>> for Around<S>
where
    S: Service<Request<Body>, Response = Response<B>, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
    B: HttpBody<Data = Bytes> + Send + 'static,
    B::Error: Into<axum::BoxError>,
{
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request<Body>) -> Self::Future {
        let start = Instant::now();
        let number = Number(self.last.fetch_add(1, Ordering::Relaxed) + 1);
        request.extensions_mut().insert(number);
        // The query may hold a key: it is not logged.
        let span = tracing::info_span!(
            "request",
            number = number.0,
            method = %request.method(),
            path = request.uri().path(),
            status = tracing::field::Empty,
        );
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let (meter, recorder) = (self.meter.clone(), self.recorder.clone());
        let follow = span.clone();
        let answer = async move {
            let response = inner.call(request).await?;
            let status = response.status().as_u16();
            follow.record("status", status);
            *meter.counts().requests.entry(status).or_default() += 1;
            let response = response.map(Body::new);
            let response = match &recorder {
                Some(recorder) => recorder.record(response, number, Side::Client),
                None => response,
            };
            Ok(response.map(|body| Body::new(Followed::new(body, follow, meter, start))))
        };
        Box::pin(answer.instrument(span))
    }
}
