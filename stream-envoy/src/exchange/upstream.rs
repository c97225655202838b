//! Envoy, as the service that answers.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

use super::body::UpstreamBody;
use super::upload::{poll_upload, upload};
use super::wire::{Side, Wire};
use crate::error::Gone;
use crate::headers;
use crate::proto::{self, Reply};

/// Envoy, as the service behind the layer: a request goes on to the upstream that Envoy has chosen, and the response is
/// the upstream's.
///
/// A request can be sent once in each exchange.
#[derive(Clone)]
pub struct Upstream {
    wire: Wire,
    /// The request's headers as Envoy sent them.
    headers: Option<http::HeaderMap>,
    sent: Sent,
}

/// What was sent by an exchange's service, whichever clone was called.
#[derive(Clone, Default)]
pub(super) struct Sent(Arc<Mutex<Option<Head>>>);

/// The head of the upstream's response as it came.
#[derive(Debug)]
pub(super) struct Head {
    pub(super) status: http::StatusCode,
    pub(super) headers: http::HeaderMap,
    pub(super) has_body: bool,
}

/// An extension of each response that is the upstream's, whatever was changed in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct FromUpstream;

impl Upstream {
    pub(super) fn new(wire: Wire, headers: http::HeaderMap, sent: Sent) -> Self {
        Self { wire, headers: Some(headers), sent }
    }
}

impl Sent {
    /// Takes the head of the upstream's response, if there was one.
    pub(super) fn take(&self) -> Option<Head> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn set(&self, head: Head) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(head);
    }
}

impl<B> Service<Request<B>> for Upstream
where
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<UpstreamBody>;
    type Error = Gone;
    type Future = Pin<Box<dyn Future<Output = Result<Response<UpstreamBody>, Gone>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let wire = self.wire.clone();
        let (headers, sent) = (self.headers.take(), self.sent.clone());
        Box::pin(async move {
            if !wire.send_request() {
                return Err(Gone::new("expected one request to the upstream, found another"));
            }
            let (parts, body) = request.into_parts();
            let changes = headers::diff(&headers.unwrap_or_default(), &parts.headers);
            wire.send(Reply::RequestHeaders(proto::head(changes)));
            let has_body = !wire.is_bodiless();
            let mut upload = has_body.then(|| upload(wire.clone(), body));
            let head = poll_fn(|cx| {
                if let Poll::Ready(sent) = poll_upload(&mut upload, cx) {
                    sent?;
                }
                wire.poll_head(cx)
            })
            .await?;
            let has_body = !wire.is_over(Side::Response);
            let mut parts = headers::response(head.headers.unwrap_or_default()).map_err(Gone::new)?;
            let head = Head { status: parts.status, headers: parts.headers.clone(), has_body };
            // The request is sent once, and so is its head.
            sent.set(head);
            parts.extensions.insert(FromUpstream);
            Ok(Response::from_parts(parts, UpstreamBody::new(wire, upload)))
        })
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upstream").finish_non_exhaustive()
    }
}
