//! A gateway that runs, and a client without an SDK.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use bytes::Bytes;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use stream_testkit::WireKind;
use stream_testkit::conformance::{Report, check, check_whole};

/// The program, serving.
pub(crate) struct Gateway {
    child: Child,
    pub(crate) base: String,
    /// The admin side.
    pub(crate) admin: String,
    pub(crate) welcome: std::thread::JoinHandle<String>,
}

impl Gateway {
    /// The demonstration, with these arguments.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, &[])
    }

    /// With a configuration.
    pub(crate) fn configured(directory: &Directory, config: &str) -> Self {
        let file = directory.file("gateway.toml", config);
        Self::start(&["--config", &file])
    }

    /// With a configuration, and the log in a file.
    pub(crate) fn logging(directory: &Directory, config: &str) -> (Self, PathBuf) {
        let file = directory.file("gateway.toml", config);
        let log = directory.0.join("gateway.log");
        let to = std::fs::File::create(&log).unwrap();
        (Self::spawn(&["--config", &file, "--log-format", "json"], &[], "warn", to.into()), log)
    }

    pub(crate) fn start_with(arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        Self::spawn(arguments, environment, "warn", Stdio::inherit())
    }

    /// With logs of this level, told there. The program's own answers come at once, unless the arguments have a pace.
    pub(crate) fn spawn(arguments: &[&str], environment: &[(&str, &str)], level: &str, log: Stdio) -> Self {
        let pace: &[&str] = if has_pace(arguments) { &[] } else { &["--pace", "1ms"] };
        let mut child = Command::new(env!("CARGO_BIN_EXE_gateway"))
            .args(arguments)
            .args(pace)
            .args(["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--log", level])
            .envs(environment.iter().copied())
            .stdout(Stdio::piped())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut first = String::new();
        out.read_line(&mut first).unwrap();
        let base = first.trim_end().strip_prefix("gateway: serving on ").expect("a first line").to_owned();
        let mut text = String::new();
        let admin = loop {
            let start = text.len();
            assert_ne!(out.read_line(&mut text).unwrap(), 0, "the program stopped: {text}");
            if let Some(line) = text[start..].strip_prefix("admin side: ") {
                break line.split("/metrics").next().unwrap().to_owned();
            }
        };
        // Read on, or the program could not write.
        let welcome = std::thread::spawn(move || {
            out.read_to_string(&mut text).unwrap();
            text
        });
        Self { child, base, admin, welcome }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    /// Asks it to stop, as a supervisor would.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status().unwrap();
        assert!(status.success());
    }

    /// Waits until it has stopped; its exit code, and what it said after the first line.
    pub(crate) fn wait(mut self) -> (Option<i32>, String) {
        let code = self.child.wait().unwrap().code();
        let welcome = std::mem::replace(&mut self.welcome, std::thread::spawn(String::new));
        (code, welcome.join().unwrap())
    }

    /// What the admin side answers.
    pub(crate) async fn admin(&self, path: &str) -> Answer {
        ask(Method::GET, &format!("{}{path}", self.admin), "").await
    }

    /// How many files and sockets the program has open, and how many kilobytes of memory it has.
    pub(crate) fn resources(&self) -> (usize, usize) {
        let process = format!("/proc/{}", self.child.id());
        let files = std::fs::read_dir(format!("{process}/fd")).unwrap().count();
        let status = std::fs::read_to_string(format!("{process}/status")).unwrap();
        let memory = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        (files, memory.trim().trim_end_matches(" kB").parse().unwrap())
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        ask(Method::GET, &self.url(path), "").await
    }

    pub(crate) async fn post(&self, path: &str, body: &str) -> Answer {
        ask(Method::POST, &self.url(path), body).await
    }

    pub(crate) async fn post_with(&self, path: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
        ask_with(Method::POST, &self.url(path), body, headers).await
    }

    /// Asks for a stream, or a whole answer, of an API.
    pub(crate) async fn ask(&self, kind: WireKind, streamed: bool) -> Answer {
        let (path, body) = question(kind, streamed);
        self.post(path, &body).await
    }
}

impl Drop for Gateway {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether a pace is among the arguments, or an upstream, which has its own.
fn has_pace(arguments: &[&str]) -> bool {
    let file = arguments.iter().position(|argument| *argument == "--config").map(|at| arguments[at + 1]);
    arguments.iter().any(|argument| matches!(*argument, "--pace" | "--upstream"))
        || file.is_some_and(|file| std::fs::read_to_string(file).unwrap().contains("[upstream"))
}

/// The path and body with which an API is asked.
pub(crate) fn question(kind: WireKind, streamed: bool) -> (&'static str, String) {
    let path = match (kind, streamed) {
        (WireKind::OpenAiChat, _) => "/v1/chat/completions",
        (WireKind::OpenAiResponses, _) => "/v1/responses",
        (WireKind::AnthropicMessages, _) => "/v1/messages",
        (WireKind::Gemini, true) => "/v1beta/models/demo:streamGenerateContent?alt=sse",
        (WireKind::Gemini, false) => "/v1beta/models/demo:generateContent",
    };
    let body = match kind {
        WireKind::Gemini => r#"{"contents":[]}"#.to_owned(),
        _ => format!(r#"{{"model":"demo","stream":{streamed},"messages":[]}}"#),
    };
    (path, body)
}

/// What a client got.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The connection broke before the body ended.
    pub(crate) broke: bool,
}

impl Answer {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    /// What a strict client makes of it.
    pub(crate) fn report(&self, kind: WireKind, streamed: bool) -> Report {
        if streamed { check(kind, &self.body) } else { check_whole(kind, &self.body) }
    }
}

pub(crate) fn client() -> Client<HttpConnector, Full<Bytes>> {
    Client::builder(TokioExecutor::new()).build_http()
}

pub(crate) async fn ask(method: Method, url: &str, body: &str) -> Answer {
    ask_with(method, url, body, &[]).await
}

pub(crate) async fn ask_with(method: Method, url: &str, body: &str, headers: &[(&str, &str)]) -> Answer {
    let request = Request::builder()
        .method(method)
        .uri(url)
        .header("content-type", "application/json")
        .header("authorization", "Bearer from-the-client");
    let request = headers
        .iter()
        .fold(request, |request, (name, value)| request.header(*name, *value))
        .body(Full::from(body.to_owned()))
        .unwrap();
    let response = client().request(request).await.unwrap();
    let (parts, mut incoming) = response.into_parts();
    let (mut body, mut broke) = (Vec::new(), false);
    while let Some(frame) = incoming.frame().await {
        match frame {
            Ok(frame) => body.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Err(_) => broke = true,
        }
    }
    Answer { status: parts.status, headers: parts.headers, body: body.into(), broke }
}

/// A directory that is gone with the test.
pub(crate) struct Directory(pub(crate) PathBuf);

impl Directory {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("gateway-serve-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
