//! The learning of shapes: from two frames that were decoded in full and have text of the same block. A new shape is tested with a
//! probe frame before its first use.

use memchr::memchr2;

use super::Says;
use super::shape::{Gap, LONGEST, Shape};
use crate::delta::Site;
use crate::json;
use crate::scrub::has_pieces;
use crate::sse::{Frame, Framer};
use crate::wire::{Decoded, Due, Fill, Hole, WireFormat};

/// The shape of `frame`, where `before` is an earlier frame with text of the same block. A value that is equal in both frames is a
/// literal, unless the value is the text.
///
/// The result is `None` if the format has no holes, if the text cannot be located, or if the format decodes a frame of the shape in
/// another way. With `scrubs`, the result is also `None` if a frame of the shape has a string that clients concatenate with strings of
/// other frames.
pub(super) fn learn(
    format: &dyn WireFormat,
    before: &[u8],
    frame: &Frame,
    said: (&Says, &Site),
    scrubs: bool,
) -> Option<Shape> {
    let holes = format.holes();
    let (offset, end) = frame.plain_data()?;
    let raw = Some(frame.raw()).filter(|raw| raw.len() <= LONGEST)?;
    let data = &raw[offset..end];
    let before = frame_of(before)?;
    let old = HoleValues::read(before.data_bytes()?, holes)?;
    let new = HoleValues::read(data, holes)?;
    let mut shape = Shape::of(raw.len(), new.found.len());
    let (mut done, mut text) = (0, None);
    for found in &new.found {
        let value = &data[found.start..found.end];
        let gap = match found.hole.fill {
            Fill::Text if value.is_empty() => continue,
            Fill::Text => match text {
                None => {
                    text = Some(value);
                    Gap::Text
                }
                Some(text) if text == value => Gap::Twin,
                Some(_) => return None,
            },
            Fill::Blanks => Gap::Blanks,
            Fill::Name if old.value_in(found.hole) == Some(value) => {
                shape.literal(&raw[done..offset + found.start]);
                shape.name(value);
                done = offset + found.end;
                continue;
            }
            Fill::Name => return None,
            _ if old.value_in(found.hole) == Some(value) => continue,
            Fill::Word => Gap::Word,
            Fill::Digits => Gap::Digits,
            Fill::Count => Gap::Count,
        };
        shape.literal(&raw[done..offset + found.start]);
        shape.gap(gap);
        done = offset + found.end;
    }
    shape.literal(&raw[done..]);
    shape.locate(raw, offset, said.1)?;
    let reads = |raw: &[u8]| shape.fit(raw).is_some_and(|fit| fit.len == raw.len());
    (text.is_some() && reads(raw) && is_sound(&shape, format, said.0, scrubs)).then_some(shape)
}

/// Whether the format decodes a probe, a frame of this shape with other values in all holes, as one delta of the same place with the text
/// of the probe.
fn is_sound(shape: &Shape, format: &dyn WireFormat, says: &Says, scrubs: bool) -> bool {
    let probe = shape.filled(PROBE.as_bytes(), b"probe", b"77", b"   ");
    let Some(frame) = frame_of(&probe) else { return false };
    let mut decoded = Decoded::default();
    let read = format.decode(&frame, &mut decoded);
    let [delta] = &decoded.deltas[..] else { return false };
    let text = json::unquote(&format!("\"{PROBE}\""));
    let is_plain = frame.odd().or(decoded.odd).is_none() && decoded.due == Due::Now;
    let document = frame.data_bytes().and_then(|data| std::str::from_utf8(data).ok());
    read.is_ok()
        && is_plain
        && !(scrubs && document.is_none_or(|document| has_pieces(document, format)))
        && text
            .zip(frame.plain_data().and_then(|data| shape.site_in(&probe, data.0)))
            .is_some_and(|(text, site)| says.delta_at(&text, site) == *delta)
}

/// The frame that consists of exactly these bytes.
pub(super) fn frame_of(raw: &[u8]) -> Option<Frame> {
    let mut framer = Framer::new(usize::MAX);
    framer.push(raw);
    framer.next_frame().ok().flatten().filter(|_| framer.pending() == 0)
}

/// The text of the probe, as it stands in JSON: with an escape, and with a character of two bytes.
const PROBE: &str = "probe \\n\\u00e9\u{e9}";

/// The values of a document at the paths of holes.
struct HoleValues<'d> {
    data: &'d [u8],
    holes: &'static [Hole],
    at: usize,
    path: Vec<PathKey<'d>>,
    found: Vec<HoleValue>,
}

#[derive(Clone, Copy)]
enum PathKey<'d> {
    Key(&'d [u8]),
    Item(usize),
}

#[derive(Clone, Copy)]
struct HoleValue {
    hole: &'static Hole,
    /// The span of a string without its quotes, or of a number.
    start: usize,
    end: usize,
}

impl<'d> HoleValues<'d> {
    /// Reads a document that a format has validated. The result is `None` for a text that is not JSON, and for a document with two values
    /// at one path.
    fn read(data: &'d [u8], holes: &'static [Hole]) -> Option<Self> {
        let mut values = Self { data, holes, at: 0, path: Vec::new(), found: Vec::new() };
        values.value()?;
        values.blank();
        (values.at == data.len()).then_some(())?;
        let twice =
            |found: &HoleValue| values.found.iter().filter(|other| other.hole == found.hole).count() > 1;
        let any_twice = values.found.iter().any(twice);
        values.last_blanks();
        (!any_twice).then_some(values)
    }

    fn value(&mut self) -> Option<()> {
        self.blank();
        match self.data.get(self.at)? {
            b'{' => self.list(b'}', |values, _| {
                let (start, end) = values.string()?;
                values.blank();
                values.skip(b':')?;
                values.path.push(PathKey::Key(&values.data[start..end]));
                values.value()
            }),
            b'[' => self.list(b']', |values, item| {
                values.path.push(PathKey::Item(item));
                values.value()
            }),
            b'"' => {
                let (start, end) = self.string()?;
                self.note(start, end, |fill| matches!(fill, Fill::Text | Fill::Word | Fill::Name));
                Some(())
            }
            _ => {
                let start = self.at;
                let rest = &self.data[start..];
                let ends = |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\r' | b'\n');
                self.at += rest.iter().position(ends).unwrap_or(rest.len());
                if super::scan::digits(rest) == Some(self.at - start) {
                    self.note(start, self.at, |fill| matches!(fill, Fill::Digits | Fill::Count | Fill::Name));
                }
                Some(())
            }
        }
    }

    /// Reads the members of an object, or the items of a list.
    fn list(&mut self, end: u8, item: impl Fn(&mut Self, usize) -> Option<()>) -> Option<()> {
        if self.path.len() >= DEEPEST {
            return None;
        }
        self.at += 1;
        self.blank();
        if self.skip(end).is_some() {
            return Some(());
        }
        for number in 0.. {
            self.blank();
            item(self, number)?;
            self.path.pop();
            self.blank();
            if self.skip(end).is_some() {
                return Some(());
            }
            self.skip(b',')?;
        }
        None
    }

    /// Reads the string at this position; returns the span of its inside.
    fn string(&mut self) -> Option<(usize, usize)> {
        self.skip(b'"')?;
        let start = self.at;
        loop {
            self.at += memchr2(b'"', b'\\', self.data.get(self.at..)?)?;
            match self.data[self.at] {
                b'"' => break,
                _ => self.at += 2,
            }
        }
        self.at += 1;
        Some((start, self.at - 1))
    }

    /// Records a value, if a hole that allows it has the same path.
    fn note(&mut self, start: usize, end: usize, takes: impl Fn(Fill) -> bool) {
        let Some(PathKey::Key(key)) = self.path.last() else { return };
        let leads = |hole: &&Hole| hole.path.as_bytes().ends_with(key) && leads_to(hole.path, &self.path);
        let hole = self.holes.iter().filter(|hole| takes(hole.fill)).find(leads);
        // Log probabilities are searched as the text that all of their tokens spell.
        let hole = hole.filter(|hole| !hole.path.contains("logprobs"));
        self.found.extend(hole.map(|hole| HoleValue { hole, start, end }));
    }

    /// Records the blanks before the last brace, if the format has a hole there.
    fn last_blanks(&mut self) {
        let hole = self.holes.iter().find(|hole| hole.fill == Fill::Blanks);
        let end = self.data.iter().rposition(|byte| *byte == b'}');
        if let (Some(hole), Some(end)) = (hole, end) {
            let start = self.data[..end].iter().rposition(|byte| *byte != b' ').map_or(end, |last| last + 1);
            self.found.push(HoleValue { hole, start, end });
        }
    }

    fn blank(&mut self) {
        let rest = &self.data[self.at.min(self.data.len())..];
        self.at += rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n')).count();
    }

    fn skip(&mut self, byte: u8) -> Option<()> {
        (self.data.get(self.at) == Some(&byte)).then(|| self.at += 1)
    }

    /// The value at the path of a hole.
    fn value_in(&self, hole: &Hole) -> Option<&'d [u8]> {
        self.found.iter().find(|found| found.hole == hole).map(|found| &self.data[found.start..found.end])
    }
}

/// Whether `written` is the notation of a path. A key with a dot, a bracket or an escape has no notation.
fn leads_to(written: &str, path: &[PathKey<'_>]) -> bool {
    let mut rest = written.as_bytes();
    for step in path {
        let next = match step {
            PathKey::Key(key) if key.iter().any(|byte| matches!(byte, b'.' | b'[' | b'\\')) => None,
            PathKey::Key(key) => rest.strip_prefix(b".").unwrap_or(rest).strip_prefix(*key),
            PathKey::Item(0) => rest.strip_prefix(b"[0]"),
            PathKey::Item(_) => None,
        };
        match next {
            Some(next) if matches!(next.first(), None | Some(b'.' | b'[')) => rest = next,
            _ => return false,
        }
    }
    rest.is_empty() && !path.is_empty()
}

/// The greatest depth of a document that is read.
const DEEPEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_leads_to_one_place() {
        let path =
            [PathKey::Key(b"choices"), PathKey::Item(0), PathKey::Key(b"delta"), PathKey::Key(b"content")];
        assert!(leads_to("choices[0].delta.content", &path));
        assert!(!leads_to("choices[0].delta", &path));
        assert!(!leads_to("choices[0].delta.content.more", &path));
        assert!(!leads_to("choices[0].delta.content", &path[..3]));
        assert!(!leads_to("choices[0].delta.content", &[PathKey::Key(b"choices[0].delta.content")]));
        assert!(!leads_to(
            "choices[0].delta.content",
            &[PathKey::Key(b"choices[0]"), PathKey::Key(b"delta.content")]
        ));
        let second =
            [PathKey::Key(b"choices"), PathKey::Item(1), PathKey::Key(b"delta"), PathKey::Key(b"content")];
        assert!(!leads_to("choices[0].delta.content", &second));
        assert!(leads_to("id", &[PathKey::Key(b"id")]));
        assert!(!leads_to("id", &[PathKey::Key(b"i"), PathKey::Key(b"d")]));
        assert!(!leads_to("", &[]));
    }
}
