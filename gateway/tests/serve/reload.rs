//! A configuration that changes while the program runs.

use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use futures::StreamExt as _;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::Full;
use serde_json::{Value, json};
use stream_testkit::{ChunkLog, Cut, Script, WireKind};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::doors::{answer, ask, known};
use crate::kit::{Answer, Directory, Gateway, question};

/// Text and a call of a tool.
fn calling() -> ChunkLog {
    Script::new().text("On it.").call("call_1", "shell", "{}").to_log(WireKind::OpenAiChat)
}

/// An upstream whose answers to requests with `x-held` wait behind their first event until it is told to go on.
struct Upstream {
    url: String,
    go_on: watch::Sender<bool>,
    task: tokio::task::JoinHandle<()>,
}

impl Upstream {
    async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let go_on = watch::Sender::new(false);
        let gate = go_on.clone();
        let app = Router::new().fallback(async move |headers: HeaderMap, _: Bytes| {
            let is_held = headers.contains_key("x-held");
            let pieces = Cut::Event.apply(&calling()).into_iter().enumerate();
            let body = futures::stream::iter(pieces).then(move |(at, (_, piece))| {
                let mut gate = gate.subscribe();
                async move {
                    if is_held && at == 1 {
                        gate.wait_for(|is_open| *is_open).await.unwrap();
                    }
                    Ok::<_, std::convert::Infallible>(piece)
                }
            });
            ([("content-type", "text/event-stream")], Body::from_stream(body))
        });
        let task = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, go_on, task }
    }

    /// A file with this upstream.
    fn config(&self, rest: &str) -> String {
        format!("[upstream.openai-chat]\nurl = \"{}\"\n{rest}", self.url)
    }
}

impl Drop for Upstream {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn gate(default: &str) -> String {
    format!("[[policy]]\nkind = \"tool-gate\"\nrules = {{ default = \"{default}\" }}\n")
}

/// Puts a file in the place of another, in one step.
fn replace(directory: &Directory, name: &str, text: &str) {
    let new = directory.file("new", text);
    std::fs::rename(new, directory.0.join(name)).unwrap();
}

async fn calls(gateway: &Gateway) -> usize {
    let answer = gateway.ask(WireKind::OpenAiChat, true).await;
    answer.report(WireKind::OpenAiChat, true).view().choices[0].calls.len()
}

/// Begins an answer that is held, and waits until it is under way.
async fn begin(gateway: &Gateway, key: &str) -> tokio::task::JoinHandle<Answer> {
    let open = metric(gateway, "gateway_streams_open").await;
    let (path, body) = question(WireKind::OpenAiChat, true);
    let request = Request::post(gateway.url(path)).header("x-held", "1").header("x-api-key", key);
    let begun = tokio::spawn(answer(request.body(Full::from(body)).unwrap()));
    until(gateway, "gateway_streams_open", open + 1).await;
    begun
}

async fn metric(gateway: &Gateway, name: &str) -> u64 {
    let page = gateway.admin("/metrics").await;
    let line = page.text().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.unwrap().parse().unwrap()
}

/// Waits until a number is what it should be.
async fn until(gateway: &Gateway, name: &str, number: u64) {
    let start = Instant::now();
    loop {
        let found = metric(gateway, name).await;
        if found == number {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "expected {name} {number}, found {found}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const TAKEN: &str = "gateway_config_reloads_total{result=\"taken\"}";
const REFUSED: &str = "gateway_config_reloads_total{result=\"refused\"}";
const BEHIND: &str = "gateway_config_behind";

/// A changed file counts for new requests; what is under way goes on under the policies that it began with.
#[tokio::test]
async fn a_changed_file_counts_for_new_requests_alone() {
    let upstream = Upstream::start().await;
    let directory = Directory::new("changed");
    let gateway = Gateway::configured(&directory, &upstream.config(&gate("allow")));
    assert_eq!(calls(&gateway).await, 1);
    let under_allow = begin(&gateway, "any").await;
    replace(&directory, "gateway.toml", &upstream.config(&gate("deny")));
    until(&gateway, TAKEN, 1).await;
    assert_eq!(calls(&gateway).await, 0);
    let under_deny = begin(&gateway, "any").await;
    replace(&directory, "gateway.toml", &upstream.config(&gate("allow")));
    until(&gateway, TAKEN, 2).await;
    assert_eq!(calls(&gateway).await, 1);
    assert!(!under_allow.is_finished() && !under_deny.is_finished());
    upstream.go_on.send_replace(true);
    assert_eq!(under_allow.await.unwrap().body, calling().bytes());
    let denied = under_deny.await.unwrap();
    assert_eq!(denied.report(WireKind::OpenAiChat, true).view().choices[0].calls.len(), 0);
    assert!(!denied.text().contains("call_1"), "{}", denied.text());
    assert_eq!((metric(&gateway, REFUSED).await, metric(&gateway, BEHIND).await), (0, 0));
}

/// A file with a mistake changes nothing, and log and metrics say so; the next good one counts.
#[tokio::test]
async fn a_file_with_a_mistake_changes_nothing_and_is_told() {
    let upstream = Upstream::start().await;
    let directory = Directory::new("mistaken");
    let (gateway, log) = Gateway::logging(&directory, &upstream.config(&gate("deny")));
    replace(&directory, "gateway.toml", &upstream.config(&gate("perhaps")));
    until(&gateway, REFUSED, 1).await;
    assert_eq!((metric(&gateway, TAKEN).await, metric(&gateway, BEHIND).await), (0, 1));
    assert_eq!(calls(&gateway).await, 0);
    // One refusal, not one each time the file is looked at.
    tokio::time::sleep(Duration::from_millis(1200)).await;
    let logged = std::fs::read_to_string(log).unwrap();
    let logged: Vec<Value> = logged.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let file = directory.0.join("gateway.toml");
    let expected = format!(
        "{}: line 5, column 21: policy[0].rules.default: expected a value out of allow, deny, found \"perhaps\"",
        file.display()
    );
    let told: Vec<(&Value, &Value, &Value)> =
        logged.iter().map(|line| (&line["level"], &line["message"], &line["error"])).collect();
    let message = "the configuration has changed and is refused: the one before goes on";
    assert_eq!(told, [(&json!("ERROR"), &json!(message), &json!(expected))]);
    assert_eq!(metric(&gateway, REFUSED).await, 1);

    replace(&directory, "gateway.toml", &upstream.config(&gate("allow")));
    until(&gateway, TAKEN, 1).await;
    assert_eq!((metric(&gateway, REFUSED).await, metric(&gateway, BEHIND).await), (1, 0));
    assert_eq!(calls(&gateway).await, 1);
}

/// The file of a route is a part of the configuration.
#[tokio::test]
async fn a_changed_file_of_a_route_counts() {
    let upstream = Upstream::start().await;
    let directory = Directory::new("changed-route");
    directory.file("route.toml", &gate("deny"));
    let route = "[[route]]\napis = [\"openai-chat\"]\npolicies = \"route.toml\"\n";
    let config = upstream.config(&format!("{route}{}", gate("deny")));
    let gateway = Gateway::configured(&directory, &config);
    assert_eq!(calls(&gateway).await, 0);
    replace(&directory, "route.toml", &gate("perhaps"));
    until(&gateway, REFUSED, 1).await;
    assert_eq!(calls(&gateway).await, 0);
    replace(&directory, "route.toml", &gate("allow"));
    until(&gateway, TAKEN, 1).await;
    assert_eq!(calls(&gateway).await, 1);
}

/// At a signal the file is read, whether or not it seems to have changed.
#[tokio::test]
async fn a_signal_makes_the_file_count() {
    let upstream = Upstream::start().await;
    let directory = Directory::new("signalled");
    let gateway = Gateway::configured(&directory, &upstream.config(&gate("deny")));
    // The program answers: it has set its signals up.
    assert_eq!(calls(&gateway).await, 0);
    gateway.signal("HUP");
    until(&gateway, TAKEN, 1).await;
    replace(&directory, "gateway.toml", &upstream.config(&gate("allow")));
    gateway.signal("HUP");
    until(&gateway, TAKEN, 2).await;
    assert_eq!(calls(&gateway).await, 1);
    // It was read once: what was read at the signal is no change any more.
    tokio::time::sleep(Duration::from_millis(1200)).await;
    assert_eq!(metric(&gateway, TAKEN).await, 2);
    replace(&directory, "gateway.toml", &upstream.config(&gate("perhaps")));
    gateway.signal("HUP");
    until(&gateway, REFUSED, 1).await;
    assert_eq!(calls(&gateway).await, 1);
}

/// What is left of a client's limits is the same behind a change, unless the limit itself has changed.
#[tokio::test]
async fn a_changed_file_leaves_the_limits_of_clients_as_they_are() {
    let upstream = Upstream::start().await;
    let directory = Directory::new("kept-limits");
    let config = |policy: &str, rate: u32| {
        let clients =
            known("rated", &format!("requests_per_minute = {rate}")) + &known("placed", "streams = 1");
        upstream.config(&format!("{clients}{}", gate(policy)))
    };
    let gateway = Gateway::configured(&directory, &config("deny", 2));
    let status = async |name: &str| {
        let key = format!("key-of-{name}");
        ask(&gateway, WireKind::OpenAiChat, &[("x-api-key", &key)], "").await.status
    };
    let _held = begin(&gateway, "key-of-placed").await;
    assert_eq!(status("placed").await, StatusCode::TOO_MANY_REQUESTS);
    for expected in [StatusCode::OK, StatusCode::OK, StatusCode::TOO_MANY_REQUESTS] {
        assert_eq!(status("rated").await, expected);
    }
    replace(&directory, "gateway.toml", &config("allow", 2));
    until(&gateway, TAKEN, 1).await;
    assert_eq!(status("placed").await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(status("rated").await, StatusCode::TOO_MANY_REQUESTS);
    replace(&directory, "gateway.toml", &config("allow", 3));
    until(&gateway, TAKEN, 2).await;
    assert_eq!(status("placed").await, StatusCode::TOO_MANY_REQUESTS);
    assert_eq!(status("rated").await, StatusCode::OK);
    upstream.go_on.send_replace(true);
    until(&gateway, "gateway_streams_open", 0).await;
    assert_eq!(status("placed").await, StatusCode::OK);
}
