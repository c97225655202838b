//! `cargo run -p gateway` and nothing else.

use http::StatusCode;
use stream_testkit::WireKind;
use stream_testkit::conformance::{CallView, Ended};

use crate::kit::Gateway;

#[tokio::test]
async fn every_api_streamed_and_whole_is_policed() {
    let gateway = Gateway::start(&[]);
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let answer = gateway.ask(kind, streamed).await;
            assert_eq!(answer.status, StatusCode::OK);
            let report = answer.report(kind, streamed);
            assert_eq!(report.to_string(), "", "{kind} {streamed}");
            let view = report.view();
            assert_eq!((view.choices.len(), view.ended), (1, Ended::Clean), "{kind} {streamed}");
            let choice = &view.choices[0];
            assert_eq!(
                choice.content,
                "I clean up the build directory. The deploy key is [redacted], keep it safe.[the gateway did not let a \
                 call through: rm is not allowed here]",
                "{kind} {streamed}"
            );
            let calls: Vec<(&str, &str)> =
                choice.calls.iter().map(|CallView { name, arguments, .. }| (&**name, &**arguments)).collect();
            assert_eq!(calls, [("list_files", r#"{"path":"/srv/build"}"#)], "{kind} {streamed}");
            for trace in ["rm -rf", "sk-demo", "call_shell"] {
                assert_eq!(answer.text().matches(trace).count(), 0, "{kind} {streamed} {trace}");
            }
        }
    }
}

#[tokio::test]
async fn a_call_in_the_text_leaves_with_the_client_s_tags() {
    let gateway = Gateway::start(&[]);
    let body = r#"{"model":"demo-tags","stream":true,"messages":[]}"#;
    let answer = gateway.post("/v1/chat/completions", body).await;
    let report = answer.report(WireKind::OpenAiChat, true);
    assert_eq!(report.to_string(), "");
    assert_eq!(
        report.view().choices[0].content,
        r#"I will list the files for you.ojlk{"name": "list_files", "arguments": {"directory_path": "abstractcore"}}dfsd"#
    );
}

#[tokio::test]
async fn gemini_s_array_is_policed_too() {
    let gateway = Gateway::start(&[]);
    let answer = gateway.post("/v1beta/models/demo:streamGenerateContent", r#"{"contents":[]}"#).await;
    assert_eq!(answer.status, StatusCode::OK);
    let chunks: Vec<serde_json::Value> = serde_json::from_slice(&answer.body).unwrap();
    let parts =
        chunks.iter().filter_map(|chunk| chunk["candidates"][0]["content"]["parts"].as_array()).flatten();
    let text: String = parts.filter_map(|part| part["text"].as_str()).collect();
    assert_eq!(
        text,
        "I clean up the build directory. The deploy key is [redacted], keep it safe.[the gateway did not let a call \
         through: rm is not allowed here]"
    );
}

#[tokio::test]
async fn the_first_screen_tells_what_to_try() {
    let gateway = Gateway::start(&[]);
    let base = gateway.base.clone();
    gateway.terminate();
    let (code, rest) = gateway.wait();
    assert_eq!(code, Some(0));
    let curls: Vec<&str> = rest.lines().filter(|line| line.trim_start().starts_with("curl")).collect();
    assert_eq!(curls.len(), 5);
    assert_eq!(
        curls[1],
        format!(
            "  curl -N {base}/v1/responses -H 'content-type: application/json' -d \
             '{{\"model\":\"demo\",\"stream\":true,\"input\":\"Clean up, please.\"}}'"
        )
    );
}

#[tokio::test]
async fn the_curl_lines_work_as_they_are_printed() {
    let gateway = Gateway::start(&[]);
    let probe = Gateway::start(&[]);
    let base = probe.base.clone();
    probe.terminate();
    let (_, rest) = probe.wait();
    let joined = rest.replace("\\\n", " ").replace(&base, &gateway.base);
    let mut tried = 0;
    for line in joined.lines().filter(|line| line.trim_start().starts_with("curl")) {
        let Ok(out) = std::process::Command::new("sh").args(["-c", &format!("{line} --silent")]).output()
        else {
            return;
        };
        if out.status.code() == Some(127) {
            println!("note: no curl");
            return;
        }
        let text = String::from_utf8(out.stdout).unwrap();
        assert_eq!(
            (text.matches("list_files").count() > 0, text.contains("rm -rf")),
            (true, false),
            "{line}"
        );
        tried += 1;
    }
    assert_eq!(tried, 5);
}

#[tokio::test]
async fn chunks_come_at_the_pace_of_the_command_line() {
    let gateway = Gateway::start(&["--pace", "100ms"]);
    let events = include_str!("../../logs/gemini.sse").matches("data: ").count();
    let start = std::time::Instant::now();
    gateway.ask(WireKind::Gemini, true).await;
    let least = std::time::Duration::from_millis(100) * u32::try_from(events).unwrap();
    assert!(start.elapsed() >= least, "{events} events in {:?}", start.elapsed());
}
