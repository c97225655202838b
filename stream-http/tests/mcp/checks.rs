//! List, call, error, timeout, crash in the middle, cancellation: with every server.

use std::convert::Infallible;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use stream_http::RequestBody;
use stream_http::tool_loop::mcp::McpServer;
use stream_http::tool_loop::{LoopSettings, ToolLoop, Tools};
use stream_testkit::{Script, WireKind};
use tokio::process::Child;
use tower::{ServiceBuilder, ServiceExt as _, service_fn};

use crate::{python, server};

type Checked = Pin<Box<dyn Future<Output = ()>>>;

/// A check, and what it needs.
#[derive(Clone, Copy)]
pub(crate) enum Check {
    Plain(fn() -> Checked),
    /// A Python with the package `mcp`, which is handed over.
    Python(fn(String) -> Checked),
}

use Check::{Plain, Python};

pub(crate) const ALL: [(&str, Check); 8] = [
    ("a_server_over_stdio_is_listed_and_called", Plain(|| Box::pin(works(stdio())))),
    (
        "a_server_over_http_is_listed_and_called",
        Plain(|| Box::pin(async { works(McpServer::http(server::http().await)).await })),
    ),
    ("a_server_in_python_over_stdio_is_listed_and_called", Python(|python| Box::pin(python_stdio(python)))),
    ("a_server_in_python_over_http_is_listed_and_called", Python(|python| Box::pin(python_http(python)))),
    (
        "a_server_over_http_that_crashes_fails_its_calls_until_it_is_there_again",
        Plain(|| Box::pin(rmcp_http())),
    ),
    ("a_program_gets_no_keys_of_the_environment", Plain(|| Box::pin(environment()))),
    ("a_server_that_crashes_fails_its_calls_and_starts_again", Plain(|| Box::pin(crashes(stdio())))),
    ("a_server_that_cannot_be_had_is_an_error_at_start", Plain(|| Box::pin(errors()))),
];

fn stdio() -> McpServer {
    McpServer::stdio(std::env::current_exe().unwrap().to_str().unwrap(), ["serve"])
}

async fn python_stdio(python: String) {
    let place = || McpServer::stdio(python.clone(), [python::server(), "stdio".to_owned()]).start(START);
    works(place()).await;
    crashes(place()).await;
}

async fn python_http(python: String) {
    let port = free_port();
    let start = async || started(&python, &[&python::server(), "http", &port.to_string()], port).await;
    over_http(port, "the tool's server broke off", start).await;
}

async fn rmcp_http() {
    let port = free_port();
    let program = std::env::current_exe().unwrap().to_str().unwrap().to_owned();
    // Its answers are streams of events, which the SDK opens again until the deadline.
    let crashed = "the tool did not answer within 5s and was stopped";
    let start = async || started(&program, &["serve-http", &port.to_string()], port).await;
    over_http(port, crashed, start).await;
}

/// A server of its own process: it works; and when it crashes, its calls fail until it is there again.
async fn over_http(port: u16, crashed: &str, start: impl AsyncFn() -> Child) {
    let server = || McpServer::http(format!("http://127.0.0.1:{port}/mcp")).start(START);
    let mut child = start().await;
    works(server()).await;
    let tools = Tools::new().mcp(server()).await.unwrap();
    let told = Told::new();
    let model = Model::calls(&[("wait", &told.arguments()), ("crash", "{}")]);
    let asked = model.ask(tools.clone(), LoopSettings::new().deadline(Duration::from_secs(5))).await;
    // Whether the SDK asks again until the deadline depends on whether an answer had begun when the server crashed.
    let told = results(&asked[1]);
    let fails = |result: &String| [crashed, "the tool's server broke off"].contains(&result.as_str());
    assert_eq!((told.len(), told.iter().all(fails)), (2, true), "{told:?}");
    child.wait().await.unwrap();
    // Nobody is there: a result that says so.
    let add = || Model::calls(&[("add", r#"{"a":1,"b":2}"#)]);
    let asked = add().ask(tools.clone(), LoopSettings::new().deadline(Duration::from_secs(5))).await;
    assert_eq!(results(&asked[1]), ["the tool's server broke off"]);
    let mut child = start().await;
    // The session of before is gone with its server: the first call may still find that out.
    let mut last = Vec::new();
    for _ in 0..3 {
        let asked = add().ask(tools.clone(), LoopSettings::new().deadline(Duration::from_secs(10))).await;
        last = results(&asked[1]);
        if last == ["3"] {
            break;
        }
    }
    assert_eq!(last, ["3"]);
    child.kill().await.unwrap();
}

fn free_port() -> u16 {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    free.local_addr().unwrap().port()
}

/// A server that is started, and listens.
async fn started(program: &str, arguments: &[&str], port: u16) -> Child {
    let child = tokio::process::Command::new(program)
        .args(arguments)
        .stderr(std::process::Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    for _ in 0..300 {
        if tokio::net::TcpStream::connect(("127.0.0.1", port)).await.is_ok() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    child
}

/// Its tools are offered in the API's form; calls, errors, deadlines and cancellation work.
async fn works(server: McpServer) {
    let tools = Tools::new().mcp(server.prefix("its_")).await.unwrap();
    let mut names: Vec<&str> = tools.names().collect();
    names.sort_unstable();
    assert_eq!(names, ["its_add", "its_crash", "its_fail", "its_read_big", "its_wait"]);
    let model =
        Model::calls(&[("its_add", r#"{"a":20,"b":22}"#), ("its_fail", "{}"), ("its_read_big", "{}")]);
    let asked = model.ask(tools.clone(), LoopSettings::new().result_bytes(1000)).await;
    let offered = asked[0]["tools"].as_array().unwrap();
    let add = offered.iter().find(|tool| tool["function"]["name"] == "its_add").unwrap();
    assert_eq!(add["function"]["description"], "Adds two numbers.");
    assert_eq!(add["function"]["parameters"]["properties"]["a"]["type"], "integer");
    let results = results(&asked[1]);
    assert_eq!(results[0], "42");
    assert!(results[1].ends_with("no such file"), "{}", results[1]);
    assert!(results[2].ends_with("[cut: the result has 1048576 bytes, of which 1000 are shown]"));

    // A call that takes too long is given up, and the server is told.
    let told = Told::new();
    let model = Model::calls(&[("its_wait", &told.arguments())]);
    let asked = model.ask(tools.clone(), LoopSettings::new().deadline(Duration::from_millis(500))).await;
    assert_eq!(self::results(&asked[1])[0], "the tool did not answer within 500ms and was stopped");
    told.wait().await;

    // A client that goes away cancels its calls too.
    let told = Told::new();
    let model = Model::calls(&[("its_wait", &told.arguments())]);
    let asking = model.ask(tools.clone(), LoopSettings::new());
    assert!(tokio::time::timeout(Duration::from_millis(700), asking).await.is_err());
    told.wait().await;

    // The server goes on.
    let model = Model::calls(&[("its_add", r#"{"a":1,"b":1}"#)]);
    let asked = model.ask(tools, LoopSettings::new()).await;
    assert_eq!(self::results(&asked[1])[0], "2");
}

/// A crash in the middle of calls fails them; the next call starts the server again.
async fn crashes(server: McpServer) {
    let tools = Tools::new().mcp(server).await.unwrap();
    let told = Told::new();
    let model = Model::calls(&[("wait", &told.arguments()), ("crash", "{}")]);
    let asked = model.ask(tools.clone(), LoopSettings::new()).await;
    assert_eq!(results(&asked[1]), ["the tool's server broke off", "the tool's server broke off"]);
    let model = Model::calls(&[("add", r#"{"a":1,"b":2}"#)]);
    let asked = model.ask(tools, LoopSettings::new()).await;
    assert_eq!(results(&asked[1]), ["3"]);
}

/// A program gets what it needs and what it was given, and nothing that may be a key.
async fn environment() {
    let told = Told::new();
    let file = told.0.to_str().unwrap().to_owned();
    let server = McpServer::stdio("sh", ["-c", r#"env > "$TO""#]).env("TO", &file);
    // It tells, and goes.
    Tools::new().mcp(server.start(Duration::from_secs(5))).await.unwrap_err();
    let text = std::fs::read_to_string(&file).unwrap();
    let mut names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    // What a shell sets by itself.
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    let allowed = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "TO"];
    assert_eq!(names.iter().filter(|name| !allowed.contains(name)).count(), 0, "{names:?}");
    assert!(names.contains(&"PATH") && names.contains(&"TO"), "{names:?}");
    // Cargo sets this one for every test.
    assert!(std::env::var("CARGO_MANIFEST_DIR").is_ok());
}

/// What cannot be offered is an error at start.
async fn errors() {
    let said = async |tools: Tools, server: McpServer| tools.mcp(server).await.unwrap_err().to_string();
    let missing = said(Tools::new(), McpServer::stdio("no-such-program", [""; 0])).await;
    assert!(missing.starts_with("MCP server no-such-program: cannot be started: "), "{missing}");
    let wanted = stdio().only(["nothing_*"]);
    let found = said(Tools::new(), wanted).await;
    assert!(found.ends_with(": expected a tool that is wanted, found none"), "{found}");
    let tools = Tools::new().mcp(stdio().only(["add"])).await.unwrap();
    let clash = said(tools, stdio().only(["a*"])).await;
    assert!(
        clash.ends_with(r#": expected one executor for the tool add, found another as "add""#),
        "{clash}"
    );
    let port = free_port();
    let nobody = McpServer::http(format!("http://127.0.0.1:{port}/mcp?key=secret"));
    let nobody = said(Tools::new(), nobody).await;
    assert!(nobody.starts_with(&format!("MCP server http://127.0.0.1:{port}/mcp: no session: ")), "{nobody}");
    assert!(!nobody.contains("secret"), "{nobody}");
    let silent = McpServer::stdio("sleep", ["60"]).start(Duration::from_millis(200));
    let silent = said(Tools::new(), silent).await;
    assert!(silent.ends_with("within 200ms, found silence"), "{silent}");
}

/// A model that calls once, and then says something.
struct Model {
    first: Bytes,
    asked: Arc<Mutex<Vec<Value>>>,
}

impl Model {
    fn calls(calls: &[(&str, &str)]) -> Self {
        let script = calls.iter().enumerate().fold(Script::new(), |script, (place, (name, arguments))| {
            script.call(format!("call_{place}"), *name, *arguments)
        });
        Self { first: script.whole(WireKind::OpenAiChat), asked: Arc::default() }
    }

    async fn ask(&self, tools: Tools, settings: LoopSettings) -> Vec<Value> {
        let (first, asked) = (self.first.clone(), Arc::clone(&self.asked));
        let upstream = service_fn(move |request: Request<RequestBody<Full<Bytes>>>| {
            let (first, asked) = (first.clone(), Arc::clone(&asked));
            async move {
                let body = request.into_body().collect().await.unwrap().to_bytes();
                let mut asked = asked.lock().unwrap();
                asked.push(serde_json::from_slice(&body).unwrap());
                let last = Script::new().text("Done.").whole(WireKind::OpenAiChat);
                Ok::<_, Infallible>(Response::new(Full::new(if asked.len() == 1 { first } else { last })))
            }
        });
        let service = ServiceBuilder::new().layer(ToolLoop::new(tools).settings(settings)).service(upstream);
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "?"}]}).to_string();
        let request = Request::post("/v1/chat/completions").body(Full::<Bytes>::from(body)).unwrap();
        service.oneshot(request).await.unwrap().into_body().collect().await.unwrap();
        self.asked.lock().unwrap().clone()
    }
}

fn results(asked: &Value) -> Vec<String> {
    let messages = asked["messages"].as_array().unwrap();
    let results = messages.iter().filter(|message| message["role"] == "tool");
    results.map(|message| message["content"].as_str().unwrap().to_owned()).collect()
}

/// A file that a server writes when a call of it is cancelled.
struct Told(PathBuf);

impl Told {
    fn new() -> Self {
        use std::sync::atomic::{AtomicU32, Ordering};
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("mcp-cancelled-{}-{number}", std::process::id())))
    }

    fn arguments(&self) -> String {
        json!({"file": self.0}).to_string()
    }

    async fn wait(&self) {
        for _ in 0..100 {
            if std::fs::read_to_string(&self.0).is_ok_and(|text| text == "cancelled") {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("expected the server to be told that the call is cancelled, found nothing");
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Python takes its time.
const START: Duration = Duration::from_secs(60);
