//! What a client gets when something goes wrong.

use std::time::Duration;

use http::{Method, Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use stream_testkit::conformance::Ended;
use stream_testkit::faults::Fault;
use stream_testkit::server::{Reply, Server};
use stream_testkit::{ChunkLog, Fragments, Script, WireKind};

use crate::kit::{Directory, Gateway, client, question};

/// A gateway in front of an upstream that gives one reply to this API, and the upstream.
async fn before(
    directory: &Directory,
    kind: WireKind,
    reply: impl Into<Reply>,
    config: &str,
) -> (Gateway, Server) {
    let (path, _) = question(kind, true);
    let path = path.split('?').next().unwrap();
    let server = Server::builder().on(path, reply).scaled(0.0).start().await.unwrap();
    let config = format!("{config}\n[upstream.{kind}]\nurl = \"{}\"\n{GATE}", server.url(""));
    (Gateway::configured(directory, &config), server)
}

fn script() -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(8))
        .argument_fragments(Fragments::Chars(8))
        .text("I clean up, then I look.")
        .call("call_1", "shell", r#"{"command":"rm -rf /"}"#)
        .call("call_2", "list_files", r#"{"path":"."}"#)
        .usage(3, 9)
}

const GATE: &str =
    "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"allow\", deny = [{ tools = [\"shell\"] }] }\n";

#[tokio::test]
async fn an_upstream_that_is_killed_at_any_point_ends_in_an_error_and_leaks_nothing() {
    for kind in WireKind::ALL {
        let directory = Directory::new(&format!("killed-{kind}"));
        let log = script().to_log(kind);
        let last = log.chunks().last().unwrap().1.len();
        // Behind its last event but one a stream has said everything.
        let points: Vec<usize> = (1..log.bytes().len() - last).step_by(211).collect();
        let (path, body) = question(kind, true);
        let mut server = Server::builder();
        for at in &points {
            server = server
                .on(path.split('?').next().unwrap(), Reply::new(log.clone()).fault(Fault::Break { at: *at }));
        }
        let server = server.scaled(0.0).start().await.unwrap();
        let config = format!("[upstream.{kind}]\nurl = \"{}\"\n{GATE}", server.url(""));
        let gateway = Gateway::configured(&directory, &config);
        for at in points {
            let answer = gateway.post(path, &body).await;
            assert_eq!((answer.status, answer.broke), (StatusCode::OK, false), "{kind} {at}");
            let report = answer.report(kind, true);
            assert_eq!(report.view().ended, Ended::Error, "{kind} {at}\n{}", answer.text());
            assert_eq!(answer.text().matches("rm -rf").count(), 0, "{kind} {at}");
        }
    }
}

#[tokio::test]
async fn an_upstream_that_is_not_there_is_an_error_of_the_api() {
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let gateway = Gateway::start(&["--upstream", &format!("http://{free}")]);
    let answer = gateway.ask(WireKind::Gemini, true).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    assert_eq!(
        answer.text(),
        r#"{"error":{"code":502,"message":"the upstream cannot be reached","status":"INTERNAL"}}"#
    );
}

#[tokio::test]
async fn an_error_of_the_upstream_before_its_stream_passes() {
    let directory = Directory::new("status");
    let body = r#"{"error":{"message":"slow down","type":"rate_limit","param":null,"code":null}}"#;
    let reply = Reply::new(ChunkLog::from_whole("error.json", body)).status(429);
    let (gateway, _server) = before(&directory, WireKind::OpenAiChat, reply, "").await;
    let answer = gateway.ask(WireKind::OpenAiChat, true).await;
    assert_eq!((answer.status.as_u16(), answer.text()), (429, body));
}

#[tokio::test]
async fn a_client_that_goes_away_takes_the_upstream_with_it() {
    let directory = Directory::new("gone");
    let kind = WireKind::OpenAiChat;
    let reply = Reply::new(script().to_log(kind)).fault(Fault::Hang { at: 900 });
    let (gateway, server) = before(&directory, kind, reply, "").await;
    let (path, body) = question(kind, true);
    let request =
        Request::builder().method(Method::POST).uri(gateway.url(path)).body(Full::from(body)).unwrap();
    let mut response = client().request(request).await.unwrap();
    response.body_mut().frame().await.unwrap().unwrap();
    drop(response);
    tokio::time::timeout(Duration::from_secs(10), server.cancelled()).await.unwrap();
    let metrics = gateway.admin("/metrics").await;
    assert_eq!(metrics.text().lines().filter(|line| *line == "gateway_streams_abandoned_total 1").count(), 1);
}

#[tokio::test]
async fn a_slow_client_gets_every_byte() {
    let directory = Directory::new("slow-client");
    let kind = WireKind::AnthropicMessages;
    let log = Script::new().text_fragments(Fragments::Chars(4000)).text("word ".repeat(400_000)).to_log(kind);
    let (gateway, _server) = before(&directory, kind, log.clone(), "").await;
    let (path, body) = question(kind, true);
    let request =
        Request::builder().method(Method::POST).uri(gateway.url(path)).body(Full::from(body)).unwrap();
    let mut response = client().request(request).await.unwrap();
    let (mut got, mut frames) = (Vec::new(), 0);
    while let Some(frame) = response.body_mut().frame().await {
        got.extend_from_slice(&frame.unwrap().into_data().unwrap());
        frames += 1;
        if frames % 50 == 1 {
            tokio::time::sleep(Duration::from_millis(40)).await;
        }
    }
    assert!(got == log.bytes()[..], "{} of {} bytes", got.len(), log.bytes().len());
}

#[tokio::test]
async fn frames_of_a_megabyte_pass_as_they_came() {
    for kind in WireKind::ALL {
        let directory = Directory::new(&format!("large-{kind}"));
        let arguments = serde_json::json!({ "text": "x".repeat(1 << 20) }).to_string();
        let log = Script::new().text("y".repeat(1 << 20)).call("call_1", "write", arguments).to_log(kind);
        let (gateway, _server) = before(&directory, kind, log.clone(), "").await;
        let answer = gateway.ask(kind, true).await;
        assert!(answer.body == *log.bytes(), "{kind}: {} of {} bytes", answer.body.len(), log.bytes().len());
    }
}

#[tokio::test]
async fn a_frame_over_the_limit_ends_in_an_error() {
    let directory = Directory::new("too-large");
    let kind = WireKind::OpenAiChat;
    let log = Script::new().text("before").text("y".repeat(5000)).to_log(kind);
    let (gateway, _server) = before(&directory, kind, log, "[limits]\nframe = 4096\n").await;
    let answer = gateway.ask(kind, true).await;
    let report = answer.report(kind, true);
    assert_eq!((report.view().ended, &*report.view().choices[0].content), (Ended::Error, "before"));
    let metrics = gateway.admin("/metrics").await;
    assert_eq!(
        metrics.text().lines().filter(|line| *line == "gateway_errors_total{source=\"upstream\"} 1").count(),
        1
    );
}

#[tokio::test]
async fn ten_thousand_calls_are_judged_one_by_one() {
    let directory = Directory::new("many-calls");
    let kind = WireKind::OpenAiChat;
    let names = ["shell", "list_files"].iter().cycle();
    let script = (0..10_000).zip(names).fold(Script::new(), |script, (number, name)| {
        script.call(format!("call_{number}"), *name, r#"{"path":"."}"#)
    });
    let (gateway, _server) = before(&directory, kind, script.to_log(kind), "").await;
    let answer = gateway.ask(kind, true).await;
    let report = answer.report(kind, true);
    assert_eq!(report.to_string(), "");
    let calls = &report.view().choices[0].calls;
    assert_eq!((calls.len(), calls.iter().filter(|call| call.name == "list_files").count()), (5000, 5000));
}

#[tokio::test]
async fn garbage_is_refused_or_ended() {
    let kind = WireKind::OpenAiResponses;
    let directory = Directory::new("garbage");
    let page = ChunkLog::from_whole("page.json", "<html>not a model</html>");
    let (gateway, _server) = before(&directory, kind, page, "").await;
    let answer = gateway.ask(kind, true).await;
    assert_eq!(answer.status, StatusCode::BAD_GATEWAY);
    let garbage = ChunkLog::from_chunks(
        "garbage",
        [(Duration::ZERO, bytes::Bytes::from_static(b"data: {\"no\n\ndata: \xff\xfe\n\n"))],
    );
    let (gateway, _server) = before(&directory, kind, garbage, "").await;
    let answer = gateway.ask(kind, true).await;
    let report = answer.report(kind, true);
    assert_eq!((answer.status, report.view().ended), (StatusCode::OK, Ended::Error), "{}", answer.text());
    assert_eq!(answer.text().matches("no\n").count(), 0);
}
