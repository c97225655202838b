//! Bytes through Envoy and the processor.

#![allow(clippy::panic, clippy::unwrap_used)]

use std::time::Duration;

use bytes::Bytes;
use envoy_suite::{Client, Ending, Envoy, Model, Processor, Reply, Version};
use stream_core::{Passthrough, Policy, Verdict, each_call_async};
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

/// Text arrives event by event, as it was sent.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn events_arrive_as_they_are_sent() {
    let log =
        Script::new().text_fragments(Fragments::Chars(4)).text("one two end.").to_log(WireKind::OpenAiChat);
    let pieces = Cut::Event.apply(&log).into_iter().map(|(_, piece)| (Duration::from_millis(300), piece));
    let model = Model::always(Reply::events(pieces)).await;
    let processor = Processor::policy(|| Passthrough).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    let answer = Client::new(envoy.address(), Version::Http1).post("/v1/chat/completions", REQUEST).await;
    let [one, two, end] = ["one ", "two ", "end."].map(|word| answer.when(word).unwrap());
    for (earlier, later) in [(one, two), (two, end)] {
        let between = later.saturating_sub(earlier);
        assert!(between > Duration::from_millis(150), "{one:?} {two:?} {end:?}");
    }
    assert_eq!(Bytes::from(answer.bytes()), log.bytes());
}

/// Judges each call for two seconds.
fn slow() -> impl Policy {
    each_call_async(|call, _| {
        let is_allowed = call.name() != "wipe";
        async move {
            tokio::time::sleep(Duration::from_secs(2)).await;
            Ok(if is_allowed { Verdict::Release } else { Verdict::drop("no") })
        }
    })
}

/// A judge that takes two seconds delays its call, and neither the text before it nor anybody else's answer.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_slow_judge_delays_only_its_call() {
    let log = script().to_log(WireKind::OpenAiChat);
    let text = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
    let replies = [&log, &text].map(|log| Reply::events(log.chunks()));
    let model =
        Model::new(move |parts, _| replies[usize::from(parts.headers.contains_key("x-text"))].clone()).await;
    let processor = Processor::policy(slow).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    let client = Client::new(envoy.address(), Version::Http2);
    let (judged, other) = tokio::join!(
        client.post("/v1/chat/completions", REQUEST),
        client.post_with("/v1/chat/completions", REQUEST, &[("x-text", "1")]),
    );
    assert_eq!(Bytes::from(judged.bytes()), log.bytes());
    let before = judged.when("e of.").unwrap();
    assert!(before < Duration::from_secs(1), "{before:?}");
    assert!(judged.when("read_file").unwrap() >= Duration::from_secs(2));
    assert_eq!(Bytes::from(other.bytes()), text.bytes());
    assert!(other.pieces.last().unwrap().0 < Duration::from_secs(1));
}

/// No byte of a denied call arrives, streamed or whole; a whole answer has the right length.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_denied_call_never_arrives() {
    let script = Script::new().text("Gladly.").call("call_canary", "wipe", r#"{"disk":"canary"}"#);
    let replies = [
        Reply::events(script.to_log(WireKind::OpenAiChat).chunks()),
        Reply::json(script.whole(WireKind::OpenAiChat)).header("etag", "canary"),
    ];
    let model =
        Model::new(move |parts, _| replies[usize::from(parts.headers.contains_key("x-whole"))].clone()).await;
    let processor = Processor::policy(slow).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    let client = Client::new(envoy.address(), Version::Http1);
    for headers in [&[][..], &[("x-whole", "1")]] {
        let answer = client.post_with("/v1/chat/completions", REQUEST, headers).await;
        assert_eq!((answer.status.as_u16(), answer.broken.as_deref()), (200, None));
        let text = answer.text();
        assert!(text.contains("Gladly.") && !text.contains("wipe") && !text.contains("canary"), "{text}");
        assert!(!format!("{:?}", answer.headers).contains("canary"), "{:?}", answer.headers);
        if !headers.is_empty() {
            assert_eq!(answer.header("content-length"), Some(text.len().to_string().as_str()));
        }
    }
}

/// What is refused leaves the upstream untouched, and has the shape of its API.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_refused_request_never_reaches_the_upstream() {
    let model = Model::always(Reply::json("{}")).await;
    let processor = Processor::policy(|| Passthrough).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    for version in [Version::Http1, Version::Http2] {
        let client = Client::new(envoy.address(), version);
        for (path, body, status, word) in [
            ("/v1/chat/completions", "not json", 400, r#""type":"invalid_request_error""#),
            ("/v1/messages/batches", "{}", 403, r#""type":"permission_error""#),
            ("/v1/chat/completions", r#"{"model":"a","model":"b"}"#, 400, "each thing once"),
        ] {
            let answer = client.post(path, body).await;
            assert_eq!(answer.status.as_u16(), status);
            assert!(answer.text().contains(word), "{}", answer.text());
            assert_eq!(answer.header("x-should-retry"), Some("false"));
        }
    }
    assert_eq!(model.asked().len(), 0);
}

/// Trailers of a policed answer do not leave: no policy reads them.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn trailers_of_a_policed_answer_do_not_leave() {
    let log = script().to_log(WireKind::OpenAiChat);
    let reply = Reply::events(log.chunks()).ending(Ending::Trailers("x-cost", "7"));
    let model = Model::always(reply).await;
    let processor = Processor::policy(|| Passthrough).await;
    let envoy = Envoy::between(model.address(), &[processor.address()]).await;
    let answer = Client::new(envoy.address(), Version::Http2).post("/h2/v1/chat/completions", REQUEST).await;
    assert_eq!(Bytes::from(answer.bytes()), log.bytes());
    assert_eq!(answer.trailers, None);
}
