//! The stream ends cleanly only behind the end of the exchange.
//!
//! Envoy passes the rest of a response unseen when it is closed cleanly before: every other way must be an error.

use std::convert::Infallible;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::StreamBody;
use stream_core::{Chunk, Context, Policy, PolicyError, StreamState, async_trait};
use stream_envoy::proto::{HeaderMap, HeaderValue, HttpHeaders, PROCESS, Part, ProcessingResponse};
use stream_envoy::{ClientBody, ExtProc, Gone, Protobuf, Upstream};
use stream_http::{Facts, Plan, PolicyLayer};
use stream_testkit::{Script, WireKind};
use tonic::Code;
use tower::{Service as _, service_fn};

use crate::kit::{Running, Said, passing};

const TEXT: &str = "data: {\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\"}}]}\n\n";

/// A processor whose service is this function of the request and of Envoy.
fn service<F, R>(answer: F) -> ExtProc
where
    F: Fn(Upstream, Request<ClientBody>) -> R + Clone + Send + Sync + 'static,
    R: Future<Output = Result<Response<Frames>, Gone>> + Send + 'static,
{
    ExtProc::with(move |upstream| {
        let answer = answer.clone();
        service_fn(move |request| answer(upstream.clone(), request))
    })
}

type Frames = StreamBody<futures::stream::BoxStream<'static, Result<http_body::Frame<Bytes>, Gone>>>;

/// The upstream's head, with another body.
async fn with_body(
    mut upstream: Upstream,
    request: Request<ClientBody>,
    body: impl futures::Stream<Item = Result<http_body::Frame<Bytes>, Gone>> + Send + 'static,
) -> Result<Response<Frames>, Gone> {
    let response = upstream.call(request).await?;
    Ok(response.map(|_| StreamBody::new(Box::pin(body) as _)))
}

fn piece(text: &'static str) -> Result<http_body::Frame<Bytes>, Gone> {
    Ok(http_body::Frame::data(Bytes::from_static(text.as_bytes())))
}

#[tokio::test]
async fn a_panic_before_the_answer_ends_in_an_error() {
    let server = Running::new(service(async |_, _| panic!("before the answer"))).await;
    let mut envoy = server.exchange().await;
    envoy.request("GET", "/", true).await;
    assert_eq!(envoy.rest().await, [Said::Failed(Code::Internal, "the exchange panicked".to_owned())]);
}

#[tokio::test]
async fn a_panic_in_the_middle_of_a_body_ends_in_an_error() {
    let body = || {
        let pieces = futures::stream::iter([piece("one")]);
        let pending = futures::stream::once(async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            panic!("in the middle")
        });
        futures::StreamExt::chain(pieces, pending)
    };
    let server = Running::new(service(move |upstream, request| with_body(upstream, request, body()))).await;
    let mut envoy = server.exchange().await;
    envoy.request("GET", "/", true).await;
    assert_eq!(envoy.next().await, Said::RequestHead(vec![]));
    envoy.head(&[], false).await;
    assert_eq!(
        envoy.rest().await,
        [
            Said::Head(vec![]),
            Said::Body("one".into(), false),
            Said::Failed(Code::Internal, "the exchange panicked".to_owned())
        ]
    );
}

/// A value of the exchange that panics while it is dropped is no clean end either.
#[tokio::test]
async fn a_panic_in_a_drop_ends_in_an_error() {
    struct Bomb;
    impl Drop for Bomb {
        fn drop(&mut self) {
            assert!(std::thread::panicking(), "in a drop");
        }
    }
    let server = Running::new(service(async |_, _| {
        let bomb = Bomb;
        std::future::ready(()).await;
        drop(bomb);
        Err(Gone::from_message("never"))
    }))
    .await;
    let mut envoy = server.exchange().await;
    envoy.request("GET", "/", true).await;
    assert_eq!(envoy.rest().await, [Said::Failed(Code::Internal, "the exchange panicked".to_owned())]);
}

#[tokio::test]
async fn a_body_that_fails_ends_in_an_error() {
    let body = || futures::stream::iter([piece("one"), Err(Gone::from_message("it broke"))]);
    let server = Running::new(service(move |upstream, request| with_body(upstream, request, body()))).await;
    let mut envoy = server.exchange().await;
    envoy.request("GET", "/", true).await;
    envoy.next().await;
    envoy.head(&[], false).await;
    let mut rest = envoy.rest().await;
    assert_eq!(rest.pop(), Some(Said::Failed(Code::Aborted, "it broke".to_owned())));
}

#[tokio::test]
async fn a_service_that_fails_ends_in_an_error() {
    let server = Running::new(service(async |_, _| Err(Gone::from_message("it failed")))).await;
    let mut envoy = server.exchange().await;
    envoy.request("GET", "/", true).await;
    assert_eq!(envoy.rest().await, [Said::Failed(Code::Cancelled, "it failed".to_owned())]);
}

/// An upstream can be asked once: Envoy has one.
#[tokio::test]
async fn a_second_request_to_the_upstream_ends_in_an_error() {
    let server = Running::new(service(async |mut upstream: Upstream, request: Request<ClientBody>| {
        let (parts, body) = request.into_parts();
        upstream.call(Request::from_parts(parts.clone(), body)).await?;
        let empty = http_body_util::Empty::<Bytes>::new();
        upstream.call(Request::from_parts(parts, empty)).await?;
        Err(Gone::from_message("never"))
    }))
    .await;
    let mut envoy = server.exchange().await;
    envoy.request("GET", "/", true).await;
    envoy.next().await;
    envoy.head(&[], true).await;
    let message = "expected one request to the upstream, found another".to_owned();
    assert_eq!(envoy.rest().await, [Said::Failed(Code::Cancelled, message)]);
}

/// A request that breaks off on its way to the upstream is an error: the upstream would wait for the rest for ever.
#[tokio::test]
async fn a_request_that_breaks_off_ends_in_an_error() {
    let server = Running::new(service(async |mut upstream: Upstream, request: Request<ClientBody>| {
        // A piece at a time: what is ready at once is one message.
        let broken = futures::stream::unfold(false, async |is_sent| {
            tokio::time::sleep(Duration::from_millis(50)).await;
            Some((if is_sent { Err(Gone::from_message("too long")) } else { piece("one") }, true))
        });
        upstream.call(request.map(|_| StreamBody::new(Box::pin(broken)))).await?;
        Err(Gone::from_message("never"))
    }))
    .await;
    let mut envoy = server.exchange().await;
    envoy.request("POST", "/", false).await;
    assert_eq!(
        envoy.rest().await,
        [
            Said::RequestHead(vec![]),
            Said::RequestBody("one".into(), false),
            Said::Failed(Code::Cancelled, "too long".to_owned())
        ]
    );
}

/// The same while the upstream answers already.
#[tokio::test]
async fn a_request_that_breaks_off_behind_the_head_ends_in_an_error() {
    let server = Running::new(service(async |mut upstream: Upstream, request: Request<ClientBody>| {
        let broken = futures::stream::once(async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            Err::<http_body::Frame<Bytes>, _>(Gone::from_message("too long"))
        });
        let response = upstream.call(request.map(|_| StreamBody::new(Box::pin(broken)))).await?;
        let body = futures::StreamExt::boxed(http_body_util::BodyStream::new(response.into_body()));
        Ok(Response::new(StreamBody::new(body)))
    }))
    .await;
    let mut envoy = server.exchange().await;
    envoy.request("POST", "/", false).await;
    assert_eq!(envoy.next().await, Said::RequestHead(vec![]));
    envoy.head(&[], false).await;
    envoy.body("one", false).await;
    assert_eq!(
        envoy.rest().await,
        [
            Said::Head(vec![]),
            Said::Body("one".into(), false),
            Said::Failed(Code::Aborted, "too long".to_owned())
        ]
    );
}

/// Messages that Envoy never sends, behind the first: nothing is guessed.
#[tokio::test]
async fn messages_that_make_no_sense_end_in_an_error() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.ask().await;
    envoy.request("POST", crate::kit::CHAT, false).await;
    let message = "expected one request, found another".to_owned();
    assert_eq!(envoy.rest().await, [Said::Failed(Code::Cancelled, message)]);

    let mut envoy = server.exchange().await;
    envoy.ask().await;
    envoy.part(Part::ResponseHeaders(HttpHeaders::default())).await;
    let message = "expected a status, found none".to_owned();
    assert_eq!(envoy.rest().await, [Said::Failed(Code::Cancelled, message)]);

    // Of a stream the trailers that cannot be read are its break.
    let mut envoy = server.exchange().await;
    envoy.stream().await;
    envoy.body(TEXT, false).await;
    assert_eq!(envoy.next().await, Said::Body(TEXT.into(), false));
    envoy.trailers(&[("a b", "c")]).await;
    let rest = envoy.rest().await;
    assert_eq!(rest, [Said::Body(BROKE_OFF.into(), true), Said::End]);
}

/// Bytes that are no message end the exchange in an error, as the first message and behind it.
#[tokio::test]
async fn bytes_that_are_no_message_end_in_an_error() {
    /// A message whose field for the response's body is a number.
    #[derive(Clone, PartialEq, prost::Message)]
    struct Wrong {
        #[prost(message, optional, tag = "2")]
        head: Option<HttpHeaders>,
        #[prost(uint32, tag = "5")]
        body: u32,
    }
    let server = Running::new(passing()).await;
    let mut grpc = tonic::client::Grpc::new(server.channel().await);
    let header = |key: &str, value: &'static str| HeaderValue {
        key: key.to_owned(),
        value: String::new(),
        raw_value: Bytes::from_static(value.as_bytes()),
    };
    let headers = vec![header(":method", "GET"), header(":path", "/v1/models")];
    let head = HttpHeaders { headers: Some(HeaderMap { headers }), end_of_stream: true };
    for messages in [
        vec![Wrong { head: None, body: 1 }],
        vec![Wrong { head: Some(head), body: 0 }, Wrong { head: None, body: 1 }],
    ] {
        grpc.ready().await.unwrap();
        let codec = Protobuf::<Wrong, ProcessingResponse>::default();
        let sent = futures::StreamExt::chain(futures::stream::iter(messages), futures::stream::pending());
        let path = http::uri::PathAndQuery::from_static(PROCESS);
        let mut said = grpc.streaming(tonic::Request::new(sent), path, codec).await.unwrap().into_inner();
        let failed = loop {
            match said.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("a clean end"),
                Err(status) => break status,
            }
        };
        assert_eq!(failed.code(), Code::Cancelled, "{failed}");
        assert!(failed.message().contains("wire type"), "{failed}");
    }
}

/// Envoy's half of the stream ends at every place before the end of the response.
#[tokio::test]
async fn a_stream_that_ends_early_is_never_an_end() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.close();
    let message = "the stream ended before its first message".to_owned();
    assert_eq!(envoy.rest().await, [Said::Failed(Code::Cancelled, message)]);

    // A request that breaks off is refused: the upstream has seen nothing.
    let mut envoy = server.exchange().await;
    envoy.request("POST", crate::kit::CHAT, false).await;
    envoy.request_body("{", false).await;
    envoy.close();
    let rest = envoy.rest().await;
    assert!(matches!(rest[..], [Said::Immediate(400, ..), Said::End]), "{rest:?}");

    let mut envoy = server.exchange().await;
    envoy.ask().await;
    envoy.close();
    let message = "the stream ended before the response did".to_owned();
    assert_eq!(envoy.rest().await, [Said::Failed(Code::Cancelled, message)]);

    // A stream that breaks off is ended in its own format.
    let mut envoy = server.exchange().await;
    envoy.stream().await;
    envoy.body(TEXT, false).await;
    assert_eq!(envoy.next().await, Said::Body(TEXT.into(), false));
    envoy.close();
    let rest = envoy.rest().await;
    assert_eq!(rest, [Said::Body(BROKE_OFF.into(), true), Said::End]);
}

/// What comes behind the end of the exchange is ignored.
#[tokio::test]
async fn messages_after_the_end_are_ignored() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.stream().await;
    let all = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
    let all = String::from_utf8(all.bytes().to_vec()).unwrap();
    envoy.body(&all, true).await;
    envoy.body(TEXT, true).await;
    envoy.trailers(&[("a", "b")]).await;
    assert_eq!(envoy.rest().await, [Said::Body(all.into(), true), Said::End]);
}

/// A server whose task is gone resets what it has open: a client never sees a clean end.
#[tokio::test]
async fn a_task_that_is_dropped_ends_in_an_error() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        stream_envoy::Server::new(passing()).serve(listener, std::future::pending()).await.unwrap();
    });
    let server = Running { address, task: tokio::spawn(async {}) };
    let mut envoy = server.exchange().await;
    envoy.stream().await;
    envoy.body(TEXT, false).await;
    assert_eq!(envoy.next().await, Said::Body(TEXT.into(), false));
    // Every task of the server is dropped where it stands.
    runtime.shutdown_background();
    let rest = envoy.rest().await;
    assert!(matches!(rest[..], [Said::Failed(..)]), "{rest:?}");
}

/// Stopping waits for what is open, and takes nothing new.
#[tokio::test]
async fn a_server_that_stops_finishes_what_is_open() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopping = async move { drop(stopped.await) };
    let task = tokio::spawn(async move {
        stream_envoy::Server::new(passing()).serve(listener, stopping).await.unwrap();
    });
    let server = Running { address, task };
    let mut envoy = server.exchange().await;
    envoy.stream().await;
    stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
    let all = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
    let all = String::from_utf8(all.bytes().to_vec()).unwrap();
    envoy.body(&all, true).await;
    assert_eq!(envoy.rest().await, [Said::Body(all.into(), true), Said::End]);
    let mut server = server;
    tokio::time::timeout(Duration::from_secs(5), &mut server.task).await.unwrap().unwrap();
}

/// What is open when the server's patience ends, ends in an error status: at every place of the exchange.
#[tokio::test]
async fn what_is_late_when_a_server_stops_ends_in_an_error() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
    let stopping = async move { drop(stopped.await) };
    let server = stream_envoy::Server::new(passing()).drain(Duration::from_millis(300));
    let task = tokio::spawn(async move { server.serve(listener, stopping).await.unwrap() });
    let mut server = Running { address, task };
    let (mut silent, mut asked, mut streaming) =
        (server.exchange().await, server.exchange().await, server.exchange().await);
    asked.ask().await;
    streaming.stream().await;
    streaming.body(TEXT, false).await;
    assert_eq!(streaming.next().await, Said::Body(TEXT.into(), false));
    stop.send(()).unwrap();
    for envoy in [&mut silent, &mut asked, &mut streaming] {
        assert_eq!(envoy.rest().await, [late()]);
    }
    tokio::time::timeout(Duration::from_secs(5), &mut server.task).await.unwrap().unwrap();
}

/// A host that drops the server has not stopped it: what is open ends in an error status all the same.
#[tokio::test]
async fn a_server_that_is_dropped_ends_what_is_open_in_an_error() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.stream().await;
    envoy.body(TEXT, false).await;
    assert_eq!(envoy.next().await, Said::Body(TEXT.into(), false));
    drop(server);
    assert_eq!(envoy.rest().await, [late()]);
}

fn late() -> Said {
    Said::Failed(Code::Unavailable, "the server stopped before the exchange was over".to_owned())
}

/// A client that leaves takes its policies with it: no judge works for nobody.
#[tokio::test]
async fn a_reset_stream_drops_its_policies() {
    struct Told(Arc<AtomicBool>);

    #[async_trait]
    impl Policy for Told {
        async fn on_chunk(
            &mut self,
            chunk: Chunk,
            _: &StreamState,
            ctx: &mut Context<'_>,
        ) -> Result<(), PolicyError> {
            ctx.send(chunk);
            Ok(())
        }

        fn on_abort(&mut self) {
            self.0.store(true, Ordering::Release);
        }
    }

    let told = Arc::new(AtomicBool::new(false));
    let tell = Arc::clone(&told);
    let layer = PolicyLayer::new(move |_: &Facts| Plan::new().policy(Told(Arc::clone(&tell))));
    let server = Running::new(ExtProc::new(layer)).await;
    let mut envoy = server.exchange().await;
    envoy.stream().await;
    envoy.body(TEXT, false).await;
    assert_eq!(envoy.next().await, Said::Body(TEXT.into(), false));
    drop(envoy);
    for _ in 0..200 {
        if told.load(Ordering::Acquire) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the policies are still there");
}

/// The health service tells of the processor by its name, and of the whole.
#[tokio::test]
async fn health_is_told() -> Result<(), Infallible> {
    use tonic_health::pb::HealthCheckRequest;
    use tonic_health::pb::health_client::HealthClient;
    let server = Running::new(passing()).await;
    let mut client = HealthClient::new(server.channel().await);
    for service in ["", "envoy.service.ext_proc.v3.ExternalProcessor"] {
        let request = HealthCheckRequest { service: service.to_owned() };
        assert_eq!(client.check(request).await.unwrap().into_inner().status, 1, "{service}");
    }
    Ok(())
}

/// The ending of a chat stream whose upstream breaks off.
const BROKE_OFF: &str = "data: {\"error\":{\"message\":\"the upstream broke off\",\"type\":\"server_error\",\"param\":null,\"code\":null}}\n\ndata: [DONE]\n\n";
