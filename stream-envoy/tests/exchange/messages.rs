//! Which message answers which.

use stream_envoy::proto::{HttpTrailers, Part};
use stream_testkit::{Script, WireKind};

use crate::kit::{CHAT, Running, Said, passing};

const EVENTS: &[(&str, &str)] = &[("content-type", "text/event-stream")];

fn events() -> Vec<String> {
    let log = Script::new().text("Hello, you.").to_log(WireKind::OpenAiChat);
    log.chunks().map(|(_, bytes)| String::from_utf8(bytes.to_vec()).unwrap()).collect()
}

/// Nothing reaches the upstream before the request was read: neither its head nor a piece of its body.
#[tokio::test]
async fn a_request_is_sent_on_when_it_was_read() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.request_with("POST", CHAT, &[("range", "bytes=1-"), ("x-original-url", "/x")], false).await;
    envoy.request_body("{\"model\":", false).await;
    let early = tokio::time::timeout(std::time::Duration::from_millis(100), envoy.next()).await;
    assert!(early.is_err(), "{early:?}");
    envoy.request_body("\"m\"}", true).await;
    let changes = ["set accept-encoding=identity", "remove range", "remove x-original-url"];
    assert_eq!(envoy.next().await, Said::RequestHead(changes.map(str::to_owned).to_vec()));
    assert_eq!(envoy.next().await, Said::RequestBody("{\"model\":\"m\"}".into(), true));
}

/// Each event is answered as it comes, and the stream ends cleanly behind the last.
#[tokio::test]
async fn events_are_answered_one_by_one() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.stream().await;
    let events = events();
    for event in &events {
        envoy.body(event, false).await;
        assert_eq!(envoy.next().await, Said::Body(event.clone().into(), false));
    }
    envoy.body("", true).await;
    assert_eq!(envoy.rest().await, [Said::Body("".into(), true), Said::End]);
}

/// What is ready at once is one message.
#[tokio::test]
async fn pieces_that_are_ready_are_joined_with_their_end() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.stream().await;
    let all = events().concat();
    envoy.body(&all, true).await;
    assert_eq!(envoy.rest().await, [Said::Body(all.into(), true), Said::End]);
}

/// No message is longer than 64 KiB of a body, whichever way it goes.
#[tokio::test]
async fn long_bodies_are_cut() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    let long = format!("{{\"x\":\"{}\"}}", "a".repeat(100_000));
    envoy.request("POST", CHAT, false).await;
    envoy.request_body(&long, true).await;
    envoy.next().await;
    assert_eq!(pieces(&mut envoy).await, (vec![65_536, long.len() - 65_536], long));
    let whole = Script::new().text("b".repeat(100_000)).whole(WireKind::OpenAiChat);
    let whole = String::from_utf8(whole.to_vec()).unwrap();
    envoy.head(&[("content-type", "application/json"), ("content-length", "1")], false).await;
    envoy.body(&whole, true).await;
    let length = format!("set content-length={}", whole.len());
    assert_eq!(envoy.next().await, Said::Head(vec![length]));
    assert_eq!(pieces(&mut envoy).await, (vec![65_536, whole.len() - 65_536], whole));
    assert_eq!(envoy.next().await, Said::End);
}

/// The lengths of the pieces of a body, and the body.
async fn pieces(envoy: &mut crate::kit::Peer) -> (Vec<usize>, String) {
    let (mut lengths, mut all) = (Vec::new(), String::new());
    loop {
        let (Said::RequestBody(piece, end) | Said::Body(piece, end)) = envoy.next().await else {
            panic!("expected a piece")
        };
        lengths.push(piece.len());
        all += std::str::from_utf8(&piece).unwrap();
        if end {
            return (lengths, all);
        }
    }
}

/// A refusal leaves the upstream untouched, and what Envoy still sends is ignored.
#[tokio::test]
async fn a_refusal_is_an_immediate_response() {
    let server = Running::new(passing()).await;
    for (path, body, status) in [("/v1/completions", "{}", 403), (CHAT, "not json", 400)] {
        let mut envoy = server.exchange().await;
        envoy.request("POST", path, false).await;
        envoy.request_body(body, true).await;
        let Said::Immediate(found, headers, _) = envoy.next().await else { panic!("expected a refusal") };
        assert_eq!(found, status);
        assert_eq!(headers, ["set content-type=application/json", "set x-should-retry=false"]);
        assert_eq!(envoy.next().await, Said::End);
    }
}

/// An answer that is not the upstream's takes the place of the upstream's, head and body.
#[tokio::test]
async fn an_unreadable_answer_is_replaced_by_an_immediate_response() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.ask().await;
    envoy.head(&[("content-type", "text/html"), ("etag", "1")], false).await;
    envoy.body("<html>", true).await;
    let Said::Immediate(status, _, _) = envoy.next().await else { panic!("expected a refusal") };
    assert_eq!(status, 502);
    assert_eq!(envoy.next().await, Said::End);
}

/// The end is told once: a response without a body has no answer but that to its head.
#[tokio::test]
async fn heads_without_bodies_are_answered_alone() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.request("GET", "/v1/models", true).await;
    assert_eq!(envoy.next().await, Said::RequestHead(vec![]));
    envoy.head(&[("content-type", "application/json")], true).await;
    assert_eq!(envoy.rest().await, [Said::Head(vec![]), Said::End]);
}

/// Where Envoy has sent trailers their answer is the end. No policy reads them, so that none of a policed answer leaves.
#[tokio::test]
async fn trailers_are_answered_in_place_of_the_last_piece() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.request("POST", CHAT, false).await;
    envoy.request_body("{}", false).await;
    let trailers = HttpTrailers { trailers: None };
    envoy.part(Part::RequestTrailers(trailers)).await;
    envoy.next().await;
    assert_eq!(envoy.next().await, Said::RequestBody("{}".into(), false));
    assert_eq!(envoy.next().await, Said::RequestTrailers(vec![]));
    envoy.head(EVENTS, false).await;
    let all = events().concat();
    envoy.body(&all, false).await;
    assert_eq!(envoy.next().await, Said::Head(vec![]));
    assert_eq!(envoy.next().await, Said::Body(all.into(), false));
    envoy.trailers(&[("x-cost", "1"), ("content-digest", "x")]).await;
    let changes = vec!["remove x-cost".to_owned(), "remove content-digest".to_owned()];
    assert_eq!(envoy.rest().await, [Said::Trailers(changes), Said::End]);
}

/// A request whose answer carries no model output streams through while the answer does.
#[tokio::test]
async fn a_plain_upload_and_its_answer_pass_side_by_side() {
    let server = Running::new(passing()).await;
    let mut envoy = server.exchange().await;
    envoy.request("POST", "/v1/files", false).await;
    assert_eq!(envoy.next().await, Said::RequestHead(vec![]));
    envoy.request_body("one", false).await;
    assert_eq!(envoy.next().await, Said::RequestBody("one".into(), false));
    envoy.head(&[], false).await;
    assert_eq!(envoy.next().await, Said::Head(vec![]));
    envoy.body("1", false).await;
    assert_eq!(envoy.next().await, Said::Body("1".into(), false));
    envoy.request_body("two", true).await;
    assert_eq!(envoy.next().await, Said::RequestBody("two".into(), true));
    envoy.body("2", true).await;
    assert_eq!(envoy.rest().await, [Said::Body("2".into(), true), Said::End]);
}
