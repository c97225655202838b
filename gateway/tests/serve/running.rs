//! Health, metrics, recording, stopping.

use std::time::Duration;

use http::StatusCode;
use stream_testkit::{ChunkLog, WireKind};

use crate::kit::{Directory, Gateway, question};

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
    let gateway = Gateway::start(&["--pace", "30ms"]);
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

/// No setting without effect: `replay` reads the file of a server, and holds to its limits, routes, text calls and words as the
/// server does.
#[tokio::test]
async fn a_replay_honours_a_file_as_the_server_does() {
    let gate =
        "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"allow\", deny = [{ tools = [\"rm\"] }] }\n";
    let strict = "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"deny\" }\n";
    let pass = "[[policy]]\nkind = \"passthrough\"\n";
    for (name, file) in [
        ("blocks", format!("[limits]\nblocks = 1\n{gate}")),
        ("block", format!("[limits]\nblock = 4\n{gate}")),
        ("held", format!("[limits]\nheld = 64\n{gate}")),
        ("frame", format!("[limits]\nframe = 64\n{gate}")),
        ("models", format!("[[route]]\nmodels = [\"dem*\"]\npolicies = \"strict.toml\"\n{pass}")),
        ("other models", format!("[[route]]\nmodels = [\"other\"]\npolicies = \"strict.toml\"\n{gate}")),
        ("paths", format!("[[route]]\npaths = [\"/v1*\"]\npolicies = \"strict.toml\"\n{pass}")),
        ("apis", format!("[[route]]\napis = [\"gemini\"]\npolicies = \"strict.toml\"\n{gate}")),
        ("text calls", format!("[text_calls]\ndialects = [\"hermes\"]\n{strict}")),
        (
            "blocked",
            format!("[blocked]\ncode = \"stopped\"\n{}", gate.replace("rules", "on_deny = \"end\"\nrules")),
        ),
    ] {
        let directory = Directory::new(&format!("as-served-{}", name.replace(' ', "-")));
        directory.file("strict.toml", strict);
        let file = directory.file("gateway.toml", &file);
        let records = directory.0.join("logs");
        let gateway = Gateway::start(&["--config", &file, "--record", records.to_str().unwrap()]);
        let mut answers = Vec::new();
        for kind in WireKind::ALL {
            answers.push((kind, gateway.ask(kind, true).await));
        }
        // An answer that is closed is recorded behind the client's back.
        let mut logs: Vec<std::path::PathBuf> = Vec::new();
        for _ in 0..500 {
            let files = std::fs::read_dir(&records).into_iter().flatten().map(|file| file.unwrap().path());
            logs = files.filter(|log| log.to_str().unwrap().ends_with(".in.sse")).collect();
            if logs.len() == answers.len() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        gateway.terminate();
        gateway.wait();
        logs.sort();
        assert_eq!(logs.len(), answers.len(), "{name}");
        for (log, (kind, answer)) in logs.iter().zip(&answers) {
            let (path, _) = question(*kind, true);
            let out = std::process::Command::new(env!("CARGO_BIN_EXE_gateway"))
                .args(["replay", log.to_str().unwrap(), "--config", &file, "--model", "demo"])
                .args(["--path", path.split('?').next().unwrap(), "--format", &kind.to_string()])
                .output()
                .unwrap();
            let left = String::from_utf8_lossy(&out.stdout);
            assert_eq!(left, answer.text(), "{name}, {kind}: {}", String::from_utf8_lossy(&out.stderr));
        }
    }
}
