//! The events of a stream on their way to bytes.

use std::time::Duration;

use bytes::Bytes;

use super::Script;
use crate::WireKind;
use crate::kind::sse_event;

/// An event before it is sent.
#[derive(Debug)]
pub(super) struct Event {
    /// The name, for formats that have one.
    pub(super) name: String,
    pub(super) data: String,
    /// How long after the event before it.
    pub(super) pause: Duration,
}

impl Event {
    pub(super) fn new(data: String) -> Self {
        Self { name: String::new(), data, pause: Duration::ZERO }
    }

    pub(super) fn named(name: &str, data: String) -> Self {
        Self { name: name.to_owned(), ..Self::new(data) }
    }
}

/// The events of a stream, in order.
#[derive(Debug)]
pub(super) struct Events {
    pace: Duration,
    events: Vec<Event>,
}

impl Events {
    pub(super) fn new(script: &Script) -> Self {
        Self { pace: script.pace, events: Vec::new() }
    }

    pub(super) fn push(&mut self, mut event: Event) {
        if !self.events.is_empty() {
            event.pause += self.pace;
        }
        self.events.push(event);
    }

    pub(super) fn extend(&mut self, events: impl IntoIterator<Item = Event>) {
        for event in events {
            self.push(event);
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// Waits before what comes after the first `len` events.
    pub(super) fn pause_at(&mut self, len: usize, pause: Duration) {
        if let Some(event) = self.events.get_mut(len) {
            event.pause += pause;
        }
    }

    pub(super) fn into_chunks(self, kind: WireKind) -> impl Iterator<Item = (Duration, Bytes)> {
        self.events.into_iter().scan(Duration::ZERO, move |at, event| {
            *at += event.pause;
            Some((*at, sse_event(Some(kind), &event.name, &event.data).into()))
        })
    }
}

/// Takes the first of each lane, then the second of each …
pub(super) fn round_robin<T>(lanes: Vec<Vec<T>>) -> Vec<T> {
    let mut lanes: Vec<_> = lanes.into_iter().map(Vec::into_iter).collect();
    let mut out = Vec::new();
    loop {
        let before = out.len();
        out.extend(lanes.iter_mut().filter_map(Iterator::next));
        if out.len() == before {
            return out;
        }
    }
}

/// A JSON string.
pub(super) fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The members of a JSON object, each preceded by a comma.
pub(super) fn members(json: &str) -> String {
    let inner =
        json.trim().strip_prefix('{').and_then(|json| json.strip_suffix('}')).unwrap_or_default().trim();
    if inner.is_empty() { String::new() } else { format!(",{inner}") }
}

/// Arguments as a JSON value.
pub(super) fn value(arguments: &str) -> &str {
    if arguments.is_empty() { "{}" } else { arguments }
}
