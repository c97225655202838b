//! What stands around the program: upstreams, tools, and files.

use std::convert::Infallible;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures::stream;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use stream_testkit::{Fragments, Script, WireKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::kit::Directory;
use crate::tls::Authority;

/// The file with the addresses of what it names, which is started.
pub(super) async fn around(file: &str, directory: &Directory) -> String {
    directory.file("deny.toml", "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"deny\" }\n");
    directory.file("pass.toml", super::row::PASS);
    directory.file("server.sh", SERVER);
    directory.file("other.sh", &SERVER.replace("${WORD-none}", "other"));
    directory.file("slow.sh", &format!("sleep 1\n{SERVER}"));
    let mut file = file.replace("$DIR", directory.0.to_str().unwrap());
    for (name, app) in [
        ("$UP", Router::new().fallback(model)),
        ("$TOOL", Router::new().fallback(tool)),
        ("$SLOW", Router::new().fallback(slow)),
        ("$MCP", Router::new().fallback(mcp)),
    ] {
        if file.contains(name) {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            file = file.replace(name, &format!("http://{}", listener.local_addr().unwrap()));
            tokio::spawn(async move { axum::serve(listener, app).await });
        }
    }
    if file.contains("$TLS") {
        file = file.replace("$TLS", &over_tls(directory).await);
    }
    if file.contains("cert.pem") {
        crate::tls::write(directory, &Authority::new(), "gateway.test");
    }
    file
}

/// The API that a path is of.
fn kind(path: &str) -> WireKind {
    match path {
        path if path.contains("responses") => WireKind::OpenAiResponses,
        path if path.contains("messages") => WireKind::AnthropicMessages,
        path if path.contains("enerateContent") => WireKind::Gemini,
        _ => WireKind::OpenAiChat,
    }
}

/// A model that does what its name says.
async fn model(request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let kind = kind(parts.uri.path());
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let asked: Value = serde_json::from_slice(&body).unwrap_or_default();
    let name = asked["model"].as_str().unwrap_or("demo").to_owned();
    let key = ["authorization", "x-api-key", "x-goog-api-key"].map(|name| text(&parts.headers, name));
    let saw = format!("{} {}", parts.uri.path(), key.concat());
    let results = asked["messages"].as_array().into_iter().flatten().filter(|said| said["role"] == "tool");
    let results: Vec<&Value> = results.map(|said| &said["content"]).collect();
    let script = Script::new();
    let counts =
        |script: Script| script.text("Hm.").call("c", "count_letters", r#"{"word":"aa","letter":"a"}"#);
    let script = match name.as_str() {
        "html" => return ([("content-type", "text/html")], "<html>").into_response(),
        "invalid" => script.text("So.").call("call_1", "shell", "{}"),
        "hermes" => script.text(r#"<tool_call>{"name":"rm","arguments":{}}</tool_call>"#),
        "long" => script.text("word ".repeat(1000)),
        "choices" => script.text("one").choice(1).text("two").choice(2).text("three"),
        "endless" => counts(script),
        "loop" if results.is_empty() => counts(script),
        "loop" => script.text(format!("Done: {results:?}")),
        "tools" => script.text(format!("{}", asked["tools"])),
        "secret" => script.text("My secret."),
        "vast" => script.text("word ".repeat(4_000_000)).text_fragments(Fragments::Chars(4000)),
        "broken" => script.call("c1", "rm", "{}").call("c2", "ls", "{}").cut(),
        _ => script.text("So.").call("call_1", "rm", r#"{"path":"/a"}"#).call("call_2", "ls", "{}"),
    };
    let is_streamed = asked["stream"] == true || parts.uri.path().contains("stream");
    if !is_streamed {
        let headers = [("content-type", "application/json"), ("x-saw", saw.as_str())];
        return (headers, Body::from(script.whole(kind))).into_response();
    }
    let bytes = script.bytes(kind);
    let ends = |end: &[u8]| end.ends_with(b"\n\n") || end == b"\r\n\r\n";
    let cut = bytes.windows(4).position(ends).unwrap() + 4;
    let wait = Duration::from_millis(if name == "late" { 1000 } else { 0 });
    let (first, rest) = (bytes.slice(..cut), bytes.slice(cut..));
    let pieces = stream::unfold(Some((first, Some(rest))), move |next| async move {
        let (piece, rest) = next?;
        if rest.is_none() {
            tokio::time::sleep(wait).await;
        }
        Some((Ok::<Bytes, Infallible>(piece), rest.map(|rest| (rest, None))))
    });
    let headers = [("content-type", "text/event-stream"), ("x-saw", saw.as_str())];
    (headers, Body::from_stream(pieces)).into_response()
}

fn text(headers: &HeaderMap, name: &str) -> String {
    headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

/// A tool, or a judge, that tells which key it was given.
async fn tool(headers: HeaderMap) -> String {
    json!({ "result": format!("many {}", text(&headers, "authorization")) }).to_string()
}

/// A tool, or a judge that allows everything, after a while.
async fn slow(body: String) -> &'static str {
    tokio::time::sleep(Duration::from_millis(700)).await;
    if body.contains("flavor") { r#"{"verdict":"allow"}"# } else { r#"{"result":"late"}"# }
}

/// A server of two tools over HTTP.
async fn mcp(headers: HeaderMap, body: String) -> Response {
    let asked: Value = serde_json::from_str(&body).unwrap_or_default();
    let key = text(&headers, "authorization");
    let result = match asked["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "http", "version": "1"},
        }),
        "tools/list" => json!({"tools": [
            {"name": "count_letters", "inputSchema": {"type": "object"}},
            {"name": "wipe", "inputSchema": {"type": "object"}},
        ]}),
        "tools/call" => json!({"content": [{"type": "text", "text": format!("over HTTP {key}")}]}),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
    ([("content-type", "application/json")], answer.to_string()).into_response()
}

/// A server of two tools over standard input and output.
const SERVER: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"letters","inputSchema":{"type":"object"}},{"name":"wipe","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"'"${WORD-none} ${KEY_A-none}"'"}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// An upstream behind TLS, whose authority is in `ca.pem`: a whole answer for every request.
async fn over_tls(directory: &Directory) -> String {
    let authority = Authority::new();
    directory.file("ca.pem", &authority.pem());
    let acceptor = authority.server("localhost", "http/1.1");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut heard = [0; 4096];
            let count = stream.read(&mut heard).await.unwrap_or(0);
            let path =
                String::from_utf8_lossy(&heard[..count]).split(' ').nth(1).unwrap_or_default().to_owned();
            let body = Script::new().text("Over TLS.").whole(kind(&path));
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(&[head.as_bytes(), &body].concat()).await;
            let _ = stream.shutdown().await;
        }
    });
    format!("https://localhost:{port}")
}
