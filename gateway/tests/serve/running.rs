//! Health, metrics, recording, stopping.

use std::time::Duration;

use http::StatusCode;
use stream_testkit::{ChunkLog, WireKind};

use crate::kit::{Directory, Gateway};

#[tokio::test]
async fn health_and_metrics_are_not_policed() {
    let gateway = Gateway::start(&[]);
    let health = gateway.get("/healthz").await;
    assert_eq!((health.status, health.text()), (StatusCode::OK, "ok\n"));
    for streamed in [true, false] {
        gateway.ask(WireKind::OpenAiChat, streamed).await;
    }
    gateway.get("/v1/nothing").await;
    let metrics = gateway.admin("/metrics").await;
    assert_eq!(metrics.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let samples: Vec<&str> = metrics
        .text()
        .lines()
        .filter(|line| {
            let timed = ["_seconds", "#", "gateway_decision_bytes", "gateway_held_bytes_max"];
            !timed.iter().any(|word| line.contains(word))
        })
        .collect();
    assert_eq!(
        samples,
        [
            "gateway_requests_total{status=\"200\"} 2",
            "gateway_requests_total{status=\"403\"} 1",
            "gateway_streams_total{api=\"openai-chat\"} 2",
            "gateway_streams_open 0",
            "gateway_streams_abandoned_total 0",
            "gateway_decisions_total{policy=\"redact\",verdict=\"edited\",enforced=\"true\"} 5",
            "gateway_decisions_total{policy=\"redact\",verdict=\"released\",enforced=\"true\"} 2",
            "gateway_decisions_total{policy=\"rewrite_tags\",verdict=\"released\",enforced=\"true\"} 2",
            "gateway_decisions_total{policy=\"tool_gate\",verdict=\"dropped\",enforced=\"true\"} 2",
            "gateway_decisions_total{policy=\"tool_gate\",verdict=\"released\",enforced=\"true\"} 2",
            "gateway_held_bytes 0",
            "gateway_config_reloads_total{result=\"taken\"} 0",
            "gateway_config_reloads_total{result=\"refused\"} 0",
            "gateway_config_behind 0",
        ]
    );
}

#[tokio::test]
async fn a_stop_finishes_the_streams_under_way() {
    let gateway = Gateway::start(&[]);
    let url = gateway.url("/v1/messages");
    let asked = tokio::spawn(async move {
        crate::kit::ask(
            http::Method::POST,
            &url,
            r#"{"model":"demo","stream":true,"max_tokens":9,"messages":[]}"#,
        )
        .await
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    gateway.terminate();
    let answer = asked.await.unwrap();
    let report = answer.report(WireKind::AnthropicMessages, true);
    assert_eq!((report.to_string(), report.view().choices[0].calls.len()), (String::new(), 1));
    assert_eq!(gateway.wait().0, Some(0));
}

#[tokio::test]
async fn what_is_recorded_can_be_replayed_to_the_same_bytes() {
    let directory = Directory::new("record");
    let records = directory.0.join("logs");
    let gateway = Gateway::start(&["--record", records.to_str().unwrap()]);
    let answer = gateway.ask(WireKind::OpenAiResponses, true).await;
    let whole = gateway.ask(WireKind::OpenAiResponses, false).await;
    gateway.terminate();
    gateway.wait();
    let mut files: Vec<_> = std::fs::read_dir(&records).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let names: Vec<&str> = files
        .iter()
        .map(|file| file.file_name().unwrap().to_str().unwrap().split_once('-').unwrap().1)
        .collect();
    assert_eq!(
        names,
        [
            "000001.in.splits.json",
            "000001.in.sse",
            "000001.out.splits.json",
            "000001.out.sse",
            "000002.in.json",
            "000002.out.json",
        ]
    );
    assert_eq!(ChunkLog::load(&files[3]).unwrap().bytes(), &answer.body);
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/demo.toml");
    for (file, body) in [(&files[1], &answer.body), (&files[4], &whole.body)] {
        let out = std::process::Command::new(env!("CARGO_BIN_EXE_gateway"))
            .args(["replay", file.to_str().unwrap(), "--config", demo])
            .output()
            .unwrap();
        assert_eq!(out.stdout, body[..]);
    }
}
