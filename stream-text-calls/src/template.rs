//! Markers as patterns: literal text with a few holes, matched byte by byte and resumably.

use std::fmt;
use std::ops::Range;

use crate::event::ProblemKind;
use crate::space::{Space, space_at};
use crate::xml::{self, InTag, Read, Tag, XmlSection};

/// A marker: literal text with holes.
///
/// | in the pattern | matches |
/// |---|---|
/// | a blank or new line | one or more white-space characters |
/// | `{~}` | any white space, or none |
/// | `{name}` | the tool's name, in quotes or not |
/// | `{key}` | a parameter's name, in quotes or not |
/// | `{id}` | the call's id |
/// | `{id:name}` | an id that holds the name: `functions.NAME:0`, up to what follows |
/// | `{string}` | `true` or `false`: whether a value is a string or JSON |
/// | `{*}` | anything on the line, up to what follows; no `<` unless that begins with one |
/// | `{text?}` | `text`, or nothing |
/// | `{a\|b}` is not special | the literal `{a\|b}` |
///
/// Everything else stands for itself, a brace included. White space around a name, key or id is no part of it.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Template {
    pub(crate) pieces: Vec<Piece>,
    /// From this piece on nothing is required: where it stops matching, the match ended before.
    tail: Option<usize>,
    /// How many pieces stand before the call itself.
    pub(crate) lead: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// One of these texts.
    Literal {
        any: Vec<String>,
        optional: bool,
    },
    Space {
        required: bool,
        written: char,
    },
    Capture(Hole),
    /// Up to the byte that the next piece begins with.
    Skip,
    /// A tag as XML has it.
    Tag(Tag),
    /// White space and comments, or nothing.
    Filler,
}

impl Piece {
    /// The texts it can begin with, where it begins with a text that is required.
    fn literals(&self) -> &[String] {
        match self {
            Self::Literal { any, optional: false } | Self::Tag(Tag { any, .. }) => any,
            _ => &[],
        }
    }
}

/// What a hole in a pattern holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hole {
    Name,
    Key,
    Id,
    IdWithName,
    IsString,
}

impl Hole {
    /// The hole of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "name" => Self::Name,
            "key" => Self::Key,
            "id" => Self::Id,
            "id:name" => Self::IdWithName,
            "string" => Self::IsString,
            _ => return None,
        })
    }
}

impl Template {
    /// Reads a pattern that stands for a tag of XML; one that is no tag stands for itself.
    pub(crate) fn xml(pattern: &str) -> Self {
        Tag::new(pattern).map_or_else(|| Self::new(pattern), |tag| Self::of(vec![Piece::Tag(tag)]))
    }

    /// Reads a pattern.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        let mut pieces = Vec::new();
        let mut rest = pattern;
        while let Some(first) = rest.chars().next() {
            if let Some((piece, after)) = hole(rest) {
                pieces.push(piece);
                rest = after;
            } else if first.is_ascii_whitespace() {
                let written = if rest.starts_with('\n') { '\n' } else { ' ' };
                pieces.push(Piece::Space { required: true, written });
                rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace());
            } else {
                let width = first.len_utf8();
                let more = rest[width..]
                    .char_indices()
                    .find(|(at, c)| c.is_ascii_whitespace() || hole(&rest[width + at..]).is_some());
                let end = more.map_or(rest.len(), |(at, _)| width + at);
                pieces.push(literal([&rest[..end]]));
                rest = &rest[end..];
            }
        }
        Self::of(pieces)
    }

    pub(crate) fn of(pieces: Vec<Piece>) -> Self {
        Self { pieces, tail: None, lead: 0 }
    }

    /// White space, then one of these patterns without holes; nothing at all will do too.
    pub(crate) fn optional_end(closers: &[String]) -> Self {
        let mut template = Self { pieces: Vec::new(), tail: Some(0), lead: 0 };
        if !closers.is_empty() {
            template.pieces.push(Piece::Space { required: false, written: ' ' });
            template.lead = 1;
        }
        match closers {
            [] => {}
            [one] => template.pieces.extend(Self::new(one).pieces),
            several => template.pieces.push(literal(several)),
        }
        template
    }

    /// This pattern, then that one. What the second does not require, the whole does not.
    pub(crate) fn then(mut self, next: &Self) -> Self {
        self.tail = self.tail.or(next.tail.map(|tail| tail + self.pieces.len()));
        self.pieces.extend(next.pieces.iter().cloned());
        self
    }

    /// What has been added so far stands before the call.
    pub(crate) fn ends_lead(mut self) -> Self {
        self.lead = self.pieces.len();
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The bytes it can begin with.
    pub(crate) fn first_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for piece in &self.pieces {
            match piece {
                Piece::Literal { any, optional: true } => {
                    bytes.extend(any.iter().filter_map(|text| text.bytes().next()));
                }
                Piece::Literal { .. } | Piece::Tag(_) => {
                    bytes.extend(piece.literals().iter().filter_map(|text| text.bytes().next()));
                    break;
                }
                _ => {}
            }
        }
        bytes
    }

    /// Whether a text that begins so can be one: a quick look at its first literal, before a match is set up.
    pub(crate) fn may_begin(&self, text: &[u8]) -> bool {
        let any = self.pieces.first().map_or(&[][..], Piece::literals);
        any.is_empty()
            || any.iter().any(|literal| {
                let length = literal.len().min(text.len());
                literal.as_bytes()[..length] == text[..length]
            })
    }

    /// Whether a text begins with its first literal.
    pub(crate) fn opens(&self, text: &str) -> bool {
        let any = self.pieces.first().map_or(&[][..], Piece::literals);
        any.iter().any(|literal| text.starts_with(literal))
    }

    /// How many bytes of a text fit its first literal.
    pub(crate) fn begins(&self, text: &[u8]) -> usize {
        let any = self.pieces.first().map_or(&[][..], Piece::literals);
        let common = |literal: &String| literal.bytes().zip(text).take_while(|(a, b)| a == *b).count();
        any.iter().map(common).max().unwrap_or(0)
    }

    /// Whether it ends in a hole, so that only what follows shows that it is no prose.
    pub(crate) fn is_open_ended(&self) -> bool {
        let last = self
            .pieces
            .iter()
            .rev()
            .find(|piece| !matches!(piece, Piece::Space { .. } | Piece::Literal { optional: true, .. }));
        matches!(last, Some(Piece::Capture(_)))
    }

    /// Whether its last literal ends a word by itself: `<function=`.
    pub(crate) fn ends_with_sign(&self) -> bool {
        match self.pieces.last() {
            Some(Piece::Literal { any, .. }) => {
                any[0].bytes().last().is_some_and(|byte| !byte.is_ascii_alphanumeric() && byte != b'_')
            }
            _ => false,
        }
    }

    /// The text that this pattern stands for, with its holes filled.
    pub(crate) fn write(&self, out: &mut String, fill: impl Fn(Hole) -> String) {
        for (at, piece) in self.pieces.iter().enumerate() {
            match piece {
                Piece::Literal { any, optional: false } => out.push_str(&any[0]),
                Piece::Space { required: true, written } => out.push(*written),
                Piece::Capture(hole) => {
                    // Attributes are written with quotes; what follows other literals never has any.
                    let attribute = at > 0
                        && matches!(&self.pieces[at - 1],
                            Piece::Literal { any, .. } if is_attribute(&self.pieces[..at - 1], &any[0]));
                    let quote = if attribute { "\"" } else { "" };
                    out.push_str(quote);
                    out.push_str(&fill(*hole));
                    out.push_str(quote);
                }
                Piece::Tag(tag) => tag.write(out, &fill),
                _ => {}
            }
        }
    }
}

impl From<&str> for Template {
    fn from(pattern: &str) -> Self {
        Self::new(pattern)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.pieces).finish()
    }
}

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

    /// Whether the first piece was read.
    pub(crate) fn is_past_first(&self) -> bool {
        self.piece > 0
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
                    None => {
                        self.problem = self.problem.take().or(Some((value.start, ProblemKind::MissingName)))
                    }
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
                None if hole == Hole::IdWithName => begins_next(byte),
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

/// Whether a hole behind this literal is an attribute's value: `… name=`, but not `<function=`.
fn is_attribute(before: &[Piece], literal: &str) -> bool {
    literal.ends_with('=') && !literal.contains('<') && matches!(before.last(), Some(Piece::Space { .. }))
}

fn hole(text: &str) -> Option<(Piece, &str)> {
    let inner = text.strip_prefix('{')?;
    let (inside, after) = inner.split_once('}')?;
    let piece = match inside {
        "~" => Piece::Space { required: false, written: ' ' },
        "*" => Piece::Skip,
        _ => {
            if let Some(hole) = Hole::named(inside) {
                return Some((Piece::Capture(hole), after));
            }
            let text = inside.strip_suffix('?').filter(|text| !text.is_empty())?;
            return Some((Piece::Literal { any: vec![text.to_owned()], optional: true }, after));
        }
    };
    Some((piece, after))
}

pub(crate) fn literal<T: AsRef<str>>(any: impl IntoIterator<Item = T>) -> Piece {
    // The mask of alternatives has a bit for each.
    let any = any.into_iter().take(64).map(|text| text.as_ref().to_owned()).collect();
    Piece::Literal { any, optional: false }
}
