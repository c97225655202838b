//! Every example runs, and says what it should.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use stream_testkit::server::Server;
use stream_testkit::{Script, WireKind};

#[test]
fn a_policy_lets_text_and_other_calls_through() {
    assert_eq!(output("policy"), without_rm(WireKind::Gemini));
}

#[test]
fn a_chain_rewrites_then_judges_then_redacts() {
    let said = "\
validate_parameters: Edited, -
tool_gate: Dropped, nothing is deleted
redact: Edited, found email
validate_parameters: Edited, -
text \"I write to [redacted] and clean up.\"
text \"[nothing is deleted]\"
call shell with {\"command\":\"ls\"}
";
    assert_eq!(output("chain"), said);
}

#[test]
fn a_dialect_of_ones_own_is_judged_and_promoted() {
    let said = "\
text \"Sure.  And  done.\"
call search with {\"query\":\"rust\"}
";
    assert_eq!(output("dialect"), said);
}

#[test]
fn a_judge_keeps_files_from_being_overwritten() {
    let output = output("judge");
    let mut said: Vec<&str> = output.lines().collect();
    // The disk answers when it likes.
    said.sort_unstable();
    assert_eq!(
        said,
        [
            "dropped: it would overwrite a file",
            "dropped: no rule allows it",
            "dropped: the judge failed: expected a path, found none",
            r#"the client runs write_file with {"path":"no-such-file.txt","text":"new"}"#,
        ]
    );
}

#[tokio::test]
async fn an_axum_app_redacts_unless_the_model_is_trusted() {
    let app = Running::start("axum_app", &["127.0.0.1:0"]);
    let ask = async |model: &str| {
        let request = format!(r#"{{"model":"{model}","stream":true}}"#);
        text(&fetch(Method::POST, &app.url("/v1/chat/completions"), request).await)
    };
    assert_eq!(ask("trusted").await, "Write to jane@example.com.");
    assert_eq!(ask("some-model").await, "Write to [redacted].");
    assert_eq!(fetch(Method::GET, &app.url("/healthz"), String::new()).await, "fine\n");
}

#[tokio::test]
async fn a_hyper_proxy_keeps_calls_of_rm_from_the_client() {
    let log = answer().to_log(WireKind::OpenAiChat);
    let upstream = Server::builder().on("/v1/chat/completions", log).start().await.expect("a free port");
    let proxy = Running::start("hyper_proxy", &[&upstream.address().to_string(), "127.0.0.1:0"]);
    let request = r#"{"model":"some-model","stream":true}"#.to_owned();
    let said = fetch(Method::POST, &proxy.url("/v1/chat/completions"), request).await;
    assert_eq!(said, without_rm(WireKind::OpenAiChat));
}

/// What the examples police.
fn answer() -> Script {
    Script::new().text("On it.").call("call_1", "rm", r#"{"path":"/"}"#).call("call_2", "ls", "{}")
}

fn without_rm(kind: WireKind) -> String {
    let answer = Script::new().text("On it.").call("call_2", "ls", "{}");
    String::from_utf8(answer.bytes(kind).to_vec()).expect("scripts are text")
}

/// All content of a chat stream.
fn text(stream: &str) -> String {
    let mut client = stream_core::Assembler::new();
    client.push(stream.as_bytes()).expect("a valid stream");
    client.finish().expect("a whole stream");
    client.state().blocks().iter().filter_map(|block| block.as_text()).map(|block| block.text()).collect()
}

fn output(example: &str) -> String {
    let output = Command::new(path(example)).output().expect("an example that starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

async fn fetch(method: Method, url: &str, body: String) -> String {
    let client = Client::builder(TokioExecutor::new()).build_http();
    let request =
        Request::builder().method(method).uri(url).body(Full::<Bytes>::from(body)).expect("a request");
    let answer = client.request(request).await.expect("an answer");
    let body = answer.into_body().collect().await.expect("a body").to_bytes();
    String::from_utf8(body.to_vec()).expect("text")
}

/// An example that serves; killed when dropped.
struct Running {
    process: Child,
    base: String,
}

impl Running {
    fn start(example: &str, arguments: &[&str]) -> Self {
        let mut process = Command::new(path(example))
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("an example that starts");
        let mut base = String::new();
        let stdout = process.stdout.take().expect("standard output");
        BufReader::new(stdout).read_line(&mut base).expect("a line that says where it listens");
        Self { process, base: base.trim().to_owned() }
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Cargo builds examples with the tests, and puts them beside.
fn path(example: &str) -> PathBuf {
    let test = std::env::current_exe().expect("the path of this test");
    let built = test.ancestors().nth(2).expect("a build directory").join("examples");
    let path = built.join(example).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        path.exists(),
        "expected the examples to be built: `cargo test -p snippets` does, with `--test` it does not"
    );
    path
}
