//! Every rule, with requests and answers that keep it and that break it.

mod anthropic;
mod chat;
mod gemini;
mod kept;
mod responses;
mod scripts;

use serde_json::Value;

use super::{check, check_request, turns};
use crate::WireKind;

/// Fails unless exactly this is wrong with a request.
#[track_caller]
fn assert_request(format: WireKind, request: &Value, expected: &str) {
    assert_eq!(check_request(format, request).to_string(), expected);
}

/// Fails unless exactly this is wrong with the next request of a client that received this.
#[track_caller]
fn assert_received(format: WireKind, received: &str, expected: &str) {
    assert_eq!(check(format, received.as_bytes()).unwrap().to_string(), expected);
}

/// The next request of a client that received this.
#[track_caller]
fn request(format: WireKind, received: &[u8]) -> Value {
    let turns = turns(format, received).unwrap();
    assert_eq!(turns.len(), 1);
    turns[0].request().clone()
}

/// The events of a stream.
fn sse(events: &[Value]) -> String {
    let event = |event: &Value| match event["type"].as_str() {
        Some(name) => format!("event: {name}\ndata: {event}\n\n"),
        None => format!("data: {event}\n\n"),
    };
    events.iter().map(event).collect()
}
