//! What is around every request: a number, a span for its logs, and its counts.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
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
use super::request_log::{Logged, RequestLog};
use crate::exchange::Exchange;

/// The number of a request, from 1; an extension of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Number(pub(crate) u64);

/// Follows each request from its start to the last byte of its answer.
#[derive(Debug, Clone)]
pub(crate) struct Around<S> {
    inner: S,
    meter: Meter,
    recorder: Option<Recorder>,
    log: Option<RequestLog>,
}

impl<S> Around<S> {
    pub(crate) fn new(inner: S, meter: Meter, recorder: Option<Recorder>, log: Option<RequestLog>) -> Self {
        Self { inner, meter, recorder, log }
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
        let number = Number(self.meter.next_request());
        let exchange = Exchange::default();
        request.extensions_mut().insert(number);
        request.extensions_mut().insert(exchange.clone());
        // The query may hold a key: it is not logged.
        let span = tracing::info_span!(
            "request",
            number = number.0,
            method = %request.method(),
            path = request.uri().path(),
            client = tracing::field::Empty,
            status = tracing::field::Empty,
        );
        let clone = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, clone);
        let (meter, recorder, log) = (self.meter.clone(), self.recorder.clone(), self.log.clone());
        let asked = (request.method().to_string(), request.uri().path().to_owned());
        let follow = span.clone();
        let answer = async move {
            let response = inner.call(request).await?;
            let status = response.status().as_u16();
            follow.record("status", status);
            let client = exchange.client();
            if let Some(client) = &client {
                follow.record("client", tracing::field::display(client));
            }
            *meter.counts().requests.entry((client.clone(), status)).or_default() += 1;
            let response = response.map(Body::new);
            let response = match &recorder {
                Some(recorder) => recorder.record(response, number, client.as_ref(), Side::Client),
                None => response,
            };
            let (method, path) = asked;
            let logged = log.map(|log| Logged { log, exchange, number: number.0, method, path, status });
            Ok(response.map(|body| Body::new(Followed::new(body, follow, meter, start, logged))))
        };
        Box::pin(answer.instrument(span))
    }
}
