//! Upstreams, keys and routes from a file.

use http::StatusCode;
use stream_testkit::server::Server;
use stream_testkit::{Script, WireKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::kit::{Directory, Gateway, question};

/// Answers one request with a whole chat completion, and gives its head.
pub(crate) async fn overhear(listener: TcpListener) -> String {
    let (mut connection, _) = listener.accept().await.unwrap();
    let mut heard = Vec::new();
    let mut piece = [0; 4096];
    while !heard.windows(4).any(|end| end == b"\r\n\r\n") {
        let count = connection.read(&mut piece).await.unwrap();
        heard.extend_from_slice(&piece[..count]);
    }
    let body = Script::new().text("Hi").whole(WireKind::OpenAiChat);
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    connection.write_all(&[head.as_bytes(), &body].concat()).await.unwrap();
    String::from_utf8(heard).unwrap()
}

pub(crate) fn header(head: &str, name: &str) -> Vec<String> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.to_owned()).collect()
}

const PASS: &str = "[[policy]]\nkind = \"passthrough\"\n";

#[tokio::test]
async fn every_api_goes_to_its_own_upstream_below_its_own_path() {
    let directory = Directory::new("upstreams");
    let log = |kind| Script::new().text("Hello.").to_log(kind);
    let server = Server::builder()
        .on("/a/v1/chat/completions", log(WireKind::OpenAiChat))
        .on("/b/v1/responses", log(WireKind::OpenAiResponses))
        .on("/c/v1/messages", log(WireKind::AnthropicMessages))
        .on("/d/v1beta/models/demo:streamGenerateContent", log(WireKind::Gemini))
        .start()
        .await
        .unwrap();
    let names = WireKind::ALL.iter().zip(["/a", "/b/", "/c", "/d"]);
    let upstreams: Vec<String> =
        names.map(|(kind, path)| format!("[upstream.{kind}]\nurl = \"{}\"\n", server.url(path))).collect();
    let gateway = Gateway::configured(&directory, &format!("{}{PASS}", upstreams.concat()));
    for kind in WireKind::ALL {
        let answer = gateway.ask(kind, true).await;
        assert_eq!((answer.status, &answer.body), (StatusCode::OK, log(kind).bytes()), "{kind}");
    }
}

#[tokio::test]
async fn an_api_without_an_upstream_is_told_so_in_its_own_shape() {
    let directory = Directory::new("no-upstream");
    let config = format!("[upstream.gemini]\nurl = \"http://127.0.0.1:9\"\n{PASS}");
    let gateway = Gateway::configured(&directory, &config);
    let answer = gateway.ask(WireKind::AnthropicMessages, true).await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
    assert_eq!(
        answer.text(),
        r#"{"type":"error","error":{"type":"invalid_request_error","message":"no upstream is configured for anthropic-messages"}}"#
    );
}

#[tokio::test]
async fn a_key_of_the_gateway_replaces_that_of_the_client() {
    let directory = Directory::new("key");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let config =
        format!("[upstream.openai-chat]\nurl = \"http://{address}\"\nkey_env = \"GATEWAY_TEST_KEY\"\n{PASS}");
    let file = directory.file("gateway.toml", &config);
    let gateway = Gateway::start_with(&["--config", &file], &[("GATEWAY_TEST_KEY", "of-the-gateway")]);
    let (head, answer) = tokio::join!(overhear(listener), gateway.ask(WireKind::OpenAiChat, false));
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(header(&head, "authorization"), ["Bearer of-the-gateway"]);
    assert_eq!(header(&head, "host"), [address.to_string()]);
}

#[tokio::test]
async fn without_one_the_key_of_the_client_is_passed_through() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = format!("http://{}", listener.local_addr().unwrap());
    let gateway = Gateway::start(&["--upstream", &upstream]);
    let (head, answer) = tokio::join!(overhear(listener), gateway.ask(WireKind::OpenAiChat, false));
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(header(&head, "authorization"), ["Bearer from-the-client"]);
}

#[tokio::test]
async fn a_route_has_policies_of_its_own() {
    let directory = Directory::new("routes");
    directory.file("strict.toml", "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"deny\" }\n");
    let config = format!(
        "[[route]]\napis = [\"openai-chat\"]\nmodels = [\"small-*\"]\npolicies = \"strict.toml\"\n{PASS}"
    );
    let gateway = Gateway::configured(&directory, &config);
    let calls = async |model: &str| {
        let (path, body) = question(WireKind::OpenAiChat, true);
        let answer = gateway.post(path, &body.replace("demo", model)).await;
        answer.report(WireKind::OpenAiChat, true).view().choices[0].calls.len()
    };
    assert_eq!(calls("small-1").await, 0);
    assert_eq!(calls("large-1").await, 2);
}

#[tokio::test]
async fn a_route_that_is_not_known_is_refused_unless_told_otherwise() {
    let gateway = Gateway::start(&[]);
    let answer = gateway.post("/v1/batches", "{}").await;
    assert_eq!(answer.status, StatusCode::FORBIDDEN);
    let directory = Directory::new("unknown-route");
    let gateway = Gateway::configured(&directory, &format!("unknown_route = \"pass\"\n{PASS}"));
    let answer = gateway.get("/v1/batches").await;
    assert_eq!(answer.status, StatusCode::NOT_FOUND);
}
