//! What `gateway envoy` serves, and prints.

use std::convert::Infallible;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use futures::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use hyper_util::rt::{TokioExecutor, TokioIo};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::row::{KEYS, PASS, Row, See, World};

pub(super) fn rows() -> Vec<Row> {
    let file = format!("[upstream.openai-chat]\nurl = \"http://127.0.0.1:9\"\n[envoy]\n@\n{PASS}");
    let printed: See = |world| Box::pin(async move { printed(&world) });
    let settings: See = |world| Box::pin(async move { settings(&world).await });
    let drains: See = |world| Box::pin(async move { drains(&world).await.to_string() });
    vec![
        Row::new("envoy.listen", &file, ["listen = \"127.0.0.1:7001\"", ""], printed),
        Row::new("envoy.clients", &file, ["clients = \"127.0.0.1:7001\"", ""], printed),
        Row::new("envoy.envoy_admin", &file, ["envoy_admin = \"127.0.0.1:7001\"", ""], printed),
        Row::new("envoy.processors", &file, ["processors = [\"policies.internal:50051\"]", ""], printed),
        Row::new("envoy.stream_window", &file, ["stream_window = 4096", ""], settings),
        Row::new("envoy.connection_window", &file, ["connection_window = 65536", ""], settings),
        Row::new("envoy.streams", &file, ["streams = 7", ""], settings),
        Row::new("envoy.drain", &file, ["drain = \"100ms\"", ""], drains),
    ]
}

fn command(world: &World) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gateway"));
    command.args(["envoy", "--config", &world.file]).envs(KEYS).stderr(Stdio::null());
    command
}

fn printed(world: &World) -> String {
    let out = command(world).arg("--print-config").output().unwrap();
    assert!(out.status.success());
    String::from_utf8(out.stdout).unwrap()
}

/// The program, and a connection to it.
async fn connected(world: &World) -> (std::process::Child, TcpStream) {
    let mut child = command(world)
        .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log", "error"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    std::thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    let address = line.trim_end().strip_prefix("gateway: serving Envoy on ").unwrap().to_owned();
    (child, TcpStream::connect(address).await.unwrap())
}

/// The frames with which the program begins a connection.
async fn settings(world: &World) -> String {
    let (mut child, mut stream) = connected(world).await;
    stream.write_all(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0").await.unwrap();
    let mut said = Vec::new();
    let mut piece = [0; 1024];
    while let Ok(Ok(count)) = tokio::time::timeout(Duration::from_millis(500), stream.read(&mut piece)).await
    {
        if count == 0 {
            break;
        }
        said.extend_from_slice(&piece[..count]);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!said.is_empty());
    format!("{said:x?}")
}

/// Whether the program ends within two seconds while an exchange is open.
async fn drains(world: &World) -> bool {
    let (mut child, stream) = connected(world).await;
    let (mut send, connection) =
        hyper::client::conn::http2::handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    let connection = tokio::spawn(connection);
    let request = http::Request::post("http://a/envoy.service.ext_proc.v3.ExternalProcessor/Process")
        .header("content-type", "application/grpc")
        .header("te", "trailers")
        .body(StreamBody::new(stream::pending::<Result<Frame<Bytes>, Infallible>>()))
        .unwrap();
    let exchange =
        tokio::spawn(async move { send.send_request(request).await.map(|answer| answer.status()) });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let status = Command::new("kill").args(["-s", "TERM", &child.id().to_string()]).status().unwrap();
    assert!(status.success());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let has_ended = child.try_wait().unwrap().is_some();
    let _ = child.kill();
    child.wait().unwrap();
    exchange.abort();
    connection.abort();
    has_ended
}
