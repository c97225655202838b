//! A marker that is being matched, byte by byte and resumably.

use std::ops::Range;

use crate::event::ProblemKind;
use crate::space::{Space, space_at};
use crate::template::{Hole, Piece, Template};
use crate::xml::{self, InTag, Read, Tag, XmlSection};

/// Where a match stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Match {
    /// All that came fits, and more is needed.
    More,
    /// It ended here.
    Done(usize),
    /// It does not fit: this is the first byte that does not.
    Fail(usize),
}

/// A match of a [`Template`] under way. Positions are in the text it is given, which only ever grows.
#[derive(Debug, Clone, Default)]
pub(crate) struct Matcher {
    piece: usize,
    /// Where the current piece began, behind white space that is no part of it.
    from: usize,
    pub(crate) pos: usize,
    alive: u64,
    quote: Option<u8>,
    /// Where the first piece ended.
    pub(crate) marker: Option<usize>,
    /// Where the part that is required ended.
    accepted: Option<usize>,
    /// Where the call itself begins, once known.
    pub(crate) call: Option<usize>,
    pub(crate) name: Option<Range<usize>>,
    pub(crate) key: Option<Range<usize>>,
    pub(crate) id: Option<Range<usize>>,
    pub(crate) is_string: Option<Range<usize>>,
    /// What stands where anything may.
    pub(crate) skipped: Option<Range<usize>>,
    /// It is made of XML, in which a name may hold references.
    pub(crate) is_xml: bool,
    /// The tag that was read last ends in `/>`.
    pub(crate) is_empty: bool,
    /// Readers disagree over what a tag says: where that shows.
    pub(crate) problem: Option<(usize, ProblemKind)>,
    in_comment: bool,
    /// Where something begins that may be a comment, and may be no part of the match.
    pub(crate) unsure: Option<usize>,
    tag: Option<Box<InTag>>,
}

impl Matcher {
    pub(crate) fn at(pos: usize) -> Self {
        Self { from: pos, pos, alive: u64::MAX, ..Self::default() }
    }

    pub(crate) fn run(&mut self, template: &Template, text: &[u8], ended: bool) -> Match {
        loop {
            if self.piece == template.lead {
                self.call.get_or_insert(self.pos);
            }
            if template.tail == Some(self.piece) {
                self.accepted.get_or_insert(self.pos);
            }
            let Some(piece) = template.pieces.get(self.piece) else { return Match::Done(self.pos) };
            let found = match piece {
                Piece::Literal { any, optional } => self.literal(any, *optional, text),
                Piece::Space { required, .. } => self.space(*required, text),
                Piece::Capture(hole) => self.capture(*hole, template.pieces.get(self.piece + 1), text),
                Piece::Skip => self.skip(template.pieces.get(self.piece + 1), text),
                Piece::Tag(tag) => self.tag(tag, text),
                Piece::Filler => self.filler(text),
            };
            match (found, self.accepted) {
                (Match::Done(end), _) => {
                    if let Piece::Skip = piece {
                        self.skipped = Some(self.from..end);
                    }
                    if self.piece == 0 {
                        self.marker = Some(end);
                    }
                    self.piece += 1;
                    self.pos = end;
                    self.from = end;
                    self.alive = u64::MAX;
                    self.quote = None;
                }
                (Match::Fail(_), Some(end)) => return Match::Done(end),
                (Match::More, Some(end)) if ended => return Match::Done(end),
                (other, _) => return other,
            }
        }
    }

    fn literal(&mut self, any: &[String], optional: bool, text: &[u8]) -> Match {
        while let Some(byte) = text.get(self.pos) {
            let at = self.pos - self.from;
            for (number, alternative) in any.iter().enumerate() {
                if alternative.as_bytes().get(at) != Some(byte) {
                    self.alive &= !(1 << number);
                }
            }
            let alive = |number: usize| self.alive & (1 << number) != 0;
            self.pos += 1;
            let mut left = any.iter().enumerate().filter(|(number, _)| alive(*number)).peekable();
            if left.peek().is_none() {
                return if optional { Match::Done(self.from) } else { Match::Fail(self.pos - 1) };
            }
            if left.any(|(_, alternative)| alternative.len() == at + 1) {
                return Match::Done(self.pos);
            }
        }
        Match::More
    }

    fn tag(&mut self, tag: &Tag, text: &[u8]) -> Match {
        if self.tag.is_none() {
            match self.literal(&tag.any, false, text) {
                Match::Done(end) => self.pos = end,
                other => return other,
            }
        }
        let mut read = self.tag.take().unwrap_or_default();
        match read.run(tag, text, &mut self.pos) {
            Read::More => {
                self.tag = Some(read);
                Match::More
            }
            Read::Fail(at) => Match::Fail(at),
            Read::Done(end) => {
                let InTag { found, is_empty, problem, .. } = *read;
                for (hole, value) in found {
                    let value = trimmed(text, value);
                    if value.is_empty() {
                        return Match::Fail(end - 1);
                    }
                    self.fill(hole, value, text);
                }
                self.is_xml = true;
                self.is_empty = is_empty;
                self.problem = self.problem.take().or(problem);
                Match::Done(end)
            }
        }
    }

    fn filler(&mut self, text: &[u8]) -> Match {
        self.unsure = None;
        loop {
            if self.in_comment {
                let Some(end) = xml::section_end(XmlSection::Comment, text, &mut self.pos) else {
                    return Match::More;
                };
                self.in_comment = false;
                self.pos = end;
            }
            match space_at(text, self.pos) {
                Space::Some(len) => self.pos += len,
                Space::More => return Match::More,
                Space::None => match xml::section_at(text, self.pos) {
                    None => {
                        self.unsure = Some(self.pos).filter(|at| *at < text.len());
                        return Match::More;
                    }
                    Some(Some((XmlSection::Comment, inside))) => {
                        self.in_comment = true;
                        self.pos = inside;
                    }
                    Some(_) => return Match::Done(self.pos),
                },
            }
        }
    }

    fn fill(&mut self, hole: Hole, value: Range<usize>, text: &[u8]) {
        match hole {
            Hole::Name => self.name = Some(value),
            Hole::Key => self.key = Some(value),
            Hole::Id => self.id = Some(value),
            Hole::IdWithName => {
                match name_in_id(text, value.clone()) {
                    Some(name) => self.name = Some(name),
                    None => _ = self.problem.get_or_insert((value.start, ProblemKind::MissingName)),
                }
                self.id = Some(value);
            }
            Hole::IsString => self.is_string = Some(value),
        }
    }

    fn space(&mut self, required: bool, text: &[u8]) -> Match {
        loop {
            match space_at(text, self.pos) {
                Space::Some(len) => self.pos += len,
                Space::More => return Match::More,
                Space::None if required && self.pos == self.from => return Match::Fail(self.pos),
                Space::None => return Match::Done(self.pos),
            }
        }
    }

    fn capture(&mut self, hole: Hole, next: Option<&Piece>, text: &[u8]) -> Match {
        let begins_next = |byte: u8| matches!(next, Some(Piece::Literal { any, .. }) if any.iter().any(|text| text.as_bytes()[0] == byte));
        while let Some(&byte) = text.get(self.pos) {
            if self.pos == self.from {
                match space_at(text, self.pos) {
                    // Parsers strip what they find between their markers.
                    Space::Some(len) => {
                        self.pos += len;
                        self.from = self.pos;
                        continue;
                    }
                    Space::More => return Match::More,
                    Space::None => {}
                }
            }
            if self.pos == self.from && matches!(byte, b'"' | b'\'') {
                self.quote = Some(byte);
                self.pos += 1;
                continue;
            }
            let start = self.from + usize::from(self.quote.is_some());
            let over = match self.quote {
                Some(quote) if byte == quote => true,
                Some(_) if byte < b' ' || matches!(byte, b'<' | b'>') => return Match::Fail(self.pos),
                Some(_) => false,
                // Parsers take whatever stands before their marker, other markers too.
                None if hole == Hole::IdWithName => match marker_at(next, &text[self.pos..]) {
                    None => return Match::More,
                    Some(is_marker) => is_marker,
                },
                None => ends_word(byte) || begins_next(byte),
            };
            if over {
                let value = trimmed(text, start..self.pos);
                if value.is_empty() {
                    return Match::Fail(self.pos);
                }
                self.fill(hole, value, text);
                return Match::Done(self.pos + usize::from(self.quote.is_some()));
            }
            // An id is as long as it is: what is odd in it is found when it is over.
            if hole != Hole::IdWithName && self.pos - start >= LONGEST_NAME {
                return Match::Fail(self.pos);
            }
            self.pos += 1;
        }
        Match::More
    }

    fn skip(&mut self, next: Option<&Piece>, text: &[u8]) -> Match {
        let Some(Piece::Literal { any, .. }) = next else { return Match::Done(self.pos) };
        while let Some(&byte) = text.get(self.pos) {
            if any.iter().any(|text| text.as_bytes()[0] == byte) {
                // What begins like the literal and is none is skipped as well.
                let fits = |text: &String, rest: &[u8]| {
                    let len = text.len().min(rest.len());
                    text.as_bytes()[..len] == rest[..len]
                };
                let rest = &text[self.pos..];
                if any.iter().any(|text| rest.len() >= text.len() && fits(text, rest)) {
                    return Match::Done(self.pos);
                }
                if any.iter().any(|text| fits(text, rest)) {
                    return Match::More;
                }
            }
            if byte == b'\n' || byte == b'<' && !any.iter().any(|text| text.starts_with('<')) {
                return Match::Fail(self.pos);
            }
            self.pos += 1;
        }
        Match::More
    }
}

/// Whether a text begins with a piece; `None` if too little of it has come.
fn marker_at(next: Option<&Piece>, text: &[u8]) -> Option<bool> {
    let Some(Piece::Literal { any, .. }) = next else { return Some(false) };
    let fits = |marker: &&String| {
        let both = marker.len().min(text.len());
        marker.as_bytes()[..both] == text[..both]
    };
    match any.iter().find(fits) {
        None => Some(false),
        Some(marker) => (text.len() >= marker.len()).then_some(true),
    }
}

/// The longest name, key or id that is looked for.
const LONGEST_NAME: usize = 256;

/// What no bare name holds: it ends there.
fn ends_word(byte: u8) -> bool {
    byte <= b' '
        || matches!(
            byte,
            b'"' | b'\''
                | b'`'
                | b'<'
                | b'>'
                | b'{'
                | b'}'
                | b'['
                | b']'
                | b'('
                | b')'
                | b'='
                | b','
                | b';'
                | b'|'
        )
}

/// `functions.NAME:0`: the name without what surrounds it. Parsers disagree over an id of which something else is left, and
/// over a number alone, for which some take the tool that fits the arguments.
fn name_in_id(text: &[u8], id: Range<usize>) -> Option<Range<usize>> {
    let said = &text[id.clone()];
    let begin = if said.starts_with(b"functions.") { b"functions.".len() } else { 0 };
    let colon = said.iter().position(|byte| *byte == b':').unwrap_or(said.len());
    let name = trimmed(text, id.start + begin.min(colon)..id.start + colon);
    let number = &said[colon..];
    let is_number = number.iter().skip(1).all(u8::is_ascii_digit);
    let is_word = text[name.clone()].iter().all(|byte| !ends_word(*byte));
    let is_counter = number.is_empty() && text[name.clone()].iter().all(u8::is_ascii_digit);
    (is_number && is_word && !is_counter).then_some(name)
}

/// A stretch without the white space around it.
fn trimmed(text: &[u8], range: Range<usize>) -> Range<usize> {
    let Ok(said) = std::str::from_utf8(&text[range.clone()]) else { return range };
    let is_space = |c: char| matches!(space_at(c.encode_utf8(&mut [0; 4]).as_bytes(), 0), Space::Some(_));
    let start = range.start + (said.len() - said.trim_start_matches(is_space).len());
    start..start + said.trim_matches(is_space).len()
}
