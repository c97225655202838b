//! Judges that are slow, or not there.

use std::time::{Duration, Instant};

use stream_testkit::WireKind;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::kit::{Directory, Gateway};

/// A judge that allows every call after a while.
async fn judge(after: Duration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/judge", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut connection, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut piece = [0; 8192];
                while let Ok(count) = connection.read(&mut piece).await {
                    if count == 0 {
                        return;
                    }
                    tokio::time::sleep(after).await;
                    let body = r#"{"verdict":"allow"}"#;
                    let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                    if connection.write_all(head.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    url
}

fn gateway(directory: &Directory, url: &str, deadline: &str) -> Gateway {
    let webhook = format!("webhook = {{ url = \"{url}\", attempts = 1, deadline = \"{deadline}\" }}");
    Gateway::configured(directory, &format!("[[policy]]\nkind = \"tool-gate\"\n{webhook}\n"))
}

async fn calls(gateway: &Gateway) -> Vec<String> {
    let answer = gateway.ask(WireKind::OpenAiChat, true).await;
    let report = answer.report(WireKind::OpenAiChat, true);
    assert_eq!(report.to_string(), "");
    report.view().choices[0].calls.iter().map(|call| call.name.clone()).collect()
}

#[tokio::test]
async fn a_slow_judge_delays_the_calls_and_changes_nothing() {
    let directory = Directory::new("slow-judge");
    let gateway = gateway(&directory, &judge(Duration::from_millis(900)).await, "5s");
    let start = Instant::now();
    assert_eq!(calls(&gateway).await, ["shell", "list_files"]);
    assert!(start.elapsed() >= Duration::from_millis(900));
}

#[tokio::test]
async fn a_judge_that_misses_its_deadline_denies() {
    let directory = Directory::new("late-judge");
    let gateway = gateway(&directory, &judge(Duration::from_secs(30)).await, "200ms");
    assert_eq!(calls(&gateway).await, [""; 0]);
}

#[tokio::test]
async fn a_judge_that_is_down_denies() {
    let directory = Directory::new("no-judge");
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let gateway = gateway(&directory, &format!("http://{free}/judge"), "2s");
    assert_eq!(calls(&gateway).await, [""; 0]);
}

#[tokio::test]
async fn a_replay_waits_for_a_judge_over_the_network() {
    let directory = Directory::new("replay-judge");
    let url = judge(Duration::from_millis(50)).await;
    let config = directory.file(
        "gateway.toml",
        &format!("[[policy]]\nkind = \"tool-gate\"\nwebhook = {{ url = \"{url}\", deadline = \"2s\" }}\n"),
    );
    let log = concat!(env!("CARGO_MANIFEST_DIR"), "/logs/chat.sse");
    let out = tokio::process::Command::new(env!("CARGO_BIN_EXE_gateway"))
        .args(["replay", log, "--config", &config])
        .output()
        .await
        .unwrap();
    assert_eq!(out.stdout, std::fs::read(log).unwrap());
}
