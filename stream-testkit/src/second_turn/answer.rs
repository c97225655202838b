//! What a client received, as JSON.

use serde_json::Value;

use super::json;
use crate::log::frames;

/// An answer.
#[derive(Debug)]
pub(super) enum Answer {
    /// The body of one that was not streamed.
    Whole(Value),
    /// The objects of a stream's events, in order. What is no object is nothing to a client.
    Events(Vec<Value>),
}

impl Answer {
    pub(super) fn read(body: &[u8]) -> Self {
        if let Some(whole) = json::object(body) {
            return Self::Whole(whole);
        }
        Self::Events(frames(body).filter_map(|frame| json::object(&frame.data()?)).collect())
    }

    /// The events; of a whole answer its body, for formats that have the same in both.
    pub(super) fn objects(&self) -> &[Value] {
        match self {
            Self::Whole(body) => std::slice::from_ref(body),
            Self::Events(events) => events,
        }
    }
}
