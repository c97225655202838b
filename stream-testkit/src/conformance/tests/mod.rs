//! Hand-written streams, good and bad, for every rule.

mod anthropic;
mod chat;
mod chat_calls;
mod gemini;
mod names;
mod responses;
mod responses_copies;
mod sse;
mod whole;

use serde_json::Value;

use super::{Report, View, WireKind, check, check_whole};

/// The violations as lines.
fn lines(report: &Report) -> Vec<String> {
    report.violations().iter().map(ToString::to_string).collect()
}

/// Checks that exactly these rules are broken, and gives what the client received.
#[track_caller]
fn expect(format: WireKind, stream: &str, violations: &[&str]) -> View {
    let report = check(format, stream.as_bytes());
    assert_eq!(lines(&report), violations);
    report.view().clone()
}

#[track_caller]
fn expect_whole(format: WireKind, body: &str, violations: &[&str]) -> View {
    let report = check_whole(format, body.as_bytes());
    assert_eq!(lines(&report), violations);
    report.view().clone()
}

/// A chat stream: objects and `[DONE]` as they are, the rest as the fields of choice 0.
fn chat(chunks: &[&str]) -> String {
    let data = |chunk: &&str| match chunk.as_bytes()[0] {
        b'{' | b'[' if chunk.ends_with(['}', ']']) => (*chunk).to_owned(),
        _ => format!(r#"{{"id":"c","object":"chat.completion.chunk","choices":[{{"index":0,{chunk}}}]}}"#),
    };
    chunks.iter().map(|chunk| format!("data: {}\n\n", data(chunk))).collect()
}

/// Events with their `event` line.
fn named(events: &[&str]) -> String {
    let name =
        |event: &str| serde_json::from_str::<Value>(event).unwrap()["type"].as_str().unwrap().to_owned();
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", name(event))).collect()
}

/// Events with their `event` line and a sequence number.
fn numbered(events: &[&str]) -> String {
    let event = |(at, event): (usize, &&str)| format!(r#"{{"sequence_number":{at},{}"#, &event[1..]);
    let events: Vec<_> = events.iter().enumerate().map(event).collect();
    named(&events.iter().map(String::as_str).collect::<Vec<_>>())
}

fn gemini(chunks: &[&str]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
}
