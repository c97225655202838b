//! Clients, their keys and their limits; the admin side; the log of requests.

use std::process::Command;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full, StreamBody};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use stream_testkit::WireKind;
use tokio::net::TcpListener;

use crate::configured::{header, overhear};
use crate::kit::{Answer, Directory, Gateway, client, question};

type Headers<'a> = &'a [(&'a str, &'a str)];

const PASS: &str = "[[policy]]\nkind = \"passthrough\"\n";

pub(crate) fn sha256(key: &str) -> String {
    Sha256::digest(key).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A client of this name whose key is `key-of-NAME`, with limits.
pub(crate) fn known(name: &str, limits: &str) -> String {
    format!(
        "[[client]]\nname = \"{name}\"\nkey_sha256 = \"{}\"\n{limits}\n",
        sha256(&format!("key-of-{name}"))
    )
}

/// Asks an API with these headers, and with this behind its path's query.
pub(crate) async fn ask(gateway: &Gateway, kind: WireKind, headers: Headers<'_>, query: &str) -> Answer {
    let (path, body) = question(kind, true);
    let path = match (query, path.contains('?')) {
        ("", _) => path.to_owned(),
        (query, true) => format!("{path}&{query}"),
        (query, false) => format!("{path}?{query}"),
    };
    let mut request = Request::post(gateway.url(&path));
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    answer(request.body(Full::from(body)).unwrap()).await
}

pub(crate) async fn answer(request: Request<Full<Bytes>>) -> Answer {
    let (parts, body) = client().request(request).await.unwrap().into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Answer { status: parts.status, headers: parts.headers, body, broke: false }
}

#[tokio::test]
async fn a_key_is_taken_wherever_the_sdks_put_it() {
    let directory = Directory::new("doors");
    let gateway = Gateway::configured(&directory, &format!("{}{PASS}", known("ci", "")));
    let places: [(Headers<'_>, &str); 5] = [
        (&[("authorization", "Bearer key-of-ci")], ""),
        (&[("x-api-key", "key-of-ci")], ""),
        (&[("x-goog-api-key", "key-of-ci")], ""),
        (&[], "key=key-of-ci"),
        (&[("x-goog-api-key", "key-of-ci")], "key=key-of-ci"),
    ];
    for kind in WireKind::ALL {
        for (headers, query) in places {
            let answer = ask(&gateway, kind, headers, query).await;
            assert_eq!(answer.status, StatusCode::OK, "{kind} {headers:?} {query}");
        }
    }
}

#[tokio::test]
async fn a_client_is_known_by_the_key_of_an_environment_variable() {
    let directory = Directory::new("key-env");
    let file = directory
        .file("gateway.toml", &format!("[[client]]\nname = \"ci\"\nkey_env = \"KEY_OF_CI\"\n{PASS}"));
    let gateway = Gateway::start_with(&["--config", &file], &[("KEY_OF_CI", "from-there")]);
    let status =
        async |key: &str| ask(&gateway, WireKind::Gemini, &[("x-goog-api-key", key)], "").await.status;
    assert_eq!(status("from-there").await, StatusCode::OK);
    assert_eq!(status("KEY_OF_CI").await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn a_request_of_nobody_is_refused_in_the_apis_own_shape() {
    let directory = Directory::new("nobody");
    let config = format!("{}{}{PASS}", known("ci", ""), known("web", ""));
    let gateway = Gateway::configured(&directory, &config);
    let shapes = [
        (
            WireKind::OpenAiChat,
            r#"{"error":{"message":"M","type":"authentication_error","param":null,"code":null}}"#,
        ),
        (
            WireKind::OpenAiResponses,
            r#"{"error":{"message":"M","type":"authentication_error","param":null,"code":null}}"#,
        ),
        (
            WireKind::AnthropicMessages,
            r#"{"type":"error","error":{"type":"authentication_error","message":"M"}}"#,
        ),
        (WireKind::Gemini, r#"{"error":{"code":401,"message":"M","status":"UNAUTHENTICATED"}}"#),
    ];
    let expected = "expected the key of a client of this gateway, found";
    for (kind, shape) in shapes {
        let attempts: [(Headers<'_>, &str, &str); 6] = [
            (&[], "", "none"),
            (&[("authorization", "Bearer wrong")], "", "another"),
            (&[("authorization", "Basic key-of-ci")], "", "another"),
            (&[("authorization", "Bearer key-of-ci"), ("x-api-key", "key-of-web")], "", "another"),
            (&[("authorization", "Bearer key-of-ci")], "key=wrong", "another"),
            (&[("x-api-key", "")], "", "another"),
        ];
        for (headers, query, found) in attempts {
            let answer = ask(&gateway, kind, headers, query).await;
            assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{kind} {headers:?} {query}");
            assert_eq!(answer.text(), shape.replace('M', &format!("{expected} {found}")));
            assert_eq!(answer.headers["www-authenticate"], "Bearer");
        }
    }
    // Supervisors have no key.
    assert_eq!(
        answer(Request::get(gateway.url("/healthz")).body(Full::default()).unwrap()).await.text(),
        "ok\n"
    );
}

#[tokio::test]
async fn the_key_of_a_client_never_reaches_the_upstream() {
    let directory = Directory::new("key-removed");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let upstream = listener.local_addr().unwrap();
    let config = format!("{}[upstream.openai-chat]\nurl = \"http://{upstream}\"\n{PASS}", known("ci", ""));
    let gateway = Gateway::configured(&directory, &config);
    let headers = [("x-api-key", "key-of-ci"), ("authorization", "Bearer key-of-ci"), ("x-kept", "yes")];
    let (head, answer) =
        tokio::join!(overhear(listener), ask(&gateway, WireKind::OpenAiChat, &headers, "a=b&key=key-of-ci"));
    assert_eq!(answer.status, StatusCode::OK);
    assert_eq!(head.lines().next(), Some("POST /v1/chat/completions?a=b HTTP/1.1"));
    assert_eq!(header(&head, "x-kept"), ["yes"]);
    assert_eq!(head.matches("key-of-ci").count(), 0, "{head}");
}

#[tokio::test]
async fn a_client_beyond_its_rate_is_told_when_to_come_back() {
    let directory = Directory::new("rate");
    let config = format!("{}{}{PASS}", known("ci", "requests_per_minute = 2"), known("web", ""));
    let gateway = Gateway::configured(&directory, &config);
    let of = |name: &'static str| [("authorization", name)];
    let before = std::time::Instant::now();
    for _ in 0..2 {
        let answer = ask(&gateway, WireKind::OpenAiChat, &of("Bearer key-of-ci"), "").await;
        assert_eq!(answer.status, StatusCode::OK);
    }
    let refused = ask(&gateway, WireKind::AnthropicMessages, &of("Bearer key-of-ci"), "").await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(
        refused.text(),
        r#"{"type":"error","error":{"type":"rate_limit_error","message":"too many requests in a minute"}}"#
    );
    // A request comes back every 30 seconds, counted from the first; the test has taken some of them.
    let taken = before.elapsed().as_secs() + 1;
    let seconds: u64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((31 - taken..=30).contains(&seconds), "{seconds} after {taken}");
    let other = ask(&gateway, WireKind::OpenAiChat, &of("Bearer key-of-web"), "").await;
    assert_eq!(other.status, StatusCode::OK);
    let metrics = gateway.admin("/metrics").await;
    let requests: Vec<&str> =
        metrics.text().lines().filter(|line| line.starts_with("gateway_requests_total{")).collect();
    assert_eq!(
        requests,
        [
            "gateway_requests_total{client=\"ci\",status=\"200\"} 2",
            "gateway_requests_total{client=\"ci\",status=\"429\"} 1",
            "gateway_requests_total{client=\"web\",status=\"200\"} 1",
        ]
    );
}

#[tokio::test]
async fn a_place_among_a_clients_streams_comes_back_when_its_answer_is_over() {
    let directory = Directory::new("streams");
    let file = directory.file("gateway.toml", &format!("{}{PASS}", known("ci", "streams = 1")));
    let gateway = Gateway::start(&["--config", &file, "--pace", "30ms"]);
    let (path, body) = question(WireKind::OpenAiChat, true);
    let request = || {
        let request = Request::post(gateway.url(path)).header("authorization", "Bearer key-of-ci");
        request.body(Full::<Bytes>::from(body.clone())).unwrap()
    };
    let open = client().request(request()).await.unwrap();
    let refused = answer(request()).await;
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(refused.headers["retry-after"], "1");
    assert_eq!(
        refused.text(),
        r#"{"error":{"message":"too many answers under way","type":"rate_limit_error","param":null,"code":null}}"#
    );
    open.into_body().collect().await.unwrap();
    assert_eq!(answer(request()).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_request_beyond_its_clients_bytes_is_refused_whether_or_not_it_says_its_length() {
    let directory = Directory::new("bytes");
    let gateway = Gateway::configured(&directory, &format!("{}{PASS}", known("ci", "request_bytes = 100")));
    let request = || Request::post(gateway.url("/v1/chat/completions")).header("x-api-key", "key-of-ci");
    let body = format!(r#"{{"model":"{}"}}"#, "m".repeat(100));
    let said = answer(request().body(Full::from(body.clone())).unwrap()).await;
    let pieces = futures::stream::iter([Ok::<_, std::io::Error>(http_body::Frame::data(Bytes::from(body)))]);
    let chunked = Client::builder(TokioExecutor::new()).build_http();
    let chunked = chunked.request(request().body(StreamBody::new(pieces)).unwrap()).await.unwrap();
    let message = "expected a request of at most 100 bytes, found a larger one";
    let expected = format!(
        r#"{{"error":{{"message":"{message}","type":"invalid_request_error","param":null,"code":null}}}}"#
    );
    assert_eq!((said.status, said.text()), (StatusCode::PAYLOAD_TOO_LARGE, &*expected));
    assert_eq!(chunked.status(), StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(chunked.into_body().collect().await.unwrap().to_bytes(), expected);
}

#[tokio::test]
async fn routes_name_clients() {
    let directory = Directory::new("client-route");
    directory.file("strict.toml", "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"deny\" }\n");
    let config = format!(
        "{}{}[[route]]\nclients = [\"guest\"]\npolicies = \"strict.toml\"\n{PASS}",
        known("guest", ""),
        known("staff", "")
    );
    let gateway = Gateway::configured(&directory, &config);
    let calls = async |key: &str| {
        let answer = ask(&gateway, WireKind::OpenAiChat, &[("x-api-key", key)], "").await;
        answer.report(WireKind::OpenAiChat, true).view().choices[0].calls.len()
    };
    assert_eq!(calls("key-of-guest").await, 0);
    assert_eq!(calls("key-of-staff").await, 2);
    let metrics = gateway.admin("/metrics").await;
    let dropped =
        r#"gateway_decisions_total{client="guest",policy="tool_gate",verdict="dropped",enforced="true"} 2"#;
    assert_eq!(metrics.text().lines().filter(|line| *line == dropped).count(), 1, "{}", metrics.text());
}

#[tokio::test]
async fn only_answers_to_named_clients_are_recorded() {
    let directory = Directory::new("client-record");
    let config = format!(
        "record = \"logs\"\nrecord_clients = [\"guest\"]\n{}{}{PASS}",
        known("guest", ""),
        known("staff", "")
    );
    let gateway = Gateway::configured(&directory, &config);
    for key in ["key-of-staff", "key-of-guest"] {
        ask(&gateway, WireKind::OpenAiChat, &[("x-api-key", key)], "").await;
    }
    gateway.terminate();
    gateway.wait();
    let mut files: Vec<String> = std::fs::read_dir(directory.0.join("logs"))
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".sse"))
        .map(|name| name.split_once('-').unwrap().1.to_owned())
        .collect();
    files.sort();
    assert_eq!(files, ["000002.in.sse", "000002.out.sse"]);
}

#[tokio::test]
async fn every_request_is_a_line_of_the_log_without_text_or_keys() {
    let directory = Directory::new("request-log");
    let gate = "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"allow\", deny = [{ tools = [\"shell\"], because = \"no shell\" }] }\n";
    let config = format!("request_log = \"requests.jsonl\"\n{}{gate}", known("ci", ""));
    let gateway = Gateway::configured(&directory, &config);
    let answered = ask(&gateway, WireKind::OpenAiChat, &[("x-api-key", "key-of-ci")], "").await;
    let refused = ask(&gateway, WireKind::Gemini, &[], "key=wrong").await;
    gateway.terminate();
    gateway.wait();
    let log = std::fs::read_to_string(directory.0.join("requests.jsonl")).unwrap();
    assert_eq!((log.matches("key-of-ci").count(), log.matches("wrong").count()), (0, 0), "{log}");
    let mut lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        for time in ["time_ms", "took_ms", "first_byte_ms"] {
            assert!(line[time].is_u64(), "{line}");
            line[time] = Value::Null;
        }
        for decision in line["decisions"].as_array_mut().unwrap() {
            assert!(decision["held_ms"].is_u64() && decision["bytes"].is_u64());
            decision["held_ms"] = Value::Null;
            decision["bytes"] = Value::Null;
        }
    }
    let decision = |action: &str, reason: Value| serde_json::json!({ "policy": "tool_gate", "action": action, "reason": reason, "bytes": null, "held_ms": null, "enforced": true });
    assert_eq!(
        lines,
        [
            serde_json::json!({
                "time_ms": null, "number": 1, "client": "ci", "method": "POST", "path": "/v1/chat/completions",
                "api": "openai-chat", "model": "demo", "status": 200, "bytes": answered.body.len(),
                "first_byte_ms": null, "took_ms": null, "stayed": true, "decided": 2,
                "decisions": [decision("dropped", "no shell".into()), decision("released", Value::Null)],
            }),
            serde_json::json!({
                "time_ms": null, "number": 2, "client": null, "method": "POST",
                "path": "/v1beta/models/demo:streamGenerateContent", "api": null, "model": null, "status": 401,
                "bytes": refused.body.len(), "first_byte_ms": null, "took_ms": null, "stayed": true, "decided": 0,
                "decisions": [],
            }),
        ]
    );
}

#[tokio::test]
async fn metrics_are_on_the_admin_side_and_nowhere_else() {
    let gateway = Gateway::start(&[]);
    for path in ["/metrics", "/readyz", "/live", "/live/events"] {
        assert_eq!(gateway.get(path).await.status, StatusCode::FORBIDDEN, "{path}");
    }
    for (path, said) in [("/healthz", "ok\n"), ("/readyz", "ready\n")] {
        let answer = gateway.admin(path).await;
        assert_eq!((answer.status, answer.text()), (StatusCode::OK, said));
    }
    assert_eq!(gateway.admin("/v1/models").await.status, StatusCode::NOT_FOUND);
}

#[test]
fn a_key_that_is_made_is_known_by_the_line_that_is_printed() {
    let out = Command::new(env!("CARGO_BIN_EXE_gateway")).arg("key").output().unwrap();
    assert_eq!(out.status.code(), Some(0));
    let text = String::from_utf8(out.stdout).unwrap();
    let key = text.lines().next().unwrap();
    assert_eq!(text, format!("{key}\n\n[[client]]\nname = \"…\"\nkey_sha256 = \"{}\"\n", sha256(key)));
}

/// A key of the gateway's is not for everybody who reaches the port.
#[test]
fn a_listener_for_everybody_needs_clients_or_says_that_it_is_open() {
    let directory = Directory::new("open");
    let upstream = "[upstream.openai-chat]\nurl = \"http://127.0.0.1:9\"\nkey_env = \"GATEWAY_TEST_KEY\"\n";
    let start = |config: &str, listen: &str| {
        let file = directory.file("gateway.toml", config);
        let mut child = Command::new(env!("CARGO_BIN_EXE_gateway"))
            .args(["--config", &file, "--listen", listen])
            .env("GATEWAY_TEST_KEY", "secret")
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut first = String::new();
        let out = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut first).unwrap();
        let _ = child.kill();
        let out = child.wait_with_output().unwrap();
        (first.is_empty(), String::from_utf8(out.stderr).unwrap())
    };
    let refused = start(&format!("{upstream}{PASS}"), "0.0.0.0:0");
    assert_eq!(
        refused,
        (
            true,
            "gateway: expected [[client]] entries, or open = true, because everybody who reaches 0.0.0.0:0 may use the \
             upstream's key of key_env, found neither\n"
                .to_owned()
        )
    );
    for (config, listen) in [
        (format!("open = true\n{upstream}{PASS}"), "0.0.0.0:0"),
        (format!("{}{upstream}{PASS}", known("ci", "")), "0.0.0.0:0"),
        (format!("{upstream}{PASS}"), "127.0.0.1:0"),
    ] {
        assert_eq!(start(&config, listen), (false, String::new()), "{config} {listen}");
    }
}
