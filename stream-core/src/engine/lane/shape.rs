//! A frame with holes.

use super::scan;

/// The bytes of a whole frame, from its first field to its blank line, cut at the values that may differ.
#[derive(Debug, Default)]
pub(super) struct Shape {
    /// The bytes between the holes, all behind one another.
    literals: Vec<u8>,
    /// The holes: each stands behind that many literal bytes.
    gaps: Vec<(usize, Gap)>,
}

/// What may stand in a hole of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// The text.
    Text,
    /// The text again.
    Twin,
    /// A string.
    Word,
    /// A number.
    Digits,
    /// A number that grows.
    Count,
    /// Blanks.
    Blanks,
}

/// A frame that has a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fit {
    /// How many bytes it has.
    pub(super) len: usize,
    /// Where the inside of its text starts.
    pub(super) start: usize,
    pub(super) text: scan::StringSpan,
    /// The number that counts it.
    pub(super) count: Option<u64>,
}

impl Shape {
    /// A shape with room for that many bytes and holes.
    pub(super) fn of(bytes: usize, gaps: usize) -> Self {
        Self { literals: Vec::with_capacity(bytes), gaps: Vec::with_capacity(gaps) }
    }

    /// Adds bytes that are always the same.
    pub(super) fn literal(&mut self, bytes: &[u8]) {
        self.literals.extend_from_slice(bytes);
    }

    /// Adds a hole.
    pub(super) fn gap(&mut self, gap: Gap) {
        self.gaps.push((self.literals.len(), gap));
    }

    /// Whether a string that nothing depends on may differ.
    pub(super) fn has_words(&self) -> bool {
        self.gaps.iter().any(|(_, gap)| *gap == Gap::Word)
    }

    /// The frame that starts `input`, if it has this shape. A frame of which the end is missing has none.
    pub(super) fn fit(&self, input: &[u8]) -> Option<Fit> {
        let (mut at, mut from) = (0, 0);
        let mut text: Option<(usize, scan::StringSpan)> = None;
        let mut count = None;
        for &(to, gap) in &self.gaps {
            at += same(&self.literals[from..to], input.get(at..)?)?;
            from = to;
            let rest = input.get(at..)?;
            at += match gap {
                Gap::Text => {
                    let found = scan::string(rest).filter(|found| found.len > 0)?;
                    text = Some((at, found));
                    found.len
                }
                Gap::Twin => {
                    let (start, found) = text?;
                    same(&input[start..start + found.len], rest)?
                }
                Gap::Word => scan::string(rest)?.len,
                Gap::Digits => scan::digits(rest)?,
                Gap::Count => {
                    let len = scan::digits(rest)?;
                    count =
                        Some(rest[..len].iter().fold(0, |count, digit| count * 10 + u64::from(digit - b'0')));
                    len
                }
                Gap::Blanks => scan::blanks(rest),
            };
        }
        at += same(&self.literals[from..], input.get(at..)?)?;
        let (start, text) = text?;
        Some(Fit { len: at, start, text, count })
    }

    /// A frame of this shape with these in its holes.
    pub(super) fn filled(&self, text: &[u8], word: &[u8], digits: &[u8], blanks: &[u8]) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.literals.len() + 64);
        let mut from = 0;
        for &(to, gap) in &self.gaps {
            frame.extend_from_slice(&self.literals[from..to]);
            frame.extend_from_slice(match gap {
                Gap::Text | Gap::Twin => text,
                Gap::Word => word,
                Gap::Digits | Gap::Count => digits,
                Gap::Blanks => blanks,
            });
            from = to;
        }
        frame.extend_from_slice(&self.literals[from..]);
        frame
    }
}

/// The length of `literal`, if `input` starts with it.
fn same(literal: &[u8], input: &[u8]) -> Option<usize> {
    input.starts_with(literal).then_some(literal.len())
}
