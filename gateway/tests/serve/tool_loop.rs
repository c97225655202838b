//! Tools that the gateway runs itself: the demonstration, files, metrics, records, and changes of the file.

use std::time::Duration;

use axum::http::HeaderMap;
use axum::response::IntoResponse as _;
use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use serde_json::{Value, json};
use stream_testkit::conformance::{Ended, check_whole};
use stream_testkit::server::Server;
use stream_testkit::{Script, WireKind};

use crate::kit::{Directory, Gateway, client};

/// The path and body with which the demonstration's model is asked that counts with a tool.
fn question(kind: WireKind, streamed: bool) -> (&'static str, String) {
    let user = json!([{"role": "user", "content": "?"}]);
    let body = match kind {
        WireKind::OpenAiResponses => json!({"model": "demo-loop", "stream": streamed, "input": "?"}),
        WireKind::Gemini => json!({"contents": [{"role": "user", "parts": [{"text": "?"}]}]}),
        _ => json!({"model": "demo-loop", "max_tokens": 9, "stream": streamed, "messages": user}),
    };
    let path = match (kind, streamed) {
        (WireKind::OpenAiChat, _) => "/v1/chat/completions",
        (WireKind::OpenAiResponses, _) => "/v1/responses",
        (WireKind::AnthropicMessages, _) => "/v1/messages",
        (WireKind::Gemini, true) => "/v1beta/models/demo-loop:streamGenerateContent?alt=sse",
        (WireKind::Gemini, false) => "/v1beta/models/demo-loop:generateContent",
    };
    (path, body.to_string())
}

/// What the model says that counts with the tool of a gateway.
async fn counted(gateway: &Gateway) -> String {
    let (path, body) = question(WireKind::OpenAiChat, true);
    let answer = gateway.post(path, &body).await;
    let report = answer.report(WireKind::OpenAiChat, true);
    assert_eq!(report.to_string(), "");
    report.view().choices[0].content.clone()
}

/// The lines of the metrics that start like this.
async fn metrics(gateway: &Gateway, start: &str) -> Vec<String> {
    let metrics = gateway.admin("/metrics").await;
    metrics.text().lines().filter(|line| line.starts_with(start)).map(str::to_owned).collect()
}

#[tokio::test]
async fn the_demonstration_runs_a_tool_on_every_api() {
    let directory = Directory::new("loop-record");
    let records = directory.0.join("logs");
    let gateway = Gateway::start(&["--record", records.to_str().unwrap()]);
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let (path, body) = question(kind, streamed);
            let answer = gateway.post(path, &body).await;
            let report = answer.report(kind, streamed);
            assert_eq!(report.to_string(), "", "{kind}");
            let choice = &report.view().choices[0];
            let text = choice.content.replace("\n\n", "");
            assert_eq!(text, "Let me count.The letter r stands in strawberry 3 times.", "{kind}");
            assert_eq!((choice.calls.len(), report.view().ended), (0, Ended::Clean), "{kind}");
        }
    }
    assert_eq!(
        metrics(&gateway, "gateway_tool_runs_total").await,
        [r#"gateway_tool_runs_total{tool="count_letters",outcome="ok",iteration="1"} 8"#]
    );
    gateway.terminate();
    let (code, welcome) = gateway.wait();
    assert_eq!(code, Some(0));
    let said: Vec<&str> =
        welcome.lines().skip_while(|line| !line.starts_with("tools that")).take(2).collect();
    assert_eq!(said, ["tools that the gateway runs itself:", "runs     count_letters, offered to the model"]);
    let mut names: Vec<String> = std::fs::read_dir(&records)
        .unwrap()
        .map(|file| file.unwrap().file_name().to_str().unwrap().split_once('-').unwrap().1.to_owned())
        .filter(|name| name.starts_with("000002"))
        .collect();
    names.sort();
    assert_eq!(names, ["000002.in-2.json", "000002.in.json", "000002.out.json"]);
}

/// A real model is not offered the demonstration's tool.
#[tokio::test]
async fn the_demonstration_s_tool_is_not_offered_to_an_upstream() {
    let kind = WireKind::OpenAiChat;
    let (path, body) = question(kind, true);
    let server = Server::builder().on(path, Script::new().text("Hi.").to_log(kind)).start().await.unwrap();
    let gateway = Gateway::start(&["--upstream", &server.url("")]);
    gateway.post(path, &body).await;
    let asked: Value = serde_json::from_slice(&server.tally().requests()[0].body).unwrap();
    assert_eq!(asked.get("tools"), None);
}

/// A tool behind an HTTP endpoint, which answers "many".
async fn endpoint() -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    let run = async |headers: HeaderMap| match headers.get("authorization").map(|key| key.to_str().unwrap()) {
        None => r#"{"result":"many"}"#,
        Some("Bearer tool-key") => r#"{"result":"very many"}"#,
        Some(_) => r#"{"error":"another key"}"#,
    };
    let app = axum::Router::new().route("/run", axum::routing::post(run));
    tokio::spawn(async move { axum::serve(listener, app).await });
    url
}

const PASS: &str = "[[policy]]\nkind = \"passthrough\"\n";

/// A file names an endpoint, limits and a notice; runs are lines of the request log, without arguments and results.
#[tokio::test]
async fn a_file_names_tools_limits_and_a_notice() {
    let directory = Directory::new("loop-file");
    let url = endpoint().await;
    let config = format!(
        "request_log = \"requests.jsonl\"\n[tool_loop]\nnotice = \"[running {{tool}}]\"\nseparator = \" \"\n[[tool_loop.http]]\n\
         url = \"{url}\"\nkey_env = \"TOOL_KEY\"\nname = \"count_letters\"\ndescription = \"Counts.\"\n\
         [tool_loop.http.parameters]\ntype = \"object\"\n{PASS}"
    );
    let file = directory.file("gateway.toml", &config);
    let gateway = Gateway::start_with(&["--config", &file], &[("TOOL_KEY", "tool-key")]);
    let text = "Let me count. [running count_letters] The letter r stands in strawberry very many times.";
    assert_eq!(counted(&gateway).await, text);
    gateway.terminate();
    gateway.wait();
    let log = std::fs::read_to_string(directory.0.join("requests.jsonl")).unwrap();
    let mut line: Value = serde_json::from_str(&log).unwrap();
    assert!(line["runs"][0]["took_ms"].is_u64());
    line["runs"][0]["took_ms"] = Value::Null;
    assert_eq!(line["ran"], 1);
    assert_eq!(
        line["runs"],
        json!([{"tool": "count_letters", "iteration": 1, "outcome": "ok", "took_ms": null}])
    );
    let traces = ["many", "strawberry", "letter", "tool-key"].map(|trace| log.matches(trace).count());
    assert_eq!(traces, [0, 0, 1, 0], "{log}");
}

/// A model that calls again and again, and a limit.
#[tokio::test]
async fn an_endless_loop_ends_as_the_file_says() {
    let directory = Directory::new("loop-limit");
    let kind = WireKind::OpenAiChat;
    let (path, body) = question(kind, true);
    let calls =
        Script::new().text("Hm.").call("c", "count_letters", r#"{"word":"a","letter":"a"}"#).to_log(kind);
    let server = Server::builder().on(path, calls).scaled(0.0).start().await.unwrap();
    for (at_limit, ended) in [("finish", Ended::Clean), ("error", Ended::Error)] {
        let config = format!(
            "[upstream.openai-chat]\nurl = \"{}\"\n[tool_loop]\nbuiltin = [\"count_letters\"]\nmax_iterations = 2\n\
             at_limit = \"{at_limit}\"\n{PASS}",
            server.url("")
        );
        let gateway = Gateway::configured(&directory, &config);
        let answer = gateway.post(path, &body).await;
        let report = answer.report(kind, true);
        assert_eq!((report.view().ended, report.view().choices[0].calls.len()), (ended, 0));
        assert_eq!(report.view().choices[0].content, "Hm.\n\nHm.\n\nHm.");
        assert_eq!(
            metrics(&gateway, "gateway_tool_runs_total").await,
            [
                r#"gateway_tool_runs_total{tool="count_letters",outcome="ok",iteration="1"} 1"#,
                r#"gateway_tool_runs_total{tool="count_letters",outcome="ok",iteration="2"} 1"#,
            ]
        );
    }
}

/// The loop is for some clients and models only; what a route's policies drop is not run.
#[tokio::test]
async fn tools_are_run_for_those_whom_the_file_names() {
    let directory = Directory::new("loop-clients");
    let config = format!(
        "[tool_loop]\nbuiltin = [\"count_letters\"]\nclients = [\"ci\", \"strict\"]\nmodels = [\"demo-*\"]\n\
         [[client]]\nname = \"ci\"\nkey_env = \"KEY_CI\"\n[[client]]\nname = \"guest\"\nkey_env = \"KEY_GUEST\"\n\
         [[client]]\nname = \"strict\"\nkey_env = \"KEY_STRICT\"\n\
         [[route]]\nclients = [\"strict\"]\npolicies = \"strict.toml\"\n{PASS}"
    );
    directory.file("strict.toml", "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"deny\" }\n");
    let file = directory.file("gateway.toml", &config);
    let keys = [("KEY_CI", "key-of-ci"), ("KEY_GUEST", "key-of-guest"), ("KEY_STRICT", "key-of-strict")];
    let gateway = Gateway::start_with(&["--config", &file], &keys);
    let kind = WireKind::AnthropicMessages;
    let (path, body) = question(kind, false);
    let mut calls = Vec::new();
    for key in ["key-of-ci", "key-of-guest", "key-of-strict"] {
        let request = Request::post(gateway.url(path)).header("x-api-key", key);
        let response = client().request(request.body(Full::from(body.clone())).unwrap()).await.unwrap();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        let report = check_whole(kind.name().parse().unwrap(), &body);
        calls.push(report.view().choices[0].calls.len());
    }
    assert_eq!(calls, [0, 1, 0]);
    assert_eq!(
        metrics(&gateway, "gateway_tool_runs_total").await,
        [r#"gateway_tool_runs_total{client="ci",tool="count_letters",outcome="ok",iteration="1"} 1"#]
    );
    gateway.terminate();
    let (_, welcome) = gateway.wait();
    let said: Vec<&str> = welcome.lines().filter(|line| line.starts_with("tools that")).collect();
    assert_eq!(said, ["tools that the gateway runs itself, for models demo-*, clients ci, strict:"]);
}

/// A client that goes away while a tool runs cancels it, and the log says so.
#[tokio::test]
async fn a_client_that_goes_away_cancels_the_tool_and_the_log_says_so() {
    let directory = Directory::new("loop-gone");
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let config = format!(
        "request_log = \"requests.jsonl\"\n[tool_loop]\n[[tool_loop.http]]\nurl = \"http://{}/run\"\nname = \"count_letters\"\n{PASS}",
        silent.local_addr().unwrap()
    );
    let gateway = Gateway::configured(&directory, &config);
    let (path, body) = question(WireKind::OpenAiChat, true);
    let request =
        Request::builder().method(Method::POST).uri(gateway.url(path)).body(Full::from(body)).unwrap();
    let mut response = client().request(request).await.unwrap();
    response.body_mut().frame().await.unwrap().unwrap();
    let reading = async { while response.body_mut().frame().await.is_some() {} };
    let (running, _) =
        futures::future::join(silent.accept(), tokio::time::timeout(Duration::from_secs(2), reading)).await;
    drop(response);
    let (mut running, _) = running.unwrap();
    // The connection to the tool is closed.
    let mut asked = Vec::new();
    let read = tokio::io::AsyncReadExt::read_to_end(&mut running, &mut asked);
    tokio::time::timeout(Duration::from_secs(10), read).await.unwrap().unwrap();
    gateway.terminate();
    gateway.wait();
    let log = std::fs::read_to_string(directory.0.join("requests.jsonl")).unwrap();
    let line: Value = serde_json::from_str(&log).unwrap();
    assert_eq!((&line["stayed"], &line["runs"][0]["outcome"]), (&json!(false), &json!("cancelled")));
}

/// An MCP server over stdio: a shell script. Its tool tells the number of its process, and a variable.
const SCRIPT: &str = r#"while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  case "$line" in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"letters","description":"Counts.","inputSchema":{"type":"object"}}]}' ;;
    *'"tools/call"'*) result='{"content":[{"type":"text","text":"'"$$ ${UPSTREAM_KEY-none} ${MCP_KEY-none} ${WORD-none}"'"}]}' ;;
    *) continue ;;
  esac
  printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$result"
done
"#;

/// However much is logged: neither arguments nor results of a call, nor a key.
#[cfg(unix)]
#[tokio::test]
async fn arguments_and_results_are_never_logged() {
    let directory = Directory::new("loop-log");
    let script = directory.file("server.sh", SCRIPT);
    let config = format!(
        "[tool_loop]\n[[tool_loop.mcp]]\ncommand = [\"sh\", \"{script}\"]\nprefix = \"count_\"\n\
         env = {{ WORD = \"the-result\" }}\nenv_from = [\"MCP_KEY\"]\n{PASS}"
    );
    let file = directory.file("gateway.toml", &config);
    let logs = std::fs::File::create(directory.0.join("log")).unwrap();
    let environment = [("MCP_KEY", "the-key")];
    let gateway = Gateway::spawn(&["--config", &file], &environment, "trace", logs.into());
    assert!(counted(&gateway).await.ends_with("none the-key the-result times."));
    gateway.terminate();
    gateway.wait();
    let log = std::fs::read_to_string(directory.0.join("log")).unwrap();
    let lines: Vec<&str> = log.lines().filter(|line| line.contains("ran a tool")).collect();
    assert_eq!(lines.len(), 1, "{log}");
    assert!(lines[0].contains(r#"tool="count_letters" iteration=1 outcome=ok took_ms="#), "{}", lines[0]);
    for trace in ["strawberry", "the-result", "the-key"] {
        assert_eq!(log.matches(trace).count(), 0, "{trace} {log}");
    }
}

/// A changed file counts for new requests. An MCP server that did not change goes on; one with a mistake changes nothing.
#[cfg(unix)]
#[tokio::test]
async fn a_changed_file_changes_the_tools_and_leaves_servers_alone() {
    let directory = Directory::new("loop-reload");
    let script = directory.file("server.sh", SCRIPT);
    let url = endpoint().await;
    let server = format!(
        "[[tool_loop.mcp]]\ncommand = [\"sh\", \"{script}\"]\nprefix = \"count_\"\nenv = {{ WORD = \"w\" }}\nenv_from = [\"MCP_KEY\"]\n{PASS}"
    );
    let file = directory.file("gateway.toml", &format!("[tool_loop]\n{server}"));
    // A program gets the variables that the file names, and none of the gateway's keys.
    let gateway = Gateway::start_with(&["--config", &file], &[("UPSTREAM_KEY", "u"), ("MCP_KEY", "m")]);
    let said = counted(&gateway).await;
    let told = said.strip_prefix("Let me count.\n\nThe letter r stands in strawberry ").unwrap();
    let process = told.strip_suffix(" none m w times.").unwrap().to_owned();
    assert!(process.parse::<u32>().is_ok(), "{said}");

    let reload = async |text: &str, result: &str, count: u32| {
        directory.file("gateway.toml", text);
        let line = format!("gateway_config_reloads_total{{result=\"{result}\"}} {count}");
        for _ in 0..100 {
            if metrics(&gateway, &line).await.len() == 1 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("expected {line}");
    };
    reload(&format!("[tool_loop]\nseparator = \" \"\n{server}"), "taken", 1).await;
    let text = |count: &str| format!("Let me count. The letter r stands in strawberry {count} times.");
    assert_eq!(counted(&gateway).await, text(&format!("{process} none m w")));

    let broken = "[[tool_loop.mcp]]\ncommand = [\"no-such-program\"]\n";
    reload(&format!("[tool_loop]\nseparator = \"!\"\n{broken}{server}"), "refused", 1).await;
    assert_eq!(counted(&gateway).await, text(&format!("{process} none m w")));

    let endpoint = format!("[[tool_loop.http]]\nurl = \"{url}\"\nname = \"count_letters\"\n{PASS}");
    reload(&format!("[tool_loop]\nseparator = \" \"\n{endpoint}"), "taken", 2).await;
    assert_eq!(counted(&gateway).await, text("many"));
    // The server is in no configuration any more.
    for _ in 0..100 {
        if !std::path::Path::new(&format!("/proc/{process}")).exists() {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());

    reload(PASS, "taken", 3).await;
    let (path, body) = question(WireKind::OpenAiChat, true);
    let answer = gateway.post(path, &body).await;
    assert_eq!(answer.report(WireKind::OpenAiChat, true).view().choices[0].calls.len(), 1);
}

/// An MCP server over HTTP, with a key of the environment.
#[tokio::test(flavor = "multi_thread")]
async fn a_file_names_an_mcp_server_over_http() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let answer = async |headers: HeaderMap, body: String| {
        if headers.get("authorization").is_none_or(|key| key != "Bearer mcp-key") {
            return StatusCode::UNAUTHORIZED.into_response();
        }
        let asked: Value = serde_json::from_str(&body).unwrap();
        let result = match asked["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "http", "version": "1"},
            }),
            "tools/list" => json!({"tools": [
                {"name": "count_letters", "inputSchema": {"type": "object"}},
                {"name": "wipe", "inputSchema": {"type": "object"}},
            ]}),
            "tools/call" => {
                json!({"content": [{"type": "text", "text": asked["params"]["arguments"]["word"]}]})
            }
            _ => return StatusCode::ACCEPTED.into_response(),
        };
        let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": result});
        ([("content-type", "application/json")], answer.to_string()).into_response()
    };
    let app = axum::Router::new().route("/mcp", axum::routing::post(answer));
    tokio::spawn(async move { axum::serve(listener, app).await });
    let directory = Directory::new("loop-mcp-http");
    let config = format!(
        "[tool_loop]\n[[tool_loop.mcp]]\nurl = \"{url}\"\nkey_env = \"MCP_KEY\"\nonly = [\"count_*\"]\nstart = \"5s\"\n{PASS}"
    );
    let file = directory.file("gateway.toml", &config);
    let gateway = Gateway::start_with(&["--config", &file], &[("MCP_KEY", "mcp-key")]);
    assert_eq!(
        counted(&gateway).await,
        "Let me count.\n\nThe letter r stands in strawberry strawberry times."
    );
    gateway.terminate();
    let (_, welcome) = gateway.wait();
    let said: Vec<&str> = welcome.lines().filter(|line| line.starts_with("runs ")).collect();
    assert_eq!(said, ["runs     count_letters, offered to the model"]);
}
