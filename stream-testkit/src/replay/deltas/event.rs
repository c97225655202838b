//! One event of a log, and the same with other data.

use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;
use stream_core::sse::Frame;

use super::plain::Plain;
use super::{anthropic, chat, gemini, responses};
use crate::WireKind;

/// A stretch of a stream between two event borders.
#[derive(Debug)]
pub(super) struct Event {
    pub(super) at: Duration,
    pub(super) raw: Bytes,
    /// Where the data stands in it; empty if the event cannot be written with other data.
    data: Range<usize>,
}

impl Event {
    pub(super) fn of(frame: &Frame, at: Duration) -> Self {
        let data = simple(frame).unwrap_or_default();
        Self { at, raw: frame.raw().clone(), data }
    }

    /// The data; empty if it cannot be exchanged.
    pub(super) fn data(&self) -> &str {
        std::str::from_utf8(&self.raw[self.data.clone()]).unwrap_or_default()
    }

    /// The delta that is all this event says, if it is.
    pub(super) fn plain(&self, kind: WireKind) -> Option<Plain> {
        let read = match kind {
            WireKind::OpenAiChat => chat::read,
            WireKind::OpenAiResponses => responses::read,
            WireKind::AnthropicMessages => anthropic::read,
            WireKind::Gemini => gemini::read,
        };
        // serde would read an array as the fields in their order.
        let object = Some(self.data()).filter(|data| data.starts_with('{'));
        object.and_then(read).filter(|plain| !plain.text.is_empty())
    }

    /// Whether it has a number that could not be changed.
    pub(super) fn is_numbered_out_of_reach(&self) -> bool {
        let number = b"\"sequence_number\"";
        let numbered = self.raw.windows(number.len()).any(|window| window == number);
        numbered && responses::renumber(self.data(), 0).is_none()
    }

    /// The same event with other data. One that cannot be written so stays as it is.
    pub(super) fn with(&self, data: &str) -> Bytes {
        if self.data.is_empty() {
            return self.raw.clone();
        }
        let (before, after) = (&self.raw[..self.data.start], &self.raw[self.data.end..]);
        [before, data.as_bytes(), after].concat().into()
    }
}

/// Where the data stands, in an event of one `data` line and at most the event's name: anything else would be said
/// twice.
fn simple(frame: &Frame) -> Option<Range<usize>> {
    if !frame.is_terminated() || frame.is_stray() {
        return None;
    }
    let mut found = None;
    let mut start = 0;
    for line in frame.raw().split(|byte| matches!(byte, b'\n' | b'\r')) {
        if let Some(value) = line.strip_prefix(b"data:") {
            let value = value.strip_prefix(b" ").unwrap_or(value);
            let end = start + line.len();
            if found.replace(end - value.len()..end).is_some() {
                return None;
            }
        } else if !line.is_empty() && !line.starts_with(b"event:") {
            return None;
        }
        start += line.len() + 1;
    }
    found
}
