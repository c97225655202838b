//! Envoy's processors: the layer, and one that sends every message back, which is what any processor costs.

use std::convert::Infallible;
use std::error::Error;
use std::future::{Ready, ready};
use std::pin::Pin;
use std::task::{Context, Poll};

use futures::stream::BoxStream;
use futures::{Future, StreamExt as _};
use http::{Request, Response};
use http_body::Body;
use stream_envoy::proto::{
    BodyMutation, BodyResponse, CommonResponse, HeadersResponse, HttpBody, Mutation, PROCESS, Part,
    ProcessingRequest, ProcessingResponse, Reply, SERVICE, StreamedBodyResponse, TrailersResponse,
};
use stream_envoy::{CONNECTION_WINDOW, ExtProc, Protobuf, STREAM_WINDOW, STREAMS, Server};
use stream_http::{Facts, Plan, PolicyLayer};
use tokio::net::TcpListener;
use tonic::server::{Grpc, NamedService, StreamingService};
use tonic::transport::server::TcpIncoming;
use tonic::{Status, Streaming};
use tower_service::Service;

use crate::policies::Policies;
use crate::way::Way;

/// Serves the processor of a way.
pub(crate) async fn serve(way: Way, listener: TcpListener) -> Result<(), Box<dyn Error>> {
    if way == Way::EnvoyPass {
        let server = tonic::transport::Server::builder()
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_concurrent_streams(STREAMS)
            .add_service(Pass);
        return Ok(server.serve_with_incoming(TcpIncoming::from(listener).with_nodelay(Some(true))).await?);
    }
    let policies = Policies::of(way)?;
    let plan = move |_: &Facts| policies.chain().into_iter().fold(Plan::new(), Plan::policy);
    Ok(Server::new(ExtProc::new(PolicyLayer::new(plan))).serve(listener, std::future::pending()).await?)
}

/// Sends every message back, unchanged.
#[derive(Debug, Clone, Copy)]
struct Pass;

impl NamedService for Pass {
    const NAME: &'static str = SERVICE;
}

impl<B> Service<Request<B>> for Pass
where
    B: Body + Send + 'static,
    B::Error: Into<Box<dyn Error + Send + Sync>> + Send + 'static,
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
        let mut grpc = Grpc::new(Protobuf::<ProcessingResponse, ProcessingRequest>::default());
        Box::pin(async move { Ok(grpc.streaming(Self, request).await) })
    }
}

impl StreamingService<ProcessingRequest> for Pass {
    type Response = ProcessingResponse;
    type ResponseStream = BoxStream<'static, Result<ProcessingResponse, Status>>;
    type Future = Ready<Result<tonic::Response<Self::ResponseStream>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<ProcessingRequest>>) -> Self::Future {
        let messages = request.into_inner();
        ready(Ok(tonic::Response::new(messages.map(|message| Ok(back(message?))).boxed())))
    }
}

/// The message that changes nothing.
fn back(message: ProcessingRequest) -> ProcessingResponse {
    let head = || HeadersResponse { response: Some(CommonResponse::default()) };
    let body = |HttpBody { body, end_of_stream }| BodyResponse {
        response: Some(CommonResponse {
            body_mutation: Some(BodyMutation {
                mutation: Some(Mutation::Streamed(StreamedBodyResponse { body, end_of_stream })),
            }),
            ..CommonResponse::default()
        }),
    };
    let reply = message.part.map(|part| match part {
        Part::RequestHeaders(_) => Reply::RequestHeaders(head()),
        Part::ResponseHeaders(_) => Reply::ResponseHeaders(head()),
        Part::RequestBody(piece) => Reply::RequestBody(body(piece)),
        Part::ResponseBody(piece) => Reply::ResponseBody(body(piece)),
        Part::RequestTrailers(_) => Reply::RequestTrailers(TrailersResponse::default()),
        Part::ResponseTrailers(_) => Reply::ResponseTrailers(TrailersResponse::default()),
    });
    ProcessingResponse { reply }
}
