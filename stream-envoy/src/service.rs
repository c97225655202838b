//! The gRPC service.

use std::convert::Infallible;
use std::fmt;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use http_body_util::BodyExt as _;
use stream_http::PolicyLayer;
use tonic::server::{Grpc, NamedService, StreamingService};
use tonic::{Status, Streaming};
use tower_layer::Layer as _;
use tower_service::Service;

use crate::codec::Protobuf;
use crate::error::Gone;
use crate::exchange::{Answering, ClientBody, Exchange, Handler, Stopped, Upstream};
use crate::proto::{PROCESS, ProcessingRequest, ProcessingResponse, SERVICE};

/// Envoy's external processor over a layer: one gRPC stream is one exchange of a request and its response.
///
/// The value is a tower service that any tonic server can serve; [`Server`](crate::Server) serves it with the settings that
/// it needs.
#[derive(Clone)]
#[must_use]
pub struct ExtProc {
    handler: Arc<Handler>,
    /// When the server that serves it is over.
    stopped: Option<Stopped>,
}

impl ExtProc {
    /// A processor with this layer.
    pub fn new(layer: PolicyLayer) -> Self {
        Self::with(move |upstream| layer.layer(upstream))
    }

    /// A processor with any service over Envoy: the function is called for each exchange, and what it returns is called
    /// with the request. A host puts its own layers around the policies here, or changes them while it runs.
    pub fn with<F, S, B>(service: F) -> Self
    where
        F: Fn(Upstream) -> S + Send + Sync + 'static,
        S: Service<Request<ClientBody>, Response = Response<B>, Error = Gone>,
        S::Future: Send + 'static,
        B: Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let handler = move |upstream, request| -> Answering {
            let answer = service(upstream).call(request);
            let broken = |error: B::Error| Gone::new(error.into().to_string());
            Box::pin(async move { Ok(answer.await?.map(|body| body.map_err(broken).boxed_unsync())) })
        };
        Self { handler: Arc::new(handler), stopped: None }
    }

    /// With exchanges that end in an error status when this is over.
    pub(crate) fn until(mut self, stopped: Stopped) -> Self {
        self.stopped = Some(stopped);
        self
    }
}

impl NamedService for ExtProc {
    const NAME: &'static str = SERVICE;
}

impl<B> Service<Request<B>> for ExtProc
where
    B: Body + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>> + Send + 'static,
{
    type Response = Response<tonic::body::Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        if request.uri().path() != PROCESS {
            return Box::pin(ready(Ok(Status::unimplemented("expected the method Process").into_http())));
        }
        let method = Process(self.clone());
        let codec = Protobuf::<ProcessingResponse, ProcessingRequest>::default();
        Box::pin(async move {
            // Envoy never sends a piece that is longer than its buffers are.
            let mut grpc = Grpc::new(codec).max_decoding_message_size(LONGEST);
            Ok(grpc.streaming(method, request).await)
        })
    }
}

impl fmt::Debug for ExtProc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtProc").finish_non_exhaustive()
    }
}

struct Process(ExtProc);

impl StreamingService<ProcessingRequest> for Process {
    type Response = ProcessingResponse;
    type ResponseStream = Exchange;
    type Future = std::future::Ready<Result<tonic::Response<Exchange>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<ProcessingRequest>>) -> Self::Future {
        let inbound = Box::pin(request.into_inner());
        let ExtProc { handler, stopped } = self.0.clone();
        ready(Ok(tonic::Response::new(Exchange::new(inbound, handler, stopped))))
    }
}

/// Tells of an exchange that ended with an error status.
pub(crate) fn failed(status: &Status) {
    let (code, message) = (status.code(), status.message());
    match code {
        // The client went away, or the server stops, which it tells itself.
        tonic::Code::Cancelled | tonic::Code::Aborted | tonic::Code::Unavailable => {
            tracing::debug!(?code, message, "exchange over");
        }
        _ => tracing::error!(?code, message, "exchange failed: its response is broken off"),
    }
}

/// The longest message from Envoy: heads are at most as long as Envoy allows, and pieces of bodies 64 KiB by default.
const LONGEST: usize = 64 << 20;
