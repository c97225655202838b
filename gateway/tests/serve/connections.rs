//! Slow and rude peers: what they hold comes back.

use std::time::{Duration, Instant};

use stream_testkit::server::Server;
use stream_testkit::{Fragments, Script, WireKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::kit::{Directory, Gateway, question};

const PASS: &str = "[[policy]]\nkind = \"passthrough\"\n";

pub(crate) async fn connect(gateway: &Gateway) -> TcpStream {
    TcpStream::connect(gateway.base.strip_prefix("http://").unwrap()).await.unwrap()
}

/// Waits until the peer closes; what it said before.
async fn closed(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), stream.read_to_end(&mut said)).await;
    // A reset is a close, too.
    let _ = read.expect("the connection is closed in time");
    String::from_utf8(said).unwrap()
}

/// Waits until the program has no more descriptors than `files`.
pub(crate) async fn come_back(gateway: &Gateway, files: usize) {
    let start = Instant::now();
    while gateway.resources().0 > files {
        assert!(start.elapsed() < Duration::from_secs(10), "{} > {files}", gateway.resources().0);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_client_that_sends_its_head_drop_by_drop_is_closed() {
    let directory = Directory::new("loris");
    let gateway = Gateway::configured(&directory, &format!("[connections]\nhead = \"400ms\"\n{PASS}"));
    let (files, _) = gateway.resources();
    let start = Instant::now();
    let mut clients = Vec::new();
    for sent in ["", "P", "POST / HTTP/1.1\r\nhost: a\r\n"] {
        for _ in 0..30 {
            let mut client = connect(&gateway).await;
            client.write_all(sent.as_bytes()).await.unwrap();
            clients.push(client);
        }
    }
    // One of them goes on, byte by byte.
    let mut drip = connect(&gateway).await;
    for byte in b"POST / HTTP/1.1\r\nx: " {
        let _ = drip.write_all(&[*byte]).await;
        tokio::time::sleep(Duration::from_millis(40)).await;
    }
    for client in &mut clients {
        closed(client).await;
    }
    closed(&mut drip).await;
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    come_back(&gateway, files).await;
}

#[tokio::test]
async fn a_request_whose_body_does_not_come_is_told_so() {
    let directory = Directory::new("silent-body");
    let gateway = Gateway::configured(&directory, &format!("[connections]\nbody = \"300ms\"\n{PASS}"));
    let mut client = connect(&gateway).await;
    let head =
        "POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\nconnection: close\r\n\r\n{\"mod";
    client.write_all(head.as_bytes()).await.unwrap();
    let said = closed(&mut client).await;
    assert_eq!(said.lines().next(), Some("HTTP/1.1 408 Request Timeout"));
    assert_eq!(
        said.split("\r\n\r\n").nth(1),
        Some(
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"expected more of the request's body within 300 ms, found none"}}"#
        )
    );
}

#[tokio::test]
async fn a_connection_that_asks_nothing_more_is_closed() {
    let directory = Directory::new("idle");
    let gateway = Gateway::configured(&directory, &format!("[connections]\nidle = \"300ms\"\n{PASS}"));
    let mut client = connect(&gateway).await;
    client.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
    let said = closed(&mut client).await;
    assert_eq!((said.lines().next(), said.lines().last()), (Some("HTTP/1.1 200 OK"), Some("ok")));
}

/// A client that reads nothing of an answer holds its connection for the time of `stalled`, and no longer.
#[tokio::test]
async fn a_client_that_never_reads_gives_its_connection_and_memory_back() {
    let directory = Directory::new("never-reads");
    let kind = WireKind::OpenAiChat;
    let log =
        Script::new().text_fragments(Fragments::Chars(4000)).text("word ".repeat(4_000_000)).to_log(kind);
    let (path, body) = question(kind, true);
    let mut server = Server::builder().scaled(0.0);
    for _ in 0..8 {
        server = server.on(path, log.clone());
    }
    let server = server.start().await.unwrap();
    let config = format!(
        "[connections]\nstalled = \"500ms\"\n[upstream.openai-chat]\nurl = \"{}\"\n{PASS}",
        server.url("")
    );
    let gateway = Gateway::configured(&directory, &config);
    let (files, memory) = gateway.resources();
    let mut clients = Vec::new();
    for _ in 0..8 {
        let mut client = connect(&gateway).await;
        let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        client.write_all(head.as_bytes()).await.unwrap();
        clients.push(client);
    }
    let tally =
        tokio::time::timeout(Duration::from_secs(20), server.until(|tally| tally.cancelled() == 8)).await;
    assert_eq!(tally.unwrap().cancelled(), 8);
    come_back(&gateway, files).await;
    let grown = gateway.resources().1.saturating_sub(memory);
    assert!(grown < 64 * 1024, "{grown} kB more than at the start");
}

#[tokio::test]
async fn half_closed_and_reset_connections_leave_nothing_behind() {
    let directory = Directory::new("half");
    let gateway = Gateway::configured(&directory, PASS);
    let (files, memory) = gateway.resources();
    let (path, body) = question(WireKind::OpenAiChat, true);
    let head = format!("POST {path} HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    for round in 0..40 {
        let mut client = connect(&gateway).await;
        client.write_all(head.as_bytes()).await.unwrap();
        match round % 4 {
            // Half closed: whoever hangs up is gone, and no judge works on for it.
            0 => {
                client.shutdown().await.unwrap();
                closed(&mut client).await;
            }
            // Gone with a reset, in the middle of the answer.
            1 => {
                client.read_u8().await.unwrap();
                socket2::SockRef::from(&client).set_linger(Some(Duration::ZERO)).unwrap();
            }
            // Gone in the middle of a request.
            2 => client.write_all(&head.as_bytes()[..40]).await.unwrap(),
            _ => {}
        }
    }
    come_back(&gateway, files).await;
    let grown = gateway.resources().1.saturating_sub(memory);
    assert!(grown < 32 * 1024, "{grown} kB more than at the start");
}

#[tokio::test]
async fn no_more_connections_than_allowed_are_served_at_once() {
    let directory = Directory::new("most");
    let gateway = Gateway::configured(&directory, &format!("[connections]\nmost = 2\n{PASS}"));
    let (first, second) = (connect(&gateway).await, connect(&gateway).await);
    let mut third = connect(&gateway).await;
    third.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await.unwrap();
    let mut byte = [0];
    let early = tokio::time::timeout(Duration::from_millis(300), third.read(&mut byte)).await;
    assert!(early.is_err(), "answered while two others are open");
    drop((first, second));
    assert_eq!(closed(&mut third).await.lines().next(), Some("HTTP/1.1 200 OK"));
}
