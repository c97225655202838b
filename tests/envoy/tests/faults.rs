//! What happens when something goes wrong, with the real Envoy.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use bytes::Bytes;
use envoy_suite::{Client, Ending, Envoy, Model, Processor, Reply, Version};
use futures::StreamExt as _;
use http::Request;
use http_body_util::{BodyExt as _, StreamBody};
use stream_core::{Chunk, Context, Passthrough, Policy, PolicyError, StreamState, async_trait};
use stream_envoy::{ClientBody, ExtProc, Gone, Upstream};
use stream_testkit::{Cut, Fragments, Script, WireKind};
use tokio::io::AsyncWriteExt as _;

const CHAT: &str = "/v1/chat/completions";
const REQUEST: &str = r#"{"model":"some-model","stream":true,"messages":[]}"#;

/// Text, and a canary a while later.
fn canary() -> Reply {
    let log =
        Script::new().text_fragments(Fragments::Chars(6)).text("first,canary").to_log(WireKind::OpenAiChat);
    let pieces = Cut::Event.apply(&log).into_iter().map(|(_, piece)| (Duration::from_millis(200), piece));
    Reply::events(pieces)
}

async fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let until = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < until, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A policy that panics ends its stream in the stream's own format.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_panic_in_a_policy_leaks_nothing() {
    struct Panics;
    #[async_trait]
    impl Policy for Panics {
        async fn on_chunk(
            &mut self,
            chunk: Chunk,
            _: &StreamState,
            ctx: &mut Context<'_>,
        ) -> Result<(), PolicyError> {
            assert!(!chunk.text().unwrap_or_default().contains("canary"), "a policy panics");
            ctx.send(chunk);
            Ok(())
        }
    }
    let model = Model::always(canary()).await;
    let processor = Processor::policy(|| Panics).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    let answer = Client::new(envoy.address(), Version::Http1).post(CHAT, REQUEST).await;
    let text = answer.text();
    assert!(text.contains("first,") && text.contains("error") && !text.contains("canary"), "{text}");
}

/// A panic of the exchange itself breaks the client's connection: what comes behind it never passes unseen.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_panic_of_the_exchange_leaks_nothing() {
    async fn answer(
        mut upstream: Upstream,
        request: Request<ClientBody>,
    ) -> Result<
        http::Response<StreamBody<impl futures::Stream<Item = Result<http_body::Frame<Bytes>, Gone>> + Send>>,
        Gone,
    > {
        let response = tower_service::Service::call(&mut upstream, request).await?;
        Ok(response.map(|body| {
            StreamBody::new(http_body_util::BodyStream::new(body).map(|frame| {
                let frame = frame?;
                let text = String::from_utf8_lossy(frame.data_ref().unwrap()).into_owned();
                assert!(!text.contains("canary"), "the exchange panics");
                Ok(frame)
            }))
        }))
    }
    let model = Model::always(canary()).await;
    let service = ExtProc::with(|upstream| {
        tower::service_fn(move |request| answer(Upstream::clone(&upstream), request))
    });
    let processor = Processor::new(service).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    for version in [Version::Http1, Version::Http2] {
        let answer = Client::new(envoy.address(), version).post(CHAT, REQUEST).await;
        let text = answer.text();
        assert!(text.contains("first,") && !text.contains("canary"), "{text}");
        assert!(answer.broken.is_some());
    }
}

/// Clients that do not read stop nobody else.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn stalled_clients_stop_nobody() {
    let text = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
    let long = Script::new().text("a".repeat(16_000)).cut().to_log(WireKind::OpenAiChat);
    let flood: Vec<_> = std::iter::repeat_n((Duration::ZERO, long.bytes().clone()), 2000).collect();
    let replies = [Reply::events(text.chunks()), Reply::events(flood)];
    let model =
        Model::new(move |parts, _| replies[usize::from(parts.headers.contains_key("x-flood"))].clone()).await;
    let processor = Processor::policy(|| Passthrough).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    let mut stalled = Vec::new();
    for _ in 0..20 {
        // A connection of its own for each: what is never read.
        let client = Client::new(envoy.address(), Version::Http1);
        stalled.push((client.begin_with(CHAT, REQUEST, &[("x-flood", "1")]).await.unwrap(), client));
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let client = Client::new(envoy.address(), Version::Http1);
    for _ in 0..5 {
        let answer = tokio::time::timeout(Duration::from_secs(10), client.post(CHAT, REQUEST)).await.unwrap();
        assert_eq!(Bytes::from(answer.bytes()), text.bytes());
    }
}

/// A client that goes away takes the upstream's answer with it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_client_that_leaves_cancels_the_upstream() {
    let model = Model::always(canary().ending(Ending::Hang)).await;
    let processor = Processor::policy(|| Passthrough).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    for version in [Version::Http1, Version::Http2] {
        let client = Client::new(envoy.address(), version);
        let mut response = client.begin(CHAT, REQUEST).await.unwrap();
        response.body_mut().frame().await.unwrap().unwrap();
        drop((response, client));
    }
    eventually("both are cancelled", || model.cancelled() == 2).await;
}

/// An upstream that breaks off: Envoy resets the client's stream before an ending can be sent.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn an_upstream_that_breaks_off_breaks_the_client_off() {
    let model = Model::always(canary().ending(Ending::Break)).await;
    let processor = Processor::policy(|| Passthrough).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    let answer = Client::new(envoy.address(), Version::Http1).post(CHAT, REQUEST).await;
    assert!(answer.broken.is_some() && answer.text().contains("first,"), "{answer:?}");
}

/// An upstream that cannot be reached is Envoy's own error, and passes as that.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn an_upstream_that_is_down_is_an_error_of_envoys() {
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let processor = Processor::policy(|| Passthrough).await;
    let envoy = Envoy::between(nowhere, &[processor.address()]).await;
    let answer = Client::new(envoy.address(), Version::Http1).post(CHAT, REQUEST).await;
    assert_eq!(answer.status.as_u16(), 503);
}

/// Without a processor nothing passes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn without_a_processor_nothing_passes() {
    let nowhere = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let model = Model::always(canary()).await;
    let envoy = Envoy::between(model.address(), &[nowhere]).await;
    let answer = Client::new(envoy.address(), Version::Http1).post(CHAT, REQUEST).await;
    assert!(answer.status.is_server_error(), "{}", answer.status);
    assert_eq!(model.asked().len(), 0);
}

/// A mistake in Envoy's configuration is told at once, and nothing passes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_buffered_mode_by_mistake_fails_at_once() {
    let model = Model::always(canary()).await;
    let processor = Processor::policy(|| Passthrough).await;
    let right = Envoy::bootstrap(model.address(), &[processor.address()]).to_string();
    for mode in ["request_body_mode", "response_body_mode"] {
        let wrong = right.replace(&format!("{mode}: FULL_DUPLEX_STREAMED"), &format!("{mode}: BUFFERED"));
        let envoy = Envoy::start(&wrong).await;
        let start = Instant::now();
        let answer = Client::new(envoy.address(), Version::Http1).post(CHAT, REQUEST).await;
        assert_eq!(answer.status.as_u16(), 500);
        assert!(start.elapsed() < Duration::from_secs(5));
    }
    assert_eq!(model.asked().len(), 0);
}

/// Whatever is written to the processor's port, exchanges go on.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn garbage_on_the_processors_port_harms_nobody() {
    let model = Model::always(canary()).await;
    let processor = Processor::policy(|| Passthrough).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
    let frames = [preface.clone(), vec![0xff; 4096]].concat();
    let message = [preface, b"\0\0\x04\x01\x05\0\0\0\x01\xff\xff\xff\xff".to_vec()].concat();
    for garbage in [b"GET / HTTP/1.1\r\nhost: a\r\n\r\n".to_vec(), vec![0; 4096], frames, message] {
        let mut connection = tokio::net::TcpStream::connect(processor.address()).await.unwrap();
        let _ = connection.write_all(&garbage).await;
        drop(connection);
    }
    let answer = Client::new(envoy.address(), Version::Http1).post(CHAT, REQUEST).await;
    assert!(answer.text().contains("canary") && answer.broken.is_none());
}

/// More open streams than Envoy's own limits allow.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn thirteen_hundred_streams_are_open_at_once() {
    const STREAMS: usize = 1300;
    let log = Script::new().text("Hello.").cut().to_log(WireKind::OpenAiChat);
    let model = Model::always(Reply::events(log.chunks()).ending(Ending::Hang)).await;
    let processor = Processor::policy(|| Passthrough).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    let clients: Vec<Client> = (0..13).map(|_| Client::new(envoy.address(), Version::Http2)).collect();
    let open = futures::stream::iter(0..STREAMS).map(|stream| {
        let client = clients[stream % clients.len()].clone();
        async move {
            let mut response = client.begin(CHAT, REQUEST).await.unwrap();
            assert_eq!(response.status(), 200);
            response.body_mut().frame().await.unwrap().unwrap();
            response
        }
    });
    let open: Vec<_> = open.buffer_unordered(100).collect().await;
    assert_eq!((open.len(), model.open()), (STREAMS, STREAMS));
    drop((open, clients));
    eventually("all are cancelled", || model.cancelled() == STREAMS).await;
    // The connection has survived that many resets.
    let text = Client::new(envoy.address(), Version::Http1).begin(CHAT, REQUEST).await.unwrap();
    assert_eq!(text.status(), 200);
}
