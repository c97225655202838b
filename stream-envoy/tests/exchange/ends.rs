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
use stream_envoy::{ClientBody, ExtProc, Gone, Upstream};
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
    let [Said::Body(ending, true), Said::End] = &rest[..] else { panic!("{rest:?}") };
    assert!(String::from_utf8_lossy(ending).contains("error"), "{ending:?}");
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
