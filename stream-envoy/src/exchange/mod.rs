//! One exchange: a request, its response, and the layer between them.

mod answer;
mod body;
mod joined;
mod upload;
mod upstream;
mod wakes;
mod wire;

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::channel::oneshot;
use futures::future::Shared;
use futures::{FutureExt as _, Stream};
use http::{Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use tonic::Status;

pub use self::body::{ClientBody, UpstreamBody};
use self::upstream::Sent;
pub use self::upstream::Upstream;
use self::wakes::Wakes;
pub(crate) use self::wire::Inbound;
use self::wire::Wire;
use crate::error::Gone;
use crate::proto::{BODY_MODES, FULL_DUPLEX_STREAMED, Part, ProcessingRequest, ProcessingResponse};
use crate::{headers, service};

/// The body of the layer's answer.
pub(crate) type AnswerBody = UnsyncBoxBody<Bytes, Gone>;
/// The layer's answer to a request.
pub(crate) type Answering = Pin<Box<dyn Future<Output = Result<Response<AnswerBody>, Gone>> + Send>>;
/// The layer, over an upstream.
pub(crate) type Handler = dyn Fn(Upstream, Request<ClientBody>) -> Answering + Send + Sync;

/// Over when the server of the exchanges is: everything that is open then ends in an error status.
pub(crate) type Stopped = Shared<oneshot::Receiver<()>>;

type Running = Pin<Box<dyn Future<Output = Result<(), Status>> + Send>>;

/// The answers to one gRPC stream.
///
/// Envoy passes the rest of a response **unseen** when the gRPC stream is closed cleanly before the response is over, also
/// with `failure_mode_allow: false`. So the stream ends cleanly only behind the message that ends the exchange; behind
/// anything else, a panic among it, it ends with an error status. Dropped before its end, it is reset.
pub(crate) struct Exchange {
    wire: Wire,
    running: Option<Running>,
    stopped: Option<Stopped>,
    wakes: Arc<Wakes>,
    ended: bool,
}

impl Exchange {
    pub(crate) fn new(inbound: Inbound, handler: Arc<Handler>, stopped: Option<Stopped>) -> Self {
        let wire = Wire::new(inbound);
        let running = Box::pin(run(wire.clone(), handler));
        Self { wire, running: Some(running), stopped, wakes: Wakes::new(), ended: false }
    }

    /// Polls the exchange; what it panics with is an error like any other.
    fn poll_run(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let Some(running) = &mut self.running else { return Poll::Ready(Ok(())) };
        let polled = catch_unwind(AssertUnwindSafe(|| running.as_mut().poll(cx)));
        let result = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(result)) => result,
            Err(_) => Err(Status::internal("the exchange panicked")),
        };
        let over = self.running.take();
        let dropped = catch_unwind(AssertUnwindSafe(|| drop(over)));
        Poll::Ready(result.and(dropped.map_err(|_| Status::internal("the exchange panicked"))))
    }

    /// Whether the server is over; else the task is woken when it is.
    fn is_stopped(&mut self, cx: &mut Context<'_>) -> bool {
        self.stopped.as_mut().is_some_and(|stopped| stopped.poll_unpin(cx).is_ready())
    }

    fn fail(&mut self, status: Status) -> Poll<Option<Result<ProcessingResponse, Status>>> {
        self.ended = true;
        service::failed(&status);
        Poll::Ready(Some(Err(status)))
    }
}

impl Stream for Exchange {
    type Item = Result<ProcessingResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.wakes.register(cx);
        let waker = self.wakes.waker();
        let cx = &mut Context::from_waker(&waker);
        loop {
            if self.ended {
                return Poll::Ready(None);
            }
            if let Some(message) = self.wire.take() {
                return Poll::Ready(Some(Ok(message)));
            }
            let is_over = self.running.is_none();
            if !is_over && !self.wakes.take() {
                return Poll::Pending;
            }
            match self.poll_run(cx) {
                Poll::Ready(Err(status)) => return self.fail(status),
                Poll::Ready(Ok(())) if is_over && self.wire.is_complete() => self.ended = true,
                Poll::Ready(Ok(())) if is_over => {
                    return self.fail(Status::internal("the exchange was left unfinished"));
                }
                Poll::Ready(Ok(())) => {}
                Poll::Pending if self.wire.has_output() => {}
                Poll::Pending if self.is_stopped(cx) => {
                    return self.fail(Status::unavailable("the server stopped before the exchange was over"));
                }
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

async fn run(wire: Wire, handler: Arc<Handler>) -> Result<(), Status> {
    let first = poll_fn(|cx| wire.poll_first(cx)).await;
    let first = first.map_err(|gone| Status::cancelled(gone.to_string()))?;
    check(&first)?;
    let Some(Part::RequestHeaders(head)) = first.part else {
        return Err(Status::failed_precondition(
            "expected the request's headers first: set request_header_mode to SEND",
        ));
    };
    if head.end_of_stream {
        wire.no_request_body();
    }
    let parts = match headers::request(head.headers.unwrap_or_default()) {
        Ok(parts) => parts,
        Err(message) => {
            answer::refuse(&wire, &message);
            return Ok(());
        }
    };
    let sent = Sent::default();
    let upstream = Upstream::new(wire.clone(), parts.headers.clone(), sent.clone());
    let request = Request::from_parts(parts, ClientBody::new(wire.clone()));
    let response = handler(upstream, request).await;
    let response = response.map_err(|gone| Status::cancelled(gone.to_string()))?;
    answer::answer(&wire, sent.take(), response).await
}

/// Refuses at once what could only fail later, or would never be policed.
fn check(first: &ProcessingRequest) -> Result<(), Status> {
    if first.observability_mode {
        let message = "expected observability_mode to be off, found it on: Envoy would ignore every decision";
        return Err(Status::failed_precondition(message));
    }
    // Other proxies that speak the protocol do not announce their modes: a wrong one then times out.
    let Some(modes) = first.protocol_config else { return Ok(()) };
    for (name, mode) in
        [("request_body_mode", modes.request_body_mode), ("response_body_mode", modes.response_body_mode)]
    {
        if mode != FULL_DUPLEX_STREAMED {
            let found = usize::try_from(mode).ok().and_then(|mode| BODY_MODES.get(mode));
            let found = found.copied().unwrap_or("another");
            let message = format!("expected {name} to be FULL_DUPLEX_STREAMED, found {found}");
            return Err(Status::failed_precondition(message));
        }
    }
    Ok(())
}
