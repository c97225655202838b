//! Bodies that come compressed although identity was asked for.

use std::io::Write as _;

use bytes::Bytes;
use flate2::Compression;
use futures::{FutureExt as _, StreamExt as _, stream};
use http::StatusCode;
use http_body::Frame;
use http_body_util::BodyExt as _;
use stream_http::Settings;
use stream_testkit::WireKind;
use stream_testkit::conformance::{Ended, check};

use crate::kit::{CHAT, Gate, events, gzip, json, passthrough, post, script, streamed, with};

#[tokio::test]
async fn identity_is_asked_for_and_what_comes_compressed_is_decoded() {
    type Encode = fn(&[u8]) -> Bytes;
    let codings: [(&str, Encode); 4] =
        [("gzip", gzip), ("x-gzip", gzip), ("deflate", zlib), ("deflate", raw_deflate)];
    for (coding, encode) in codings {
        let stream = script().bytes(WireKind::OpenAiChat);
        let coded = encode(&stream);
        let gate = Gate::new(passthrough(), move || with("content-encoding", coding, events(coded.clone())));
        let answer = gate.post(CHAT).await;
        assert_eq!((answer.header("content-encoding"), &answer.body), (None, &stream));
        assert_eq!(gate.asked()[0].headers["accept-encoding"], "identity");

        let whole = script().whole(WireKind::OpenAiChat);
        let coded = encode(&whole);
        let gate = Gate::new(passthrough(), move || with("content-encoding", coding, json(coded.clone())));
        let answer = gate.post(CHAT).await;
        assert_eq!((answer.header("content-encoding"), &answer.body), (None, &whole));
        assert_eq!(answer.header("content-length"), Some(whole.len().to_string().as_str()));
    }
}

#[tokio::test]
async fn a_compressed_event_leaves_before_the_next_one_comes() {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::fast());
    let log = script().to_log(WireKind::OpenAiChat);
    encoder.write_all(log.bytes()).unwrap();
    encoder.flush().unwrap();
    let flushed = Bytes::from(encoder.get_ref().clone());
    let gate = Gate::new(passthrough(), move || {
        let first = stream::iter([Ok(Frame::data(flushed.clone()))]);
        with("content-encoding", "gzip", streamed(first.chain(stream::pending())))
    });
    let mut body = Box::pin(gate.respond(post(CHAT, "{}")).await.into_body());
    let mut came = Vec::new();
    while let Some(Some(frame)) = body.frame().now_or_never() {
        came.extend(frame.unwrap().into_data().unwrap());
    }
    assert_eq!(&came, log.bytes());
}

#[tokio::test]
async fn a_compressed_stream_that_is_cut_off_ends_with_an_error() {
    let coded = gzip(&script().bytes(WireKind::OpenAiChat));
    let cut = coded.slice(..coded.len() - 20);
    let gate = Gate::new(passthrough(), move || with("content-encoding", "gzip", events(cut.clone())));
    let answer = gate.post(CHAT).await;
    assert_eq!(check(WireKind::OpenAiChat, &answer.body).view().ended, Ended::Error);

    let coded = gzip(&script().whole(WireKind::OpenAiChat));
    let cut = coded.slice(..coded.len() - 4);
    let gate = Gate::new(passthrough(), move || with("content-encoding", "gzip", json(cut.clone())));
    assert_eq!(gate.post(CHAT).await.status, StatusCode::BAD_GATEWAY);
}

#[tokio::test]
async fn a_small_body_that_becomes_a_large_one_is_not_read_to_its_end() {
    let bomb = gzip(&vec![b' '; 64 << 20]);
    assert!(bomb.len() < 400_000);
    let settings = Settings::new().response_limit(8 << 20);
    let gate = Gate::no_rm_with(settings, move || with("content-encoding", "gzip", json(bomb.clone())));
    assert_eq!(gate.post(CHAT).await.status, StatusCode::BAD_GATEWAY);
}

fn zlib(body: &[u8]) -> Bytes {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap().into()
}

fn raw_deflate(body: &[u8]) -> Bytes {
    let mut encoder = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap().into()
}
