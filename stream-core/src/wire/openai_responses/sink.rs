//! Putting events on the wire in the stream's own style.

use bytes::Bytes;

use crate::json;
use crate::sse::{self, Frame};

/// What the writer's bytes look like.
#[derive(Debug)]
pub(super) struct Sink {
    /// Events have an `event:` line: one provider has none.
    names: bool,
    learned: bool,
    /// Names stand behind the data.
    late: Option<bool>,
    /// The last bytes ended with an event border.
    border: bool,
    /// An event, rather than a comment, was written.
    events: bool,
}

impl Default for Sink {
    fn default() -> Self {
        Self { names: true, learned: false, late: None, border: true, events: false }
    }
}

impl Sink {
    /// Learns the style of the upstream.
    pub(super) fn learn(&mut self, frame: &Frame, data: &[u8]) {
        // `[DONE]` has no name anywhere.
        if data.starts_with(b"{") {
            self.learned = true;
            self.names = frame.event().is_some();
        }
    }

    pub(super) fn has_names(&self) -> bool {
        self.names
    }

    /// Whether events have names; the first one tells.
    pub(super) fn names_or(&self, first: &Frame) -> bool {
        if self.learned { self.names } else { first.event().is_some() }
    }

    pub(super) fn has_events(&self) -> bool {
        self.events
    }

    /// Whether a frame is an event whose name stands behind its data, as it does in all events of the stream: one
    /// provider writes them so. Clients go by the type in the data, which the name has to repeat.
    pub(super) fn has_late_name(&mut self, frame: &Frame) -> bool {
        let (Some(data), Some(name)) = (frame.data_bytes(), frame.event()) else { return false };
        if !frame.has_odd_lines() {
            self.late.get_or_insert(false);
            return false;
        }
        let Ok(data) = std::str::from_utf8(data) else { return false };
        let is_late = frame.raw()[..] == *format!("data: {data}\nevent: {name}\n\n").as_bytes();
        let stays = *self.late.get_or_insert(is_late) == is_late;
        let kind = || json::member(data, "type").and_then(json::unquote);
        let separates = ['\u{85}', '\u{2028}', '\u{2029}'];
        is_late && stays && !data.contains(separates) && kind().as_deref() == Some(name)
    }

    /// Writes a frame as it came.
    pub(super) fn raw(&mut self, frame: &Frame, out: &mut Vec<Bytes>) {
        self.restore_border(out);
        self.border = frame.is_terminated();
        out.push(frame.raw().clone());
    }

    /// Writes a frame with an event as it came.
    pub(super) fn event(&mut self, frame: &Frame, out: &mut Vec<Bytes>) {
        self.raw(frame, out);
        self.events = true;
    }

    /// Writes an event.
    pub(super) fn write(&mut self, name: Option<&str>, json: &str, out: &mut Vec<Bytes>) {
        self.restore_border(out);
        self.events = true;
        out.push(Self::line(name, json));
    }

    /// An event, on one line of data: line breaks that came in the upstream's JSON are mere white space.
    pub(super) fn line(name: Option<&str>, json: &str) -> Bytes {
        sse::event(name, json, "\n")
    }

    fn restore_border(&mut self, out: &mut Vec<Bytes>) {
        if !std::mem::replace(&mut self.border, true) {
            out.push(Bytes::from_static(b"\n\n"));
        }
    }
}
