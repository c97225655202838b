//! XML as a parser reads it: tags with attributes in any order, character references, CDATA sections and comments.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr, memmem};

use crate::event::ProblemKind;
use crate::template::Hole;

/// A tag: its name, and the attributes that fill holes. Other attributes are passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tag {
    /// `<name` or `</name`, in every spelling.
    pub(crate) any: Vec<String>,
    pub(crate) closes: bool,
    pub(crate) attributes: Vec<(String, Hole)>,
}

impl Tag {
    /// Reads a pattern: `<name attribute={hole} …>`, where `{text?}` in the name may be missing.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        let inside = pattern.strip_prefix('<')?.strip_suffix('>')?;
        let mut words = inside.split_ascii_whitespace();
        let name = words.next()?;
        let hole = |word: &str| {
            let (attribute, hole) = word.split_once('=')?;
            let hole = hole.strip_suffix("{~}").unwrap_or(hole);
            Some((attribute.to_owned(), Hole::named(hole.strip_prefix('{')?.strip_suffix('}')?)?))
        };
        let attributes: Option<Vec<_>> = words.map(hole).collect();
        let any = spellings(name).into_iter().map(|name| format!("<{name}")).collect();
        Some(Self { any, closes: name.starts_with('/'), attributes: attributes? })
    }

    /// The tag as it is written, with its holes filled.
    pub(crate) fn write(&self, out: &mut String, fill: impl Fn(Hole) -> String) {
        out.push_str(self.any.first().map_or("<", String::as_str));
        for (attribute, hole) in &self.attributes {
            let value = fill(*hole).replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
            out.push_str(&format!(" {attribute}=\"{value}\""));
        }
        out.push('>');
    }
}

/// The names that a name with optional parts stands for, the shortest first.
fn spellings(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else { return vec![name.to_owned()] };
    let Some((optional, after)) = rest.split_once("?}") else { return vec![name.to_owned()] };
    let tails = spellings(after);
    let without = tails.iter().map(|tail| format!("{before}{tail}"));
    let with = tails.iter().map(|tail| format!("{before}{optional}{tail}"));
    without.chain(with).collect()
}

/// A tag that is being read. Positions are in the text it is given, which only ever grows.
#[derive(Debug, Clone, Default)]
pub(crate) struct InTag {
    step: Step,
    from: usize,
    attribute: Range<usize>,
    /// The values of the attributes that fill holes.
    pub(crate) found: Vec<(Hole, Range<usize>)>,
    /// It ends in `/>`.
    pub(crate) is_empty: bool,
    /// Readers disagree over what it says.
    pub(crate) problem: Option<(usize, ProblemKind)>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Step {
    #[default]
    Name,
    Gap,
    Attribute,
    BehindAttribute,
    Equals,
    Quoted(u8),
    Bare,
    /// Quotes where no value belongs.
    Junk(u8),
}

/// Where a tag stands.
pub(crate) enum Read {
    More,
    Done(usize),
    Fail(usize),
}

impl InTag {
    /// Reads on behind the tag's name.
    pub(crate) fn run(&mut self, tag: &Tag, text: &[u8], pos: &mut usize) -> Read {
        while let Some(&byte) = text.get(*pos) {
            let is_space = byte.is_ascii_whitespace();
            let next = match (self.step, byte) {
                (Step::Name, b'>' | b'/') => Step::Gap,
                (Step::Name, _) if is_space => Step::Gap,
                (Step::Name, _) => return Read::Fail(*pos),
                (Step::Gap | Step::BehindAttribute | Step::Equals | Step::Attribute | Step::Bare, b'<') => {
                    return Read::Fail(*pos);
                }
                (Step::Gap | Step::Bare, b'/') if text.len() == *pos + 1 => return Read::More,
                (Step::Gap | Step::Bare, b'/') if text[*pos + 1] == b'>' => {
                    self.value_ends(tag, text, *pos);
                    self.is_empty = !tag.closes;
                    return self.ends(tag, *pos + 2);
                }
                (Step::Gap, b'>') => return self.ends(tag, *pos + 1),
                (Step::Gap, b'/' | b'=') => behind(pos, Step::Gap),
                (Step::Gap, _) if is_space => behind(pos, Step::Gap),
                (Step::Gap, _) if tag.closes => return Read::Fail(*pos),
                (Step::Gap, b'"' | b'\'') => behind(pos, Step::Junk(byte)),
                (Step::Gap, _) => {
                    self.from = *pos;
                    Step::Attribute
                }
                (Step::Attribute, b'=' | b'>' | b'/' | b'"' | b'\'') => self.attribute_ends(*pos),
                (Step::Attribute, _) if is_space => self.attribute_ends(*pos),
                (Step::Attribute, _) => behind(pos, Step::Attribute),
                (Step::BehindAttribute, b'=') => behind(pos, Step::Equals),
                (Step::BehindAttribute | Step::Equals, _) if is_space => behind(pos, self.step),
                (Step::BehindAttribute, _) | (Step::Equals, b'>') => Step::Gap,
                (Step::Equals, b'"' | b'\'') => {
                    self.from = *pos + 1;
                    behind(pos, Step::Quoted(byte))
                }
                (Step::Equals, _) => {
                    self.from = *pos;
                    Step::Bare
                }
                (Step::Quoted(quote) | Step::Junk(quote), _) => match memchr(quote, &text[*pos..]) {
                    Some(at) => {
                        *pos += at;
                        self.value_ends(tag, text, *pos);
                        behind(pos, Step::Gap)
                    }
                    None => {
                        *pos = text.len();
                        return Read::More;
                    }
                },
                (Step::Bare, b'>') => {
                    self.value_ends(tag, text, *pos);
                    Step::Gap
                }
                (Step::Bare, _) if is_space => {
                    self.value_ends(tag, text, *pos);
                    Step::Gap
                }
                (Step::Bare, _) => behind(pos, Step::Bare),
            };
            self.step = next;
        }
        Read::More
    }

    fn attribute_ends(&mut self, end: usize) -> Step {
        self.attribute = self.from..end;
        Step::BehindAttribute
    }

    fn value_ends(&mut self, tag: &Tag, text: &[u8], end: usize) {
        if !matches!(self.step, Step::Quoted(_) | Step::Bare) {
            return;
        }
        let name = &text[self.attribute.clone()];
        let Some((_, hole)) = tag.attributes.iter().find(|(attribute, _)| attribute.as_bytes() == name)
        else {
            return;
        };
        if self.found.iter().any(|(known, _)| known == hole) {
            self.problem.get_or_insert((self.attribute.start, ProblemKind::RepeatedKey));
        } else {
            self.found.push((*hole, self.from..end));
        }
    }

    fn ends(&mut self, tag: &Tag, end: usize) -> Read {
        let is_filled =
            |hole: &Hole| self.found.iter().any(|(known, value)| known == hole && !value.is_empty());
        if tag.attributes.iter().all(|(_, hole)| is_filled(hole)) {
            Read::Done(end)
        } else {
            Read::Fail(end - 1)
        }
    }
}

/// The step behind the byte at `pos`.
fn behind(pos: &mut usize, step: Step) -> Step {
    *pos += 1;
    step
}

/// What a text that stands in XML says: references are decoded, CDATA sections are what they hold, comments are nothing.
/// What is no XML stands for itself: models write `a < b && c` as it is.
pub(crate) fn decode(text: &str) -> Cow<'_, str> {
    if memchr::memchr2(b'&', b'<', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'&', b'<', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some((inside, after)) = section(rest, CDATA) {
            out.push_str(inside);
            rest = after;
        } else if let Some((_, after)) = section(rest, COMMENT) {
            rest = after;
        } else if let Some((c, after)) = reference(rest) {
            out.push(c);
            rest = after;
        } else {
            out.push_str(&rest[..1]);
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// A text as it must stand in XML to be read as itself: only what would be read as something else is escaped, so that
/// parsers that know no XML read the same.
pub(crate) fn encode(text: &str, is_tag: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = memchr::memchr2(b'&', b'<', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let escaped = match rest.as_bytes()[0] {
            b'&' if reference(rest).is_some() => "&amp;",
            b'<' if rest.starts_with("<!") || is_tag(rest) => "&lt;",
            _ => &rest[..1],
        };
        out.push_str(escaped);
        rest = &rest[1..];
    }
    out.push_str(rest);
    out
}

/// Sections with a begin and an end.
const CDATA: (&str, &str) = ("<![CDATA[", "]]>");
const COMMENT: (&str, &str) = ("<!--", "-->");

fn section<'a>(text: &'a str, (open, close): (&str, &str)) -> Option<(&'a str, &'a str)> {
    text.strip_prefix(open)?.split_once(close)
}

/// A character or entity reference, and what follows it.
fn reference(text: &str) -> Option<(char, &str)> {
    let inside = text.strip_prefix('&')?;
    let end = inside.bytes().take(LONGEST_REFERENCE).position(|byte| byte == b';')?;
    let (name, after) = (&inside[..end], &inside[end + 1..]);
    let number = |digits: &str, radix| {
        let plain = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        u32::from_str_radix(digits, radix).ok().filter(|_| plain).and_then(char::from_u32)
    };
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => match (name.strip_prefix("#x"), name.strip_prefix('#')) {
            (Some(hex), _) => number(hex, 16)?,
            (None, Some(decimal)) => number(decimal, 10)?,
            _ => return None,
        },
    };
    Some((c, after))
}

/// The longest reference that is read, leading zeros included.
const LONGEST_REFERENCE: usize = 32;

/// Which section a value is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum XmlSection {
    Cdata,
    Comment,
}

/// What begins at a `<` in a value: `None` while more bytes are needed.
pub(crate) fn section_at(text: &[u8], at: usize) -> Option<Option<(XmlSection, usize)>> {
    let rest = &text[at..];
    for (kind, (open, _)) in [(XmlSection::Cdata, CDATA), (XmlSection::Comment, COMMENT)] {
        if rest.starts_with(open.as_bytes()) {
            return Some(Some((kind, at + open.len())));
        }
        if open.as_bytes().starts_with(rest) {
            return None;
        }
    }
    Some(None)
}

/// Searches the end of a section from `pos` on; what was searched is not searched again.
pub(crate) fn section_end(kind: XmlSection, text: &[u8], pos: &mut usize) -> Option<usize> {
    let close = match kind {
        XmlSection::Cdata => CDATA.1,
        XmlSection::Comment => COMMENT.1,
    };
    match memmem::find(&text[*pos..], close.as_bytes()) {
        Some(at) => Some(*pos + at + close.len()),
        None => {
            *pos = (text.len() + 1).saturating_sub(close.len()).max(*pos);
            None
        }
    }
}
