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
use super::eyes::Eyes;
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
    eyes: Eyes,
    recorder: Option<Recorder>,
    log: Option<RequestLog>,
}

impl<S> Around<S> {
    pub(crate) fn new(inner: S, eyes: Eyes, recorder: Option<Recorder>, log: Option<RequestLog>) -> Self {
        Self { inner, eyes, recorder, log }
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
        let number = Number(self.eyes.meter.next_request());
        let told = self.eyes.telemetry.as_ref().map(|telemetry| telemetry.answer(&request, number.0));
        let exchange = Exchange::new(told);
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
        let (meter, recorder, log) = (self.eyes.meter.clone(), self.recorder.clone(), self.log.clone());
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
            if let Some(answer) = &exchange.answer {
                answer.begins(status, client.as_ref());
            }
            *meter.counts().requests.entry((client.clone(), status)).or_default() += 1;
            let response = response.map(Body::new);
            let response = match &recorder {
                Some(recorder) => recorder.record(response, number, client.as_ref(), Side::Client),
                None => response,
            };
            let (method, path) = asked;
            let told = exchange.answer.clone();
            let logged = log.map(|log| Logged { log, exchange, number: number.0, method, path, status });
            Ok(response.map(|body| Body::new(Followed::new(body, follow, meter, start, logged, told))))
        };
        Box::pin(answer.instrument(span))
    }
}
