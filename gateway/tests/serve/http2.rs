//! What the layer withstands over HTTP/1.1 it withstands over HTTP/2, on both sides; and rude clients of HTTP/2.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use stream_testkit::server::Server;
use stream_testkit::{Fragments, Script, WireKind};
use tokio::net::TcpListener;

use crate::connections::{come_back, connect};
use crate::kit::{Answer, Directory, Gateway, question};
use crate::tls::{Authority, TLS, ask, write};

const GATE: &str =
    "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"allow\", deny = [{ tools = [\"shell\"] }] }\n";
const CHAT: &str = "/v1/chat/completions";

/// What becomes of an attempt to get a call past the policies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fares {
    /// The answer leaves without the call.
    Policed,
    /// The request does not reach the upstream.
    Forbidden,
    /// Nothing of the answer leaves.
    BadGateway,
}

use Fares::{BadGateway, Forbidden, Policed};

/// Attempts by the path.
const PATHS: &[(Method, &str, Fares)] = &[
    (Method::POST, "/v1/%63hat/completions", Policed),
    (Method::POST, "/v1/%2563hat/completions", Policed),
    (Method::POST, "/v1/chat%2Fcompletions", Policed),
    (Method::POST, "//v1///chat//completions", Policed),
    (Method::POST, "/v1/chat/completions/", Policed),
    (Method::POST, "/v1/chat/completions%2f", Policed),
    (Method::POST, "/V1/CHAT/COMPLETIONS", Policed),
    (Method::POST, "/v1/models/../chat/completions", Policed),
    (Method::POST, "/v1/models/%2e%2e/chat/completions", Policed),
    (Method::POST, "/v1%5cchat%5ccompletions", Policed),
    (Method::POST, "/v1/chat/completions;models", Policed),
    (Method::POST, "/v1/chat/completions.", Policed),
    (Method::POST, "/v1/chat/completions%20", Policed),
    (Method::PUT, "/v1/chat/completions", Policed),
    (Method::GET, "/v1/chat/completions", Policed),
    (Method::POST, "/v1/chat/completions?/v1/models", Policed),
    (Method::GET, "/v1/chat/completions/models", Policed),
    (Method::POST, "/openai/deployments/embeddings/chat/completions", Policed),
    (Method::POST, "/v1/models%00/../chat", Forbidden),
    (Method::POST, "/v1/embeddings%0d%0a", Forbidden),
    (Method::POST, "/v1/%2525252525252563hat/completions", Forbidden),
    (Method::POST, "/v1/completions/../embeddings", Forbidden),
    (Method::POST, "/v1/embeddings/..%2fcompletions", Forbidden),
    (Method::POST, "/models/gpt2", Forbidden),
    (Method::POST, "/v1/completions", Forbidden),
    (Method::POST, "/v1/engines/embeddings/completions", Forbidden),
    (Method::POST, "/v1/complete", Forbidden),
    (Method::POST, "/v1/batches", Forbidden),
    (Method::GET, "/v1/messages/batches/b/results", Forbidden),
    (Method::GET, "/v1/files/f/content", Forbidden),
    (Method::POST, "/v1beta/models/g:batchGenerateContent", Forbidden),
    (Method::POST, "/v1beta/models/g:generateAnswer", Forbidden),
    (Method::GET, "/v1/responses/r/input_items", Forbidden),
    (Method::POST, "/v1/responses/compact", Forbidden),
    (Method::GET, "/v1/conversations/c/items", Forbidden),
    (Method::POST, "/v1/threads/t/runs", Forbidden),
    (Method::GET, "/v1/realtime", Forbidden),
    (Method::POST, "/api/chat", Forbidden),
];

/// Attempts by a header of the request.
const HEADERS: &[(&str, &str)] = &[
    ("x-http-method-override", "GET"),
    ("x-original-url", "/v1/models"),
    ("x-rewrite-url", "/v1/models"),
    ("range", "bytes=10-"),
    ("accept-encoding", "br"),
    ("x-forwarded-host", "other.example"),
];

fn script() -> Script {
    let script = Script::new().text("I clean up.").call("call_1", "shell", r#"{"command":"rm -rf /"}"#);
    script.call("call_2", "list_files", r#"{"path":"."}"#)
}

fn whole() -> String {
    String::from_utf8(script().whole(WireKind::OpenAiChat).to_vec()).unwrap()
}

/// Attempts by the answer: its status, a header, its body, and what becomes of it.
fn answers() -> Vec<(u16, (&'static str, &'static str), Bytes, Fares)> {
    const JSON: (&str, &str) = ("content-type", "application/json");
    let coded = |coding| ("content-encoding", coding);
    let stream = script().bytes(WireKind::OpenAiChat);
    let utf16: Vec<u8> = whole().encode_utf16().flat_map(u16::to_be_bytes).collect();
    let other = script().whole(WireKind::AnthropicMessages);
    let moved = ("location", "https://other.example/v1/chat/completions");
    vec![
        (302, moved, whole().into(), BadGateway),
        (308, moved, whole().into(), BadGateway),
        (300, moved, whole().into(), BadGateway),
        (206, JSON, whole().into(), BadGateway),
        (200, coded("br"), whole().into(), BadGateway),
        (200, coded("gzip"), whole().into(), BadGateway),
        (200, coded("gzip, gzip"), whole().into(), BadGateway),
        (200, JSON, utf16.into(), BadGateway),
        (200, JSON, format!("\u{feff}{}", whole()).into(), BadGateway),
        (200, JSON, format!("{}\n{}", whole(), whole()).into(), BadGateway),
        (200, ("content-type", "text/javascript"), format!("callback({})", whole()).into(), BadGateway),
        (200, JSON, format!(r#"{{"result":{}}}"#, whole()).into(), BadGateway),
        (200, JSON, format!("[{}]", whole()).into(), BadGateway),
        (200, JSON, other, BadGateway),
        (200, JSON, whole().replacen('{', r#"{"choices":[],"#, 1).into(), BadGateway),
        (200, JSON, whole().replace("tool_calls\":[", "Tool_Calls\":[").into(), BadGateway),
        (200, ("content-type", "text/plain"), whole().into(), Policed),
        (200, ("content-type", "image/png"), whole().into(), Policed),
        (200, ("x-nothing", "said"), whole().into(), Policed),
        (200, ("content-type", "text/event-stream"), whole().into(), Policed),
        (200, JSON, stream.clone(), Policed),
        (200, ("x-nothing", "said"), stream, Policed),
        (201, JSON, whole().into(), Policed),
        (400, JSON, whole().into(), Policed),
    ]
}

/// An upstream that speaks one version of HTTP over TLS, and answers with the case that the request's header names.
async fn upstream(authority: &Authority, protocol: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (acceptor, answers) = (authority.server("localhost", protocol), Arc::new(answers()));
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(stream) = acceptor.accept(stream).await else { continue };
            let answers = Arc::clone(&answers);
            let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
                let case =
                    request.headers().get("x-case").map(|case| case.to_str().unwrap().parse::<usize>());
                let (status, (name, value), body, _) = &answers[case.unwrap().unwrap()];
                let response = Response::builder().status(*status).header(*name, *value);
                let body = Full::new(body.clone());
                async move { response.body(body) }
            });
            let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
            tokio::spawn(async move { server.serve_connection(TokioIo::new(stream), service).await.ok() });
        }
    });
    port
}

/// What became of an answer. Whatever it is, nothing of the call is in it.
fn fared(status: StatusCode, body: Bytes) -> Fares {
    let answer = Answer { status, headers: HeaderMap::new(), body, broke: false };
    assert_eq!(answer.text().matches("rm -rf").count(), 0, "{}", answer.text());
    match status {
        StatusCode::FORBIDDEN => Forbidden,
        StatusCode::BAD_GATEWAY => BadGateway,
        _ => {
            let streamed = !answer.body.trim_ascii_start().starts_with(b"{");
            let report = answer.report(WireKind::OpenAiChat, streamed);
            let calls = &report.view().choices[0].calls;
            let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
            assert_eq!(names, ["list_files"], "{}", answer.text());
            Policed
        }
    }
}

/// Rule 14: no spelling of a path, no method, no header and no answer takes a call past the policies, whatever version of
/// HTTP either side speaks.
#[tokio::test]
async fn attacks_on_the_layer_fare_the_same_in_both_versions_of_http_on_both_sides() {
    let (directory, authority) = (Directory::new("http2-attacks"), Authority::new());
    write(&directory, &authority, "gateway.test");
    let request = |method: &Method, path: &str, header: (&str, &str), case: usize| {
        Request::builder()
            .method(method)
            .uri(format!("https://gateway.test{path}"))
            .header("host", "gateway.test")
            .header(header.0, header.1)
            .header("x-case", case.to_string())
            .body(Full::from(r#"{"model":"demo","messages":[]}"#))
            .unwrap()
    };
    // The plainest of the answers.
    let plain = answers().iter().position(|answer| answer.0 == 201).unwrap();
    for behind in ["http/1.1", "h2"] {
        let port = upstream(&authority, behind).await;
        let config = format!(
            "{TLS}[upstream.openai-chat]\nurl = \"https://localhost:{port}\"\nca = \"ca.pem\"\n{GATE}"
        );
        let gateway = Gateway::configured(&directory, &config);
        for before in ["http/1.1", "h2"] {
            let tls = authority.client(before, None);
            let fares = async |request: Request<Full<Bytes>>| {
                let (_, status, body) = ask(&gateway, &tls, request).await.unwrap();
                fared(status, body)
            };
            for (method, path, expected) in PATHS {
                let found = fares(request(method, path, ("x-kept", "yes"), plain)).await;
                assert_eq!(found, *expected, "{method} {path} over {before}, upstream {behind}");
            }
            for header in HEADERS {
                let found = fares(request(&Method::POST, CHAT, *header, plain)).await;
                assert_eq!(found, Policed, "{header:?} over {before}, upstream {behind}");
            }
            for (case, (status, header, _, expected)) in answers().into_iter().enumerate() {
                let found = fares(request(&Method::POST, CHAT, ("x-kept", "yes"), case)).await;
                assert_eq!(found, expected, "{case}: {status} {header:?} over {before}, upstream {behind}");
            }
        }
    }
}

/// An answer that never ends by itself, on a connection of HTTP/2 without TLS.
async fn endless(gateway: &Gateway, window: u32) -> (Response<hyper::body::Incoming>, Sender) {
    let io = TokioIo::new(connect(gateway).await);
    let mut builder = hyper::client::conn::http2::Builder::new(TokioExecutor::new());
    builder.initial_stream_window_size(window).initial_connection_window_size(window);
    let (mut send, connection) = builder.handshake(io).await.unwrap();
    tokio::spawn(connection);
    let (path, body) = question(WireKind::OpenAiChat, true);
    let request = Request::post(format!("http://gateway.test{path}")).body(Full::from(body)).unwrap();
    (send.send_request(request).await.unwrap(), send)
}

type Sender = hyper::client::conn::http2::SendRequest<Full<Bytes>>;

/// A gateway that gives up on clients after half a second, and an upstream with much to say.
async fn talkative(directory: &Directory, answers: usize) -> (Gateway, Server) {
    let kind = WireKind::OpenAiChat;
    let log =
        Script::new().text_fragments(Fragments::Chars(4000)).text("word ".repeat(2_000_000)).to_log(kind);
    let server = (0..answers).fold(Server::builder(), |server, _| server.on(CHAT, log.clone()));
    let server = server.scaled(0.0).start().await.unwrap();
    let config = format!(
        "[connections]\nstalled = \"500ms\"\n[upstream.openai-chat]\nurl = \"{}\"\n{GATE}",
        server.url("")
    );
    (Gateway::configured(directory, &config), server)
}

#[tokio::test]
async fn an_answer_that_is_reset_takes_its_upstream_with_it_and_leaves_the_connection() {
    let directory = Directory::new("http2-reset");
    let (gateway, server) = talkative(&directory, 1).await;
    let (mut response, mut send) = endless(&gateway, 65_535).await;
    response.body_mut().frame().await.unwrap().unwrap();
    drop(response);
    let tally = tokio::time::timeout(Duration::from_secs(10), server.until(|tally| tally.cancelled() == 1));
    assert_eq!(tally.await.unwrap().cancelled(), 1);
    let health = Request::get("http://gateway.test/healthz").body(Full::default()).unwrap();
    let health = send.send_request(health).await.unwrap().into_body().collect().await.unwrap();
    assert_eq!(health.to_bytes(), "ok\n");
}

#[tokio::test]
async fn clients_of_http2_that_never_read_give_their_connections_and_memory_back() {
    let directory = Directory::new("http2-never-reads");
    let (gateway, server) = talkative(&directory, 8).await;
    let (files, memory) = gateway.resources();
    let mut clients = Vec::new();
    for _ in 0..8 {
        clients.push(endless(&gateway, 1000).await);
    }
    let tally = tokio::time::timeout(Duration::from_secs(20), server.until(|tally| tally.cancelled() == 8));
    assert_eq!(tally.await.unwrap().cancelled(), 8);
    come_back(&gateway, files).await;
    let grown = gateway.resources().1.saturating_sub(memory);
    assert!(grown < 64 * 1024, "{grown} kB more than at the start");
}
