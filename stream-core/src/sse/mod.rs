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

mod frame;
mod lines;

pub use frame::Frame;
pub(crate) use lines::{PlainEvent, has_separator};

use std::borrow::Cow;
use std::fmt;

use bytes::{Buf as _, Bytes, BytesMut};
use memchr::{memchr, memchr2};

use lines::{BOM, Lines, is_word};

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
    let json = escaped(json.trim_ascii());
    match json.contains(['\r', '\n']) {
        true => event.extend(json.chars().map(|char| if matches!(char, '\r' | '\n') { ' ' } else { char })),
        false => event.push_str(&json),
    }
    event.push_str(line_end);
    event.push_str(line_end);
    event.into()
}

/// JSON without raw separators that only some clients take for line ends: their escapes say the same.
pub(crate) fn escaped(json: &str) -> Cow<'_, str> {
    if !has_separator(json.as_bytes()) {
        return Cow::Borrowed(json);
    }
    let mut all = String::with_capacity(json.len() + 16);
    for char in json.chars() {
        match char {
            '\u{85}' => all.push_str("\\u0085"),
            '\u{2028}' => all.push_str("\\u2028"),
            '\u{2029}' => all.push_str("\\u2029"),
            other => all.push(other),
        }
    }
    Cow::Owned(all)
}

/// The borders of the frames of a stream.
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

    /// Adds bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Frees the buffer, if it is empty.
    pub(crate) fn rest(&mut self) {
        if self.buffer.is_empty() {
            self.buffer = BytesMut::new();
        }
    }

    /// The number of bytes that wait for the rest of their frame.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// The next whole frame.
    ///
    /// # Errors
    ///
    /// When a frame is longer than the limit, even if the frame is not whole yet.
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

    /// The next whole frame of the pushed bytes and of `rest`, which follows them. The frame takes no more of `rest` than belongs
    /// to the frame, as far as its border is known.
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

    /// The event at the start of `rest`, if it is whole and plain. The buffer has to be empty.
    pub(crate) fn plain_event(&self, rest: &[u8]) -> Option<PlainEvent> {
        let event = PlainEvent::read(rest).filter(|event| event.len <= self.limit)?;
        (self.framing == Framing::Events).then_some(event)
    }

    /// Cuts off an event whose lines are already read.
    pub(crate) fn take_event(&mut self, event: &PlainEvent, rest: &mut Bytes) -> Frame {
        self.at_start = false;
        self.take(rest, event.len);
        event.frame(self.buffer.split_to(event.len).freeze())
    }

    /// Moves that many bytes of `rest` into the buffer.
    fn take(&mut self, rest: &mut Bytes, len: usize) {
        if self.buffer.capacity() - self.buffer.len() < len {
            self.buffer.reserve(len.max(rest.len().min(ROOM)));
        }
        self.buffer.extend_from_slice(&rest[..len]);
        rest.advance(len);
    }

    /// The rest at the end of the bytes: an event without its border, if there is any. Whole frames that
    /// [`next_frame`](Self::next_frame) has not returned yet are returned first, one for each call.
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

    /// The end of the current line, if the buffer has it. A CR at the end of the buffer is no line end yet: a following LF
    /// would belong to it.
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

    /// Reads the line up to `end`; true if the line ends a frame.
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

/// A frame was longer than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FrameTooLarge {
    /// The limit, in bytes.
    pub limit: usize,
    /// The number of bytes in the frame when the limit was exceeded.
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

/// The number of bytes of a read that are copied into one allocation: a kept frame keeps no more of the read alive.
const ROOM: usize = 2048;
