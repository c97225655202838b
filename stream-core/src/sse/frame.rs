//! Frames: the bytes between two borders, with the spans of their data and their name.

use bytes::{Bytes, BytesMut};

use super::Framing;
use super::lines::{BOM, has_separator, is_stray, lenient_value};
use crate::wire::Odd;

/// The bytes between two borders of a stream, or one whole body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub(super) framing: Framing,
    pub(super) raw: Bytes,
    /// The span of the data in the raw bytes, and the joined data of several lines.
    pub(super) data: Option<(usize, usize)>,
    pub(super) joined: Option<Box<Bytes>>,
    pub(super) event: Option<(usize, usize)>,
    pub(super) stray: bool,
    pub(super) terminated: bool,
    pub(super) odd_lines: bool,
    pub(super) odd: Option<Odd>,
}

impl Frame {
    /// A frame that holds a whole, not streamed, body: raw bytes and data are the same.
    #[must_use]
    pub fn whole(body: Bytes) -> Self {
        Self {
            framing: Framing::Events,
            data: Some((0, body.len())),
            joined: None,
            raw: body,
            event: None,
            stray: false,
            terminated: true,
            odd_lines: false,
            odd: None,
        }
    }

    /// The span of the data in the raw bytes, if the frame is a plain event.
    pub(crate) fn plain_data(&self) -> Option<(usize, usize)> {
        let is_plain = self.joined.is_none() && !self.stray && self.terminated && self.odd().is_none();
        self.data.filter(|_| is_plain && self.framing == Framing::Events)
    }

    /// A frame that is a line.
    pub(super) fn line(raw: Bytes, terminated: bool) -> Self {
        let start = raw.len() - raw.trim_ascii_start().len();
        let data = Some((start, start + raw.trim_ascii().len())).filter(|(start, end)| start < end);
        Self { data, terminated, framing: Framing::Lines, ..Self::whole(raw) }
    }

    /// The same frame with another document as its data.
    pub(crate) fn with_document(&self, document: &str) -> Self {
        match self.framing {
            Framing::Events => Self::event_of(self.event(), document),
            Framing::Lines => Self::line(format!("{}\n", document.replace(['\n', '\r'], " ")).into(), true),
        }
    }

    /// The same frame without the name of its event, for what is made of it.
    pub(crate) fn without_name(&self) -> Self {
        Self { event: None, ..self.clone() }
    }

    /// A frame with one event: the document stands on one line, since JSON has no line breaks within strings.
    fn event_of(event: Option<&str>, document: &str) -> Self {
        let document = document.replace(['\n', '\r'], " ");
        let odd_lines = has_separator(document.as_bytes());
        let head = event.map_or_else(String::new, |event| format!("event: {event}\n"));
        let raw = Bytes::from(format!("{head}data: {document}\n\n"));
        let start = head.len() + "data: ".len();
        let data = Some((start, start + document.len())).filter(|(start, end)| start < end);
        let event = event.map(|event| ("event: ".len(), "event: ".len() + event.len()));
        Self { data, event, odd_lines, ..Self::whole(raw) }
    }

    /// An empty frame.
    pub(crate) fn filler() -> Self {
        Self { data: None, ..Self::whole(Bytes::new()) }
    }

    /// The bytes of the frame, border included.
    #[must_use]
    pub fn raw(&self) -> &Bytes {
        &self.raw
    }

    /// The data of the event, its lines joined by LF. `None` when there is no `data` field, or a single empty one:
    /// the standard dispatches an event with empty data for that, which is nothing to every wire format.
    #[must_use]
    pub fn data(&self) -> Option<Bytes> {
        match &self.joined {
            Some(joined) => Some((**joined).clone()),
            None => self.data.map(|(start, end)| self.raw.slice(start..end)),
        }
    }

    /// The data as a slice.
    #[must_use]
    pub fn data_bytes(&self) -> Option<&[u8]> {
        match &self.joined {
            Some(joined) => Some(joined),
            None => self.data.map(|(start, end)| &self.raw[start..end]),
        }
    }

    /// The `event` field, if there is one and it is UTF-8.
    #[must_use]
    pub fn event(&self) -> Option<&str> {
        self.event.and_then(|(start, end)| std::str::from_utf8(&self.raw[start..end]).ok())
    }

    /// Whether there is an [`event`](Self::event) field.
    pub(crate) fn is_named(&self) -> bool {
        self.event.is_some()
    }

    /// Whether a line is neither a comment nor one of the standard's fields.
    #[must_use]
    pub fn is_stray(&self) -> bool {
        self.stray
    }

    /// Whether the frame has only comments and blank lines.
    #[must_use]
    pub fn is_comment(&self) -> bool {
        self.lines().all(|line| line.is_empty() || line.starts_with(b":"))
    }

    /// Whether the frame ended with its border, rather than with the bytes.
    #[must_use]
    pub fn is_terminated(&self) -> bool {
        self.terminated
    }

    /// The reason why the frame is not plain by itself (rule 28). The framer checks the lines, a format checks the data.
    #[must_use]
    pub fn odd(&self) -> Option<Odd> {
        self.odd.or(self.odd_lines.then_some(Odd::Lines))
    }

    /// Whether the frame has other lines than a plain one. [`odd`](Self::odd) may have another reason: a reason in the data
    /// takes precedence.
    #[must_use]
    pub fn has_odd_lines(&self) -> bool {
        self.odd_lines
    }

    /// Sets the reason why the frame is not plain; the first reason beside the lines stays.
    pub(crate) fn mark(&mut self, odd: Option<Odd>) {
        match odd {
            Some(Odd::Lines) => self.odd_lines = true,
            odd => self.odd = self.odd.or(odd),
        }
    }

    /// The data that a lenient client reads from a frame that is no event (rule 9): the value of `data:` lines that
    /// have white space before them, or bare JSON. [`is_lenient`](Self::is_lenient) tells whether that is all of the frame.
    #[must_use]
    pub fn lenient_data(&self) -> Option<Bytes> {
        if !self.stray || self.data.is_some() {
            return None;
        }
        let mut joined = BytesMut::new();
        for line in self.lines() {
            if let Some(value) = lenient_value(line) {
                if !joined.is_empty() {
                    joined.extend_from_slice(b"\n");
                }
                joined.extend_from_slice(value);
            }
        }
        if !joined.is_empty() {
            return Some(joined.freeze());
        }
        let bare = self.raw.strip_prefix(BOM).unwrap_or(&self.raw).trim_ascii();
        (bare.starts_with(b"{") && bare.ends_with(b"}")).then(|| self.raw.slice_ref(bare))
    }

    /// Whether [`lenient_data`](Self::lenient_data) has every line that a client could read, and omits only comments and the
    /// standard's other fields.
    #[must_use]
    pub fn is_lenient(&self) -> bool {
        let mut stray = self.lines().filter(|line| is_stray(line)).peekable();
        let all_data = stray.peek().is_some() && stray.all(|line| lenient_value(line).is_some());
        // Without such a line the data is the frame itself.
        all_data || !self.lines().any(|line| lenient_value(line).is_some())
    }

    fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let raw = self.raw.strip_prefix(BOM).unwrap_or(&self.raw);
        raw.split(|byte| matches!(byte, b'\n' | b'\r'))
    }
}
