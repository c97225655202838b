//! A processor that runs, and a client that plays Envoy.

use std::net::SocketAddr;
use std::time::Duration;

use bytes::Bytes;
use stream_core::Passthrough;
use stream_envoy::proto::{
    FULL_DUPLEX_STREAMED, HeaderMap, HeaderMutation, HeaderValue, HttpBody, HttpHeaders, HttpTrailers,
    Mutation, PROCESS, Part, ProcessingRequest, ProcessingResponse, ProtocolConfiguration, Reply,
};
use stream_envoy::{ExtProc, Protobuf, Server};
use stream_http::{Facts, Plan, PolicyLayer};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_stream::wrappers::ReceiverStream;
use tonic::transport::Channel;
use tonic::{Status, Streaming};

pub(crate) const CHAT: &str = "/v1/chat/completions";

/// A processor with the layer that lets everything pass.
pub(crate) fn passing() -> ExtProc {
    ExtProc::new(PolicyLayer::new(|_: &Facts| Plan::new().policy(Passthrough)))
}

/// A server that runs until this is dropped.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    pub(crate) task: tokio::task::JoinHandle<()>,
}

impl Running {
    pub(crate) async fn new(service: ExtProc) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = Server::new(service).serve(listener, std::future::pending());
        let task = tokio::spawn(async move { server.await.unwrap() });
        Self { address, task }
    }

    pub(crate) async fn channel(&self) -> Channel {
        let address = format!("http://{}", self.address);
        Channel::from_shared(address).unwrap().connect().await.unwrap()
    }

    pub(crate) async fn exchange(&self) -> Peer {
        Peer::open(self.channel().await).await
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Envoy's side of one exchange.
pub(crate) struct Peer {
    to: Option<mpsc::Sender<ProcessingRequest>>,
    from: Streaming<ProcessingResponse>,
}

/// A message of the processor's, in short.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Said {
    RequestHead(Vec<String>),
    RequestBody(Bytes, bool),
    RequestTrailers(Vec<String>),
    Head(Vec<String>),
    Body(Bytes, bool),
    Trailers(Vec<String>),
    Immediate(i32, Vec<String>, Bytes),
    /// The stream ended cleanly.
    End,
    /// The stream ended with an error status.
    Failed(tonic::Code, String),
}

impl Peer {
    pub(crate) async fn open(channel: Channel) -> Self {
        let (to, requests) = mpsc::channel(64);
        let mut grpc = tonic::client::Grpc::new(channel);
        grpc.ready().await.unwrap();
        let codec = Protobuf::<ProcessingRequest, ProcessingResponse>::default();
        let request = tonic::Request::new(ReceiverStream::new(requests));
        let response = grpc.streaming(request, http::uri::PathAndQuery::from_static(PROCESS), codec).await;
        Self { to: Some(to), from: response.unwrap().into_inner() }
    }

    /// The first message: a head, with full duplex announced.
    pub(crate) async fn request(&self, method: &str, path: &str, end: bool) {
        self.request_with(method, path, &[("x-test", "1")], end).await;
    }

    pub(crate) async fn request_with(&self, method: &str, path: &str, headers: &[(&str, &str)], end: bool) {
        let pseudo = [(":method", method), (":path", path), (":authority", "a"), (":scheme", "http")];
        let head = head(pseudo.iter().chain(headers), end);
        let mode = FULL_DUPLEX_STREAMED;
        let modes = ProtocolConfiguration { request_body_mode: mode, response_body_mode: mode };
        self.message(ProcessingRequest {
            part: Some(Part::RequestHeaders(head)),
            protocol_config: Some(modes),
            ..ProcessingRequest::default()
        })
        .await;
    }

    pub(crate) async fn message(&self, message: ProcessingRequest) {
        self.to.as_ref().unwrap().send(message).await.unwrap();
    }

    pub(crate) async fn part(&self, part: Part) {
        self.message(ProcessingRequest { part: Some(part), ..ProcessingRequest::default() }).await;
    }

    pub(crate) async fn request_body(&self, body: &str, end: bool) {
        self.part(Part::RequestBody(piece(body, end))).await;
    }

    pub(crate) async fn head(&self, headers: &[(&str, &str)], end: bool) {
        self.part(Part::ResponseHeaders(head([(":status", "200")].iter().chain(headers), end))).await;
    }

    pub(crate) async fn body(&self, body: &str, end: bool) {
        self.part(Part::ResponseBody(piece(body, end))).await;
    }

    pub(crate) async fn trailers(&self, trailers: &[(&str, &str)]) {
        let trailers = Some(list(trailers.iter()));
        self.part(Part::ResponseTrailers(HttpTrailers { trailers })).await;
    }

    /// Envoy sends no more.
    pub(crate) fn close(&mut self) {
        self.to = None;
    }

    /// What the processor says next.
    pub(crate) async fn next(&mut self) -> Said {
        let next = timeout(Duration::from_secs(10), self.from.message()).await.expect("an answer in time");
        match next {
            Ok(Some(message)) => said(message.reply.unwrap()),
            Ok(None) => Said::End,
            Err(status) => failed(&status),
        }
    }

    /// What the processor says until it ends.
    pub(crate) async fn rest(&mut self) -> Vec<Said> {
        let mut all = Vec::new();
        loop {
            all.push(self.next().await);
            if matches!(all.last(), Some(Said::End | Said::Failed(..))) {
                return all;
            }
        }
    }

    /// Takes a request as far as the upstream, and says nothing of it.
    pub(crate) async fn ask(&mut self) {
        self.request("POST", CHAT, false).await;
        self.request_body("{}", true).await;
        let identity = vec!["set accept-encoding=identity".to_owned()];
        assert_eq!(self.next().await, Said::RequestHead(identity));
        assert_eq!(self.next().await, Said::RequestBody("{}".into(), true));
    }

    /// The same, with the head of a response that streams.
    pub(crate) async fn stream(&mut self) {
        self.ask().await;
        self.head(&[("content-type", "text/event-stream")], false).await;
        assert_eq!(self.next().await, Said::Head(vec![]));
    }
}

fn said(reply: Reply) -> Said {
    let head = |head: stream_envoy::proto::HeadersResponse| changes(head.response.unwrap().header_mutation);
    let body = |body: stream_envoy::proto::BodyResponse| {
        let Some(Mutation::Streamed(piece)) = body.response.unwrap().body_mutation.unwrap().mutation else {
            panic!("a body without a piece")
        };
        (piece.body, piece.end_of_stream)
    };
    match reply {
        Reply::RequestHeaders(changed) => Said::RequestHead(head(changed)),
        Reply::ResponseHeaders(changed) => Said::Head(head(changed)),
        Reply::RequestBody(piece) => {
            let (piece, end) = body(piece);
            Said::RequestBody(piece, end)
        }
        Reply::ResponseBody(piece) => {
            let (piece, end) = body(piece);
            Said::Body(piece, end)
        }
        Reply::RequestTrailers(changed) => Said::RequestTrailers(changes(changed.header_mutation)),
        Reply::ResponseTrailers(changed) => Said::Trailers(changes(changed.header_mutation)),
        Reply::Immediate(all) => Said::Immediate(all.status.unwrap().code, changes(all.headers), all.body),
    }
}

fn failed(status: &Status) -> Said {
    Said::Failed(status.code(), status.message().to_owned())
}

fn changes(mutation: Option<HeaderMutation>) -> Vec<String> {
    let HeaderMutation { set_headers, remove_headers } = mutation.unwrap();
    let set = set_headers.into_iter().map(|set| {
        let header = set.header.unwrap();
        format!("set {}={}", header.key, String::from_utf8_lossy(&header.raw_value))
    });
    set.chain(remove_headers.into_iter().map(|name| format!("remove {name}"))).collect()
}

fn piece(body: &str, end_of_stream: bool) -> HttpBody {
    HttpBody { body: Bytes::copy_from_slice(body.as_bytes()), end_of_stream }
}

fn head<'a>(headers: impl Iterator<Item = &'a (&'a str, &'a str)>, end_of_stream: bool) -> HttpHeaders {
    HttpHeaders { headers: Some(list(headers)), end_of_stream }
}

fn list<'a>(headers: impl Iterator<Item = &'a (&'a str, &'a str)>) -> HeaderMap {
    let header = |(key, value): &(&str, &str)| HeaderValue {
        key: (*key).to_owned(),
        value: String::new(),
        raw_value: Bytes::copy_from_slice(value.as_bytes()),
    };
    HeaderMap { headers: headers.map(header).collect() }
}
