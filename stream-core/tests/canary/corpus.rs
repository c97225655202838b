//! Every recording.

use stream_testkit::ChunkLog;
use stream_testkit::WireKind;

use crate::kit::Target;
use crate::{assert_none, calls, faults, text};

/// The recorded streams, shortest first: name, format, bytes.
fn recordings() -> Vec<(String, WireKind, Vec<u8>)> {
    let folder = stream_testkit::logs::root().expect("recorded streams: STREAM_CORPUS names their folder");
    let expected = std::fs::read_to_string(folder.join("expected.jsonl")).unwrap();
    let read = |line: &str| {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = line["file"].as_str().unwrap().to_owned();
        let log = ChunkLog::load(folder.join(&name)).unwrap();
        let format = WireKind::detect(log.bytes())?;
        (!log.is_whole()).then(|| (name, format, log.bytes().to_vec()))
    };
    let mut all: Vec<_> = expected.lines().filter_map(read).collect();
    all.sort_by_key(|(_, _, body)| body.len());
    all
}

/// How often a stream is cut: work grows with its length, and most are short.
fn cuts(body: &[u8]) -> usize {
    (60_000 / body.len().max(1)).min(16)
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn no_call_of_any_recording_leaves_under_a_gate_that_releases_none() {
    let caged = recordings().into_iter().filter_map(|(name, format, body)| {
        let body = calls::caged(format, &body)?;
        Some(faults(&name, &body, Target::Calls, cuts(&body)))
    });
    assert_none(&caged.flatten().collect::<Vec<_>>());
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn no_text_of_any_recording_leaves_under_a_gate_that_releases_none() {
    let caged = recordings().into_iter().map(|(name, format, body)| {
        let body = text::caged(format, &body);
        faults(&name, &body, Target::Text, cuts(&body))
    });
    assert_none(&caged.flatten().collect::<Vec<_>>());
}
