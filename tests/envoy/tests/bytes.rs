//! Bytes through Envoy and the processor.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::time::Duration;

use bytes::Bytes;
use envoy_suite::{Client, Envoy, Model, Processor, Reply, Version};
use stream_core::Passthrough;
use stream_testkit::{Cut, Fragments, Script, WireKind};

const REQUEST: &str = r#"{"model":"some-model","stream":true,"messages":[]}"#;

fn script() -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(5))
        .text("Let me look at the notes that you have told me of.")
        .call("call_1", "read_file", r#"{"path":"notes.txt"}"#)
        .usage(12, 7)
}

/// Untouched bytes leave untouched, however they were cut, in every combination of HTTP's versions.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn untouched_bytes_pass_as_they_came_in_three_cuts_and_all_versions() {
    let log = script().to_log(WireKind::OpenAiChat);
    let processor = Processor::policy(|| Passthrough).await;
    let cuts = [Cut::Whole, Cut::Event, Cut::Byte];
    let replies =
        cuts.map(|cut| Reply::events(cut.apply(&log).into_iter().map(|(_, piece)| (Duration::ZERO, piece))));
    let model = Model::new(move |parts, _| {
        let cut: usize = parts.headers["x-cut"].to_str().unwrap().parse().unwrap();
        replies[cut].clone()
    })
    .await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    for version in [Version::Http1, Version::Http2] {
        let client = Client::new(envoy.address(), version);
        for path in ["/v1/chat/completions", "/h2/v1/chat/completions"] {
            for cut in 0..cuts.len() {
                let answer = client.post_with(path, REQUEST, &[("x-cut", &cut.to_string())]).await;
                assert_eq!((answer.status.as_u16(), answer.broken.as_deref()), (200, None));
                assert_eq!(Bytes::from(answer.bytes()), log.bytes(), "{version:?} {path} {cut}");
            }
        }
    }
    let asked = model.asked();
    assert_eq!(asked.len(), 12);
    assert!(asked.iter().all(|asked| asked.body == REQUEST && asked.path == "/v1/chat/completions"));
}
