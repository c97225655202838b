//! The lines of an event: their fields, and whether every client reads the same from them.

use bytes::{Bytes, BytesMut};
use memchr::{memchr, memchr2, memchr2_iter, memmem};

use super::{Frame, Framing};

/// An event of one `data: ` line, behind an `event: ` line with a word or none, and of nothing else, as nearly all events are.
#[derive(Debug)]
pub(crate) struct PlainEvent {
    pub(crate) len: usize,
    name: Option<(usize, usize)>,
    pub(crate) data: (usize, usize),
}

impl PlainEvent {
    /// The event at the start of `bytes`, if it is whole and its lines end with LF.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
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

    /// The frame of the event, which has these bytes.
    pub(super) fn frame(&self, raw: Bytes) -> Frame {
        let odd_lines = has_separator(&raw);
        Frame { data: Some(self.data), event: self.name, odd_lines, ..Frame::whole(raw) }
    }
}

/// The fields of the current frame so far, as spans of the frame.
#[derive(Debug, Default)]
pub(super) struct Lines {
    data: Option<(usize, usize)>,
    more: Vec<(usize, usize)>,
    event: Option<(usize, usize)>,
    stray: bool,
    /// Whether clients differ in how they read a line or a line end.
    pub(super) odd: bool,
    /// The line ends: LF, or CRLF.
    ends: Option<bool>,
}

impl Lines {
    pub(super) fn end(&mut self, end: &[u8]) {
        // Empty where the bytes ended before the line did.
        if !end.is_empty() {
            let crlf = end == b"\r\n";
            self.odd |= end == b"\r" || *self.ends.get_or_insert(crlf) != crlf;
        }
    }

    pub(super) fn read(&mut self, frame: &[u8], start: usize) {
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

    pub(super) fn frame(self, raw: Bytes, terminated: bool) -> Frame {
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
            // Clients that read line by line take a name without data for that of the next event.
            odd_lines: self.odd || (self.event.is_some() && self.data.is_none()) || has_separator(&raw),
            odd: None,
            raw,
        }
    }
}

/// Whether a name of an event is one word that every client reads as the same.
pub(super) fn is_word(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(|byte| IN_WORDS[usize::from(*byte)])
}

/// Whether each byte may stand in such a word.
const IN_WORDS: [bool; 256] = {
    let (mut in_words, mut byte) = ([false; 256], 0);
    while byte < 256 {
        in_words[byte] = matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'-');
        byte += 1;
    }
    in_words
};

/// Whether the bytes have a separator that only some clients take for a line end: U+0085, U+2028, U+2029. The separators of
/// ASCII are not allowed in JSON.
pub(crate) fn has_separator(raw: &[u8]) -> bool {
    memchr2_iter(0xc2, 0xe2, raw)
        .any(|at| matches!(raw[at..], [0xc2, 0x85, ..] | [0xe2, 0x80, 0xa8 | 0xa9, ..]))
}

/// Whether a line is neither blank, a comment nor one of the standard's fields.
pub(super) fn is_stray(line: &[u8]) -> bool {
    let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
    !matches!(name, b"" | b"data" | b"event" | b"id" | b"retry")
}

/// The value of a `data:` line with white space, or a byte order mark, before it.
pub(super) fn lenient_value(line: &[u8]) -> Option<&[u8]> {
    let line = line.strip_prefix(BOM).unwrap_or(line);
    let value = line.trim_ascii_start().strip_prefix(b"data:")?;
    Some(value.strip_prefix(b" ").unwrap_or(value))
}

/// A byte order mark in UTF-8.
pub(super) const BOM: &[u8] = b"\xef\xbb\xbf";
