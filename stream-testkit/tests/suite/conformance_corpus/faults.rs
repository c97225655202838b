//! A fault put into a good recording is found: the checker tells of it, or the client's view changes.
//!
//! The recordings are those that need no deviation, of up to 60 events.
//! Only Anthropic and Responses have a grammar that tells of every event; in chat and Gemini a cut can be seen.

use serde_json::Value;
use stream_core::sse::Framer;
use stream_testkit::WireKind;
use stream_testkit::conformance::check;

use super::recorded::{Recording, recordings};

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn an_event_that_is_lost_is_noticed_in_recordings() {
    noticed(&GRAMMARS, |frames, at| {
        frames.remove(at);
    });
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn an_event_that_comes_twice_is_noticed_in_recordings() {
    noticed(&GRAMMARS, |frames, at| frames.insert(at, frames[at].clone()));
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn two_events_that_change_places_are_noticed_in_recordings() {
    noticed(&GRAMMARS, |frames, at| {
        if at > 0 && !is_filler(&frames[at - 1]) {
            frames.swap(at - 1, at);
        }
    });
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn a_stream_that_is_cut_is_noticed_in_recordings() {
    noticed(&WireKind::ALL, Vec::truncate);
}

const GRAMMARS: [WireKind; 2] = [WireKind::AnthropicMessages, WireKind::OpenAiResponses];

/// Puts the fault at every event of every good recording; fails where nothing was noticed.
#[track_caller]
fn noticed(formats: &[WireKind], fault: impl Fn(&mut Vec<Vec<u8>>, usize)) {
    let mut missed = String::new();
    for recording in recordings() {
        let report = check(recording.format, &recording.bytes);
        let frames = frames(&recording);
        let fits = report.is_clean() && frames.len() <= 60 && formats.contains(&recording.format);
        if !fits || is_opaque(&recording) {
            continue;
        }
        for at in (0..frames.len()).filter(|at| !is_filler(&frames[*at])) {
            let mut faulty = frames.clone();
            fault(&mut faulty, at);
            let faulty = faulty.concat();
            let found = check(recording.format, &faulty);
            if faulty != recording.bytes && found.is_clean() && found.view() == report.view() {
                let event = String::from_utf8_lossy(&frames[at]);
                missed += &format!("{}: event {}: {event}\n", recording.file, at + 1);
            }
        }
    }
    assert!(missed.is_empty(), "{missed}");
}

fn frames(recording: &Recording) -> Vec<Vec<u8>> {
    let mut framer = Framer::new(usize::MAX);
    framer.push(&recording.bytes);
    let mut frames = Vec::new();
    while let Some(frame) = framer.next_frame().unwrap().or_else(|| framer.finish()) {
        frames.push(frame.raw().to_vec());
    }
    frames
}

/// Whether a message holds blocks that the view does not show.
fn is_opaque(recording: &Recording) -> bool {
    let text = String::from_utf8_lossy(&recording.bytes);
    ["server_tool_use\",\"id", "mcp_tool_use", "compaction_delta"].into_iter().any(|kind| text.contains(kind))
}

/// Whether a frame holds nothing that a client would miss: a comment, a ping, an empty delta, a citation.
fn is_filler(frame: &[u8]) -> bool {
    let text = String::from_utf8_lossy(frame);
    let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) else { return true };
    let Ok(event) = serde_json::from_str::<Value>(data) else { return false };
    let delta = &event["delta"];
    let is_empty = |key: &str| delta[key] == "";
    event["type"] == "ping"
        || event["candidates"].is_null() && event["usageMetadata"].is_object()
        || delta["type"] == "citations_delta"
        || ["text", "thinking", "partial_json"].into_iter().any(is_empty)
}
