//! The sink: writes events in the style of the stream, and completes the border that the last frame may lack.

use std::borrow::Cow;

use bytes::Bytes;

use crate::json;
use crate::sse::{self, Frame, Framer};

/// The style of the bytes of one response.
#[derive(Debug)]
pub(super) struct Sink {
    /// The line end of made events.
    line_end: &'static str,
    /// Made events have the line ends of the stream, rather than LF.
    follows: bool,
    /// The bytes that the last frame lacks to end with an event border.
    missing: &'static str,
    /// Whether events have an `event` line: some servers write none.
    named: Option<bool>,
    /// An event was written, rather than comments alone.
    has_events: bool,
}

/// A sink whose events end their lines with LF.
impl Default for Sink {
    fn default() -> Self {
        Self { line_end: LF, follows: false, missing: "", named: None, has_events: false }
    }
}

impl Sink {
    /// A sink whose events have the line ends of the stream.
    pub(super) fn following() -> Self {
        Self { follows: true, ..Self::default() }
    }

    /// Learns the style of the stream from a frame and its data, before the frame is written.
    pub(super) fn learn(&mut self, frame: &Frame, data: Option<&[u8]>) {
        if self.follows && frame.is_terminated() {
            self.line_end = if frame.raw().ends_with(b"\r\n") { CRLF } else { LF };
        }
        // `[DONE]` has no name anywhere.
        if data.is_some_and(|data| data.starts_with(b"{")) {
            self.named = Some(frame.is_named());
        }
    }

    /// The line end of made events.
    pub(super) fn line_end(&self) -> &'static str {
        self.line_end
    }

    /// Whether events have names.
    pub(super) fn is_named(&self) -> bool {
        self.named.unwrap_or(true)
    }

    /// Whether events have names; where no event was written, whether the first one has.
    pub(super) fn is_named_or(&self, first: &Frame) -> bool {
        self.named.unwrap_or(first.is_named())
    }

    /// Whether the last bytes ended with an event border.
    pub(super) fn is_at_border(&self) -> bool {
        self.missing.is_empty()
    }

    /// Whether an event was written.
    pub(super) fn has_events(&self) -> bool {
        self.has_events
    }

    /// Writes a frame as its bytes.
    pub(super) fn raw(&mut self, frame: &Frame, out: &mut Vec<Bytes>) {
        self.put(frame.raw().clone(), out);
        self.missing = self.missing(frame);
        self.has_events |= frame.data_bytes().is_some() || frame.lenient_data().is_some();
    }

    /// Writes a frame with other data; every byte around the data stays.
    pub(super) fn patched(&mut self, frame: &Frame, json: &str, out: &mut Vec<Bytes>) {
        let raw = frame.raw();
        let span = frame.data_bytes().and_then(|old| {
            let start = (old.as_ptr() as usize).checked_sub(raw.as_ptr() as usize)?;
            Some((raw.get(..start)?, raw.get(start + old.len()..)?))
        });
        match span {
            Some((head, tail)) => {
                self.put(Bytes::from([head, json.as_bytes(), tail].concat()), out);
                self.missing = self.missing(frame);
                self.has_events = true;
            }
            // Data of several lines, or of a line that only lenient clients read.
            None => self.event(name(frame, json).as_deref(), json, out),
        }
    }

    /// Writes an event on one line of data.
    pub(super) fn event(&mut self, name: Option<&str>, json: &str, out: &mut Vec<Bytes>) {
        self.put(sse::event(name, json, self.line_end), out);
        self.has_events = true;
    }

    /// Writes whole events.
    pub(super) fn put(&mut self, events: Bytes, out: &mut Vec<Bytes>) {
        let missing = std::mem::take(&mut self.missing);
        if !missing.is_empty() {
            out.push(Bytes::from_static(missing.as_bytes()));
        }
        out.push(events);
    }

    /// The bytes that a frame lacks to end with an event border.
    fn missing(&self, frame: &Frame) -> &'static str {
        match (frame.raw().last(), self.line_end == CRLF) {
            _ if frame.is_terminated() => "",
            (Some(b'\n'), _) => self.line_end,
            // The CR of a CRLF that was cut in two.
            (Some(b'\r'), true) => "\n\r\n",
            (_, true) => "\r\n\r\n",
            (_, false) => "\n\n",
        }
    }
}

/// The name of an event that is written anew: the name of the frame, or the type in the data.
pub(super) fn name<'a>(frame: &'a Frame, json: &str) -> Option<Cow<'a, str>> {
    let of_type = || json::member(json, "type").and_then(json::unquote);
    frame.event().map(Cow::Borrowed).or_else(|| of_type().map(Cow::Owned))
}

/// The frame of one event.
pub(super) fn frame(name: Option<&str>, json: &str) -> Option<Frame> {
    let mut framer = Framer::new(usize::MAX);
    framer.push(&sse::event(name, json, LF));
    framer.next_frame().ok().flatten()
}

const LF: &str = "\n";
const CRLF: &str = "\r\n";
