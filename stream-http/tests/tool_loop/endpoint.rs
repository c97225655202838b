//! Tools behind an HTTP endpoint.

use std::sync::{Arc, Mutex};

use axum::extract::State;
use axum::routing::post;
use http::StatusCode;
use serde_json::{Value, json};
use stream_http::tool_loop::{HttpExecutor, ToolSpec, Tools};
use stream_testkit::WireKind;

use crate::kit::{Looped, done, script};

type Seen = Arc<Mutex<Vec<Value>>>;

async fn run(State(seen): State<Seen>, body: String) -> Result<String, StatusCode> {
    let body: Value = serde_json::from_str(&body).unwrap();
    let answer = match body["arguments"]["want"].as_str() {
        Some("text") => Ok("plain words".to_owned()),
        Some("result") => Ok(json!({"result": "found"}).to_string()),
        Some("value") => Ok(json!({"result": {"n": 1}}).to_string()),
        Some("error") => Ok(json!({"error": "not found"}).to_string()),
        Some("long") => Ok("x".repeat(2000)),
        _ => Err(StatusCode::INTERNAL_SERVER_ERROR),
    };
    seen.lock().unwrap().push(body);
    answer
}

/// An endpoint gets the call, and answers with a result, an error, or any text.
#[tokio::test]
async fn an_endpoint_runs_calls() {
    let seen = Seen::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/run", listener.local_addr().unwrap());
    let app = axum::Router::new().route("/run", post(run)).with_state(Arc::clone(&seen));
    tokio::spawn(async move { axum::serve(listener, app).await });

    let kind = WireKind::OpenAiChat;
    let wants = ["text", "result", "value", "error", "long", "status"];
    let calls = wants.iter().fold(script(), |script, want| {
        script.call(format!("call_{want}"), "find", json!({"want": want}).to_string())
    });
    let mut looped = Looped::scripts(kind, true, vec![calls, done()]);
    let executor = HttpExecutor::new(&url).unwrap().header("x-key", "k").unwrap().limit(1000);
    looped.tools = Tools::new().offer(ToolSpec::new("find", "Finds."), executor).unwrap();
    looped.ask(kind, true).await;
    let contents: Vec<_> = looped.asked()[1]["messages"].as_array().unwrap()[2..]
        .iter()
        .map(|message| message["content"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(
        contents,
        [
            "plain words",
            "found",
            r#"{"n":1}"#,
            "not found",
            "the tool's answer is too long",
            "the tool answered with status 500"
        ]
    );
    let mut seen = seen.lock().unwrap().clone();
    seen.sort_by_key(|call| call["id"].to_string());
    assert_eq!(
        seen[0],
        json!({"tool": "find", "arguments": {"want": "error"}, "id": "call_error", "model": "m"})
    );
}

#[tokio::test]
async fn an_endpoint_that_is_not_there_is_a_failure() {
    let kind = WireKind::OpenAiChat;
    let mut looped = Looped::scripts(kind, false, vec![script().call("c", "find", "{}"), done()]);
    let executor = HttpExecutor::new("http://127.0.0.1:1/run").unwrap();
    looped.tools = Tools::new().offer(ToolSpec::new("find", "Finds."), executor).unwrap();
    looped.ask(kind, false).await;
    assert_eq!(looped.asked()[1]["messages"][2]["content"], "the tool cannot be reached");
    assert_eq!(looped.runs(), [("find".to_owned(), 1, "failed".to_owned())]);
    assert_eq!(
        HttpExecutor::new("ftp://a").unwrap_err(),
        r#"expected an address such as https://tools.example.com/run, found "ftp://a""#
    );
}
