//! Framing: bytes in any cut become frames that keep their raw bytes.
//!
//! The concatenated [`raw`](Frame::raw) spans of all frames are the input, byte for byte: comments, CRLF, lone CR, a BOM,
//! blank lines, an unterminated last event and bytes that are not UTF-8 included. Where a frame ends never depends on
//! how the input was cut.
//!
//! ```
//! use stream_core::sse::Framer;
//!
//! let mut framer = Framer::new(1024);
//! framer.push(b"event: ping\ndata: {}\n\nda");
//! let frame = framer.next_frame()?.unwrap();
//! assert_eq!(frame.event(), Some("ping"));
//! assert_eq!(frame.data().as_deref(), Some(&b"{}"[..]));
//! assert!(framer.next_frame()?.is_none());
//! assert_eq!(framer.finish().unwrap().raw(), "da");
//! # Ok::<(), stream_core::sse::FrameTooLarge>(())
//! ```

use std::fmt;

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::{memchr, memchr2, memchr2_iter, memmem};

use crate::wire::Odd;

/// Makes an event of one `data: ` line (rule 28).
///
/// A raw line end in JSON can only stand between tokens, where a blank says the same. The separators that only some
/// clients take for line ends can only stand within strings, where their escapes say the same.
pub(crate) fn event(name: Option<&str>, json: &str, line_end: &str) -> Bytes {
    let mut event = String::with_capacity(json.len() + 16);
    if let Some(name) = name.filter(|name| is_word(name.as_bytes())) {
        event.push_str("event: ");
        event.push_str(name);
        event.push_str(line_end);
    }
    event.push_str("data: ");
    let json = json.trim_ascii();
    if json.contains(['\r', '\n', '\u{85}', '\u{2028}', '\u{2029}']) {
        for char in json.chars() {
            match char {
                '\r' | '\n' => event.push(' '),
                '\u{85}' => event.push_str("\\u0085"),
                '\u{2028}' => event.push_str("\\u2028"),
                '\u{2029}' => event.push_str("\\u2029"),
                other => event.push(other),
            }
        }
    } else {
        event.push_str(json);
    }
    event.push_str(line_end);
    event.push_str(line_end);
    event.into()
}

/// Where the frames of a stream end.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Framing {
    /// Server-sent events: a frame ends with a blank line, and its data stands in `data` fields.
    #[default]
    Events,
    /// Newline-delimited JSON: every line is a frame, and its data is the line without the line end. A blank line has no data.
    Lines,
}

/// Cuts bytes into frames.
///
/// Streams of newline-delimited JSON are cut with [`Framer::of`]:
///
/// ```
/// use stream_core::sse::{Framer, Framing};
///
/// let mut framer = Framer::of(Framing::Lines, 1024);
/// framer.push(b"{\"a\":1}\r\n\n{\"b\":");
/// let frame = framer.next_frame()?.unwrap();
/// assert_eq!((&frame.raw()[..], frame.data_bytes()), (&b"{\"a\":1}\r\n"[..], Some(&b"{\"a\":1}"[..])));
/// assert_eq!(framer.next_frame()?.unwrap().data_bytes(), None);
/// assert!(framer.next_frame()?.is_none());
/// # Ok::<(), stream_core::sse::FrameTooLarge>(())
/// ```
#[derive(Debug)]
pub struct Framer {
    framing: Framing,
    buffer: BytesMut,
    /// Where the line under way starts, and up to where it has been searched for its end.
    line: usize,
    searched: usize,
    lines: Lines,
    at_start: bool,
    limit: usize,
}

impl Framer {
    /// A framer for events that refuses frames longer than `limit` bytes.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self::of(Framing::Events, limit)
    }

    /// A framer that refuses frames longer than `limit` bytes.
    #[must_use]
    pub fn of(framing: Framing, limit: usize) -> Self {
        Self {
            framing,
            buffer: BytesMut::new(),
            line: 0,
            searched: 0,
            lines: Lines::default(),
            at_start: true,
            limit,
        }
    }

    /// Takes more bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Gives up the room for bytes, where there are none.
    pub(crate) fn rest(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }

    /// How many bytes wait for the rest of their frame.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// The next frame that is whole.
    ///
    /// # Errors
    ///
    /// When a frame is longer than the limit, whether its end has come or not.
    pub fn next_frame(&mut self) -> Result<Option<Frame>, FrameTooLarge> {
        while let Some(end) = self.line_end() {
            if self.take_line(end) {
                if self.line > self.limit {
                    return Err(FrameTooLarge { limit: self.limit, found: self.line });
                }
                return Ok(Some(self.cut(true)));
            }
        }
        if self.buffer.len() > self.limit {
            return Err(FrameTooLarge { limit: self.limit, found: self.buffer.len() });
        }
        Ok(None)
    }

    /// The next frame that is whole, of the bytes that were pushed and those that follow them. Takes no more of these than
    /// belong to the frame, as far as its border can be told.
    pub(crate) fn next_frame_of(&mut self, rest: &mut Bytes) -> Result<Option<Frame>, FrameTooLarge> {
        if self.buffer.is_empty() {
            if rest.is_empty() {
                return Ok(None);
            }
            if let Some(event) = self.plain_event(rest) {
                return Ok(Some(self.take_event(&event, rest)));
            }
        } else if let Some(frame) = self.next_frame()? {
            return Ok(Some(frame));
        }
        while !rest.is_empty() {
            let line = match memchr2(b'\n', b'\r', rest) {
                Some(end) if rest[end..].starts_with(b"\r\n") => end + 2,
                Some(end) => end + 1,
                None => rest.len(),
            };
            self.take(rest, line);
            // A blank line, or one with a byte order mark.
            let may_end = self.framing == Framing::Lines || line <= BOM.len() + 2;
            if may_end && let Some(frame) = self.next_frame()? {
                return Ok(Some(frame));
            }
        }
        self.next_frame()
    }

    /// The event that starts `rest`, where nothing came before it that belongs to it, if it is whole and plain.
    pub(crate) fn plain_event(&self, rest: &[u8]) -> Option<PlainEvent> {
        let event = PlainEvent::read(rest).filter(|event| event.len <= self.limit)?;
        (self.framing == Framing::Events).then_some(event)
    }

    /// Cuts an event off. What its lines say is known.
    pub(crate) fn take_event(&mut self, event: &PlainEvent, rest: &mut Bytes) -> Frame {
        self.at_start = false;
        self.take(rest, event.len);
        let lines = Lines { data: Some(event.data), event: event.name, ..Lines::default() };
        lines.frame(self.buffer.split_to(event.len).freeze(), true)
    }

    /// Takes so much of what was read.
    fn take(&mut self, rest: &mut Bytes, len: usize) {
        if self.buffer.capacity() - self.buffer.len() < len {
            self.buffer.reserve(len.max(rest.len().min(ROOM)));
        }
        self.buffer.extend_from_slice(&rest[..len]);
        rest.advance(len);
    }

    /// What is left when the bytes have ended: an event without its border, if there is any. Whole frames that
    /// [`next_frame`](Self::next_frame) has not given yet come first, one for each call.
    pub fn finish(&mut self) -> Option<Frame> {
        while let Some(end) = self.line_end() {
            if self.take_line(end) {
                return Some(self.cut(true));
            }
        }
        if self.buffer.is_empty() {
            return None;
        }
        if self.framing == Framing::Events && self.line < self.buffer.len() {
            // A lone CR that waited for its LF ends the line after all.
            let len = self.buffer.len();
            let ended = self.buffer.last() == Some(&b'\r');
            let text = if ended { len - 1 } else { len };
            let border = self.take_line(LineEnd { text, next: len });
            return Some(self.cut(border && ended));
        }
        Some(self.cut(false))
    }

    /// The end of the line under way, if it is there. A CR at the end of the buffer is not one yet: the LF that may
    /// follow belongs to it.
    fn line_end(&mut self) -> Option<LineEnd> {
        if self.framing == Framing::Lines {
            let found = memchr(b'\n', &self.buffer[self.searched..]);
            let end =
                found.map(|found| LineEnd { text: self.searched + found, next: self.searched + found + 1 });
            self.searched = self.buffer.len();
            return end;
        }
        let Some(found) = memchr2(b'\n', b'\r', &self.buffer[self.searched..]) else {
            self.searched = self.buffer.len();
            return None;
        };
        let text = self.searched + found;
        if self.buffer[text] == b'\n' {
            return Some(LineEnd { text, next: text + 1 });
        }
        match self.buffer.get(text + 1) {
            Some(b'\n') => Some(LineEnd { text, next: text + 2 }),
            Some(_) => Some(LineEnd { text, next: text + 1 }),
            None => {
                self.searched = text;
                None
            }
        }
    }

    /// Reads the line that ends there; true if it ends a frame.
    fn take_line(&mut self, end: LineEnd) -> bool {
        if self.framing == Framing::Lines {
            self.line = end.next;
            self.searched = end.next;
            return true;
        }
        let mut start = self.line;
        if self.at_start {
            self.at_start = false;
            if self.buffer[start..end.text].starts_with(BOM) {
                start += BOM.len();
                self.lines.odd = true;
            }
        }
        let blank = start == end.text;
        self.lines.end(&self.buffer[end.text..end.next]);
        if !blank {
            self.lines.read(&self.buffer[..end.text], start);
        }
        self.line = end.next;
        self.searched = end.next;
        blank
    }

    fn cut(&mut self, terminated: bool) -> Frame {
        let len = if terminated { self.line } else { self.buffer.len() };
        let raw = self.buffer.split_to(len).freeze();
        self.line = 0;
        self.searched = 0;
        match self.framing {
            Framing::Events => std::mem::take(&mut self.lines).frame(raw, terminated),
            Framing::Lines => Frame::line(raw, terminated),
        }
    }
}

/// The bytes between two borders of a stream, or one whole body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    framing: Framing,
    raw: Bytes,
    /// Where the data stands in the raw bytes, and the data itself where it does not: its lines are joined.
    data: Option<(usize, usize)>,
    joined: Option<Box<Bytes>>,
    event: Option<(usize, usize)>,
    stray: bool,
    terminated: bool,
    odd_lines: bool,
    odd: Option<Odd>,
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

    /// Where the data stands in the raw bytes, if the frame is a plain event.
    pub(crate) fn plain_data(&self) -> Option<(usize, usize)> {
        let is_plain = self.joined.is_none() && !self.stray && self.terminated && self.odd().is_none();
        self.data.filter(|_| is_plain && self.framing == Framing::Events)
    }

    /// A frame that is a line.
    fn line(raw: Bytes, terminated: bool) -> Self {
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

    /// A frame that says nothing.
    pub(crate) fn filler() -> Self {
        Self { data: None, ..Self::whole(Bytes::new()) }
    }

    /// The bytes as they came, border included.
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

    /// Whether it is nothing but comments and blank lines.
    #[must_use]
    pub fn is_comment(&self) -> bool {
        self.lines().all(|line| line.is_empty() || line.starts_with(b":"))
    }

    /// Whether the frame ended with its border, rather than with the bytes.
    #[must_use]
    pub fn is_terminated(&self) -> bool {
        self.terminated
    }

    /// Why the frame is not plain by itself (rule 28). The framer looks at the lines, a format at what they say.
    #[must_use]
    pub fn odd(&self) -> Option<Odd> {
        self.odd.or(self.odd_lines.then_some(Odd::Lines))
    }

    /// Whether the frame has other lines than a plain one. [`odd`](Self::odd) may say something else: what the data
    /// says counts more.
    #[must_use]
    pub fn has_odd_lines(&self) -> bool {
        self.odd_lines
    }

    /// Notes why the frame is not plain; the first reason beside the lines stays.
    pub(crate) fn mark(&mut self, odd: Option<Odd>) {
        match odd {
            Some(Odd::Lines) => self.odd_lines = true,
            odd => self.odd = self.odd.or(odd),
        }
    }

    /// What a lenient client could read from a frame that is no event (rule 9): the value of `data:` lines that
    /// have white space before them, or bare JSON. [`is_lenient`](Self::is_lenient) says whether that is all of it.
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

    /// Whether [`lenient_data`](Self::lenient_data) leaves out no line that a client could read: only comments and the
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

/// A frame was longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FrameTooLarge {
    /// The limit, in bytes.
    pub limit: usize,
    /// How many bytes had come when it was found out.
    pub found: usize,
}

impl fmt::Display for FrameTooLarge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected frames of at most {} bytes, found one of at least {}", self.limit, self.found)
    }
}

impl std::error::Error for FrameTooLarge {}

#[derive(Debug, Clone, Copy)]
struct LineEnd {
    /// Where the line's text ends.
    text: usize,
    /// Where the next line starts.
    next: usize,
}

/// An event of one `data: ` line, behind an `event: ` line with a word or none, and of nothing else: what all but a few are.
#[derive(Debug)]
pub(crate) struct PlainEvent {
    pub(crate) len: usize,
    name: Option<(usize, usize)>,
    pub(crate) data: (usize, usize),
}

impl PlainEvent {
    /// The event that `bytes` start with, if all of it is there and its lines end with LF.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (name, start) = match bytes.strip_prefix(b"event: ") {
            None => (None, 0),
            Some(line) => {
                let len = memchr(b'\n', line).filter(|len| is_word(&line[..*len]))?;
                (Some((7, 7 + len)), 7 + len + 1)
            }
        };
        let line = bytes[start..].strip_prefix(b"data: ")?;
        let len = memchr2(b'\n', b'\r', line).filter(|len| *len > 0)?;
        let data = (start + 6, start + 6 + len);
        line[len..].starts_with(b"\n\n").then_some(Self { len: data.1 + 2, name, data })
    }
}

/// What the lines of the frame under way have said so far, as spans of it.
#[derive(Debug, Default)]
struct Lines {
    data: Option<(usize, usize)>,
    more: Vec<(usize, usize)>,
    event: Option<(usize, usize)>,
    stray: bool,
    /// Whether some line, or line end, is read by some clients in another way.
    odd: bool,
    /// The line ends: LF, or CRLF.
    ends: Option<bool>,
}

impl Lines {
    fn end(&mut self, end: &[u8]) {
        // Nothing: the bytes ended before the line did.
        if !end.is_empty() {
            let crlf = end == b"\r\n";
            self.odd |= end == b"\r" || *self.ends.get_or_insert(crlf) != crlf;
        }
    }

    fn read(&mut self, frame: &[u8], start: usize) {
        let line = &frame[start..];
        let name = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let mut value = (start + name + 1).min(frame.len());
        if frame.get(value) == Some(&b' ') {
            value += 1;
        }
        let value = (value, frame.len());
        self.odd |= match &line[..name] {
            b"data" => self.data.is_some() || !line.starts_with(b"data: ") || line.len() == 6,
            b"event" => {
                let named = self.event.is_some() || self.data.is_some();
                named || !line.strip_prefix(b"event: ").is_some_and(is_word)
            }
            // Some clients look for data wherever it stands in a line.
            b"" => {
                !line.iter().all(|byte| matches!(byte, b' '..=b'~')) || memmem::find(line, b"data:").is_some()
            }
            _ => true,
        };
        match &line[..name] {
            b"data" if self.data.is_none() => self.data = Some(value),
            b"data" => self.more.push(value),
            b"event" => self.event = Some(value),
            _ => self.stray |= is_stray(line),
        }
    }

    fn frame(self, raw: Bytes, terminated: bool) -> Frame {
        let joined = self.data.filter(|_| !self.more.is_empty()).map(|(start, end)| {
            let mut joined = BytesMut::from(&raw[start..end]);
            for &(start, end) in &self.more {
                joined.extend_from_slice(b"\n");
                joined.extend_from_slice(&raw[start..end]);
            }
            Box::new(joined.freeze())
        });
        let is_name =
            |(start, end): &(usize, usize)| start < end && std::str::from_utf8(&raw[*start..*end]).is_ok();
        Frame {
            framing: Framing::Events,
            data: self.data.filter(|(start, end)| start < end || joined.is_some()),
            joined,
            event: self.event.filter(is_name),
            stray: self.stray,
            terminated,
            // A name without data is taken for the next event's by those who read line by line.
            odd_lines: self.odd || (self.event.is_some() && self.data.is_none()) || has_separator(&raw),
            odd: None,
            raw,
        }
    }
}

/// Whether a name of an event is one word that every client reads as the same.
fn is_word(name: &[u8]) -> bool {
    !name.is_empty()
        && name
            .iter()
            .all(|byte| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-'))
}

/// Whether there is a separator that only some clients take for a line end: U+0085, U+2028, U+2029. Those of ASCII
/// cannot stand in JSON.
pub(crate) fn has_separator(raw: &[u8]) -> bool {
    memchr2_iter(0xc2, 0xe2, raw)
        .any(|at| matches!(raw[at..], [0xc2, 0x85, ..] | [0xe2, 0x80, 0xa8 | 0xa9, ..]))
}

/// Whether a line is neither blank, a comment nor one of the standard's fields.
fn is_stray(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    !matches!(name, b"" | b"data" | b"event" | b"id" | b"retry")
}

/// The value of a `data:` line with white space, or a byte order mark, before it.
fn lenient_value(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(BOM).unwrap_or(line);
    let value = line.trim_ascii_start().strip_prefix(b"data:")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

/// How much of a read is copied into one allocation: frames that are kept keep no more than that of it.
const ROOM: usize = 2048;

const BOM: &[u8] = b"\xef\xbb\xbf";
