//! Markers as patterns: literal text with a few holes.

use std::fmt;

use crate::xml::Tag;

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
    pub(crate) tail: Option<usize>,
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
