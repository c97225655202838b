//! The scripted upstream, seen through a socket.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::time::Duration;

use bytes::Bytes;
use stream_testkit::faults::Fault;
use stream_testkit::server::{Fate, Reply, Server};
use stream_testkit::{ChunkLog, Cut, Script, WireKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;

/// Three pieces, at 1, 2 and 4 seconds.
fn log() -> ChunkLog {
    let pieces = [(1, "data: {\"choices\":[]}\n\n"), (2, "data: "), (4, "[DONE]\n\n")];
    ChunkLog::from_chunks("log", pieces.map(|(at, text)| (Duration::from_secs(at), Bytes::from(text))))
}

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.address()).await.unwrap()
}

async fn ask(client: &mut TcpStream, target: &str) {
    let request = format!("POST {target} HTTP/1.1\r\nhost: test\r\ncontent-length: 2\r\n\r\n{{}}");
    client.write_all(request.as_bytes()).await.unwrap();
}

/// Reads up to and with this text.
async fn read_until(client: &mut TcpStream, end: &str) -> String {
    let mut read = Vec::new();
    while !read.ends_with(end.as_bytes()) {
        read.push(client.read_u8().await.unwrap());
    }
    String::from_utf8(read).unwrap()
}

/// All that comes until the server closes.
async fn read_all(client: &mut TcpStream) -> String {
    let mut read = String::new();
    client.read_to_string(&mut read).await.unwrap();
    read
}

const STREAM: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream; charset=utf-8\r\ntransfer-encoding: chunked\r\n\r\n";
const END: &str = "0\r\n\r\n";

#[tokio::test(start_paused = true)]
async fn a_log_is_streamed_piece_by_piece_at_its_times() {
    let server = Server::builder().on("/chat", log()).start().await.unwrap();
    let mut client = connect(&server).await;
    ask(&mut client, "/chat").await;
    let start = Instant::now();
    assert_eq!(
        read_until(&mut client, END).await,
        format!("{STREAM}16\r\ndata: {{\"choices\":[]}}\n\n\r\n6\r\ndata: \r\n8\r\n[DONE]\n\n\r\n{END}")
    );
    assert_eq!(start.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn times_are_scaled_and_stalls_are_not() {
    let stall = Fault::Stall { at: 22, lasts: Duration::from_secs(10) };
    let server =
        Server::builder().scaled(0.5).then(log()).then(Reply::new(log()).fault(stall)).start().await.unwrap();
    for seconds in [2, 12] {
        let mut client = connect(&server).await;
        ask(&mut client, "/").await;
        let start = Instant::now();
        read_until(&mut client, END).await;
        assert_eq!(start.elapsed().as_secs(), seconds);
    }
}

#[tokio::test]
async fn a_whole_response_has_its_length_and_is_json() {
    let body = Script::new().text("Hi").whole(WireKind::OpenAiChat);
    let error = Script::new().error("no such model").whole(WireKind::OpenAiChat);
    let server = Server::builder()
        .then(ChunkLog::from_whole("whole", body.clone()))
        .then(Reply::new(ChunkLog::from_whole("error", error.clone())).status(400))
        .start()
        .await
        .unwrap();
    for (status, body) in [("200 OK", body), ("400 Bad Request", error)] {
        let mut client = connect(&server).await;
        ask(&mut client, "/").await;
        let (length, body) = (body.len(), String::from_utf8(body.to_vec()).unwrap());
        assert_eq!(
            read_until(&mut client, &body).await,
            format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}"
            )
        );
    }
    assert_eq!(server.until(|tally| tally.completed() == 2).await.cancelled(), 0);
}

#[tokio::test]
async fn content_types_are_those_of_the_api() {
    for (kind, stream, whole) in [
        (WireKind::OpenAiChat, "text/event-stream; charset=utf-8", "application/json"),
        (WireKind::OpenAiResponses, "text/event-stream; charset=utf-8", "application/json"),
        (WireKind::AnthropicMessages, "text/event-stream; charset=utf-8", "application/json"),
        (WireKind::Gemini, "text/event-stream", "application/json; charset=UTF-8"),
    ] {
        let script = Script::new().text("Hi");
        let whole_log = ChunkLog::from_whole("whole", script.whole(kind));
        let server = Server::builder().then(script.to_log(kind)).then(whole_log).start().await.unwrap();
        for expected in [stream, whole] {
            let mut client = connect(&server).await;
            ask(&mut client, "/").await;
            read_until(&mut client, "content-type: ").await;
            assert_eq!(read_until(&mut client, "\r\n").await, format!("{expected}\r\n"), "{kind}");
        }
    }
}

#[tokio::test]
async fn replies_are_given_by_path_or_in_order_and_the_rest_is_unexpected() {
    let text = |text: &str| ChunkLog::from_chunks(text, [(Duration::ZERO, Bytes::from(text.to_owned()))]);
    let server = Server::builder()
        .on("/a", text("a1"))
        .on("/a", text("a2"))
        .then(text("x"))
        .then(text("y"))
        .start()
        .await
        .unwrap();
    let mut client = connect(&server).await;
    for (target, expected) in [("/a?alt=sse", "a1"), ("/b", "x"), ("/a", "a2"), ("/a", "a2"), ("/c", "y")] {
        ask(&mut client, target).await;
        let len = expected.len();
        let body = format!("{STREAM}{len}\r\n{expected}\r\n{END}");
        assert_eq!(read_until(&mut client, END).await, body, "{target}");
    }
    ask(&mut client, "/d").await;
    let message = r#"{"error":{"message":"expected no request, found one for which no reply is left"}}"#;
    let length = message.len();
    assert_eq!(
        read_until(&mut client, message).await,
        format!(
            "HTTP/1.1 404 Not Found\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{message}"
        )
    );

    let tally = server.until(|tally| tally.completed() == 5).await;
    assert_eq!((tally.connections(), tally.requests().len()), (1, 6));
    let first = &tally.requests()[0];
    assert_eq!((&first.method[..], &first.target[..], &first.body[..]), ("POST", "/a?alt=sse", &b"{}"[..]));
    assert_eq!(tally.requests()[5].fate, Fate::Unexpected);
}

#[tokio::test]
async fn connections_and_requests_are_counted_apart() {
    let log = Script::new().text("Hi").to_log(WireKind::AnthropicMessages);
    let server = Server::builder().on("/", log).start().await.unwrap();
    let mut first = connect(&server).await;
    let mut second = connect(&server).await;
    for client in [&mut first, &mut second] {
        for _ in 0..2 {
            ask(client, "/").await;
            read_until(client, END).await;
        }
    }
    let tally = server.until(|tally| tally.completed() == 4).await;
    assert_eq!((tally.connections(), tally.requests().len()), (2, 4));
}

#[tokio::test]
async fn a_client_that_goes_away_in_the_middle_is_noticed_even_while_nothing_is_sent() {
    let hang = Reply::new(log()).fault(Fault::Hang { at: 22 });
    let server = Server::builder().scaled(0.0).then(hang).start().await.unwrap();
    let mut client = connect(&server).await;
    ask(&mut client, "/").await;
    read_until(&mut client, "[]}\n\n\r\n").await;
    assert_eq!(server.tally().requests()[0].fate, Fate::Serving);
    drop(client);
    server.cancelled().await;
    let tally = server.tally();
    assert_eq!((tally.cancelled(), tally.completed()), (1, 0));
}

#[tokio::test]
async fn a_reply_that_breaks_closes_the_connection_in_the_middle() {
    let broken = Reply::new(log()).cut(Cut::Whole).fault(Fault::Break { at: 6 });
    let server = Server::builder().scaled(0.0).then(broken).start().await.unwrap();
    let mut client = connect(&server).await;
    ask(&mut client, "/").await;
    assert_eq!(read_all(&mut client).await, format!("{STREAM}6\r\ndata: \r\n"));
    assert_eq!(server.until(|tally| tally.completed() == 1).await.cancelled(), 0);
}

#[tokio::test]
async fn a_whole_response_that_is_cut_short_closes_the_connection() {
    let cut = Reply::new(ChunkLog::from_whole("whole", "{\"choices\":[]}")).fault(Fault::End { at: 4 });
    let server = Server::builder().then(cut).start().await.unwrap();
    let mut client = connect(&server).await;
    ask(&mut client, "/").await;
    assert_eq!(
        read_all(&mut client).await,
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 14\r\n\r\n{\"ch"
    );
}

#[tokio::test]
async fn a_server_that_is_dropped_finishes_what_it_is_answering_and_takes_no_more() {
    let pause = Fault::Stall { at: 22, lasts: Duration::from_millis(50) };
    let slow = Reply::new(log()).fault(pause);
    let server = Server::builder().scaled(0.0).on("/", slow).start().await.unwrap();
    let address = server.address();
    let mut client = connect(&server).await;
    let mut idle = connect(&server).await;
    server.until(|tally| tally.connections() == 2).await;
    ask(&mut client, "/").await;
    read_until(&mut client, "[]}\n\n\r\n").await;
    drop(server);
    assert_eq!(read_all(&mut client).await, format!("6\r\ndata: \r\n8\r\n[DONE]\n\n\r\n{END}"));
    assert_eq!(read_all(&mut idle).await, "");
    assert_eq!(TcpStream::connect(address).await.unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
}

#[tokio::test]
async fn stopping_waits_for_the_answers_under_way() {
    let pause = Fault::Stall { at: 22, lasts: Duration::from_millis(50) };
    let server = Server::builder().scaled(0.0).then(Reply::new(log()).fault(pause)).start().await.unwrap();
    let mut client = connect(&server).await;
    ask(&mut client, "/").await;
    read_until(&mut client, "[]}\n\n\r\n").await;
    assert_eq!(server.stop().await.completed(), 1);
}

#[tokio::test]
async fn the_url_names_address_and_path() {
    let server = Server::builder().start().await.unwrap();
    assert_eq!(
        server.url("/v1/messages"),
        format!("http://127.0.0.1:{}/v1/messages", server.address().port())
    );
}
