//! Shapes: frames with holes.

use super::scan;
use crate::delta::{Site, Span};

/// The bytes of a whole frame, from its first field to its blank line, except for the values in its holes.
#[derive(Debug, Default)]
pub(in crate::engine) struct Shape {
    /// The bytes between the holes, concatenated: at most [`LONGEST`].
    literals: Vec<u8>,
    /// The holes, each with the number of literal bytes before it.
    gaps: Vec<(u16, Gap)>,
    /// The spans of literal bytes that name the block. A start of 0 is an empty entry: no name stands at the start of a frame.
    names: [(u16, u16); 3],
    /// The start and the end of the element with the text, and of the choice around it.
    marks: Marks,
}

/// The greatest length of a frame that has a shape.
pub(super) const LONGEST: usize = u16::MAX as usize;

/// Positions in a shape, each by the numbers of literal bytes and of holes before it.
#[derive(Debug, Clone, Copy, Default)]
struct Marks {
    literals: [u16; 4],
    gaps: [u8; 4],
}

/// The kinds of holes of a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::engine) enum Gap {
    /// The text.
    Text,
    /// A repetition of the text.
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

/// A frame that fits a shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Fit {
    /// The number of bytes of the frame.
    pub(super) len: usize,
    /// The offset of the inside of the text.
    pub(super) start: usize,
    pub(super) text: scan::StringSpan,
    /// The number of the frame, if the format counts frames.
    pub(super) count: Option<u64>,
}

impl Fit {
    /// Whether the number of the frame is higher than `count`; `true` where frames are not counted.
    pub(super) fn grows(&self, count: Option<u64>) -> bool {
        self.count.is_none() || count.is_none() || self.count > count
    }
}

impl Shape {
    /// An empty shape with capacity for this many bytes and holes.
    pub(super) fn of(bytes: usize, gaps: usize) -> Self {
        Self { literals: Vec::with_capacity(bytes), gaps: Vec::with_capacity(gaps), ..Self::default() }
    }

    /// Adds literal bytes.
    pub(super) fn literal(&mut self, bytes: &[u8]) {
        self.literals.extend_from_slice(bytes);
    }

    /// Adds a hole.
    pub(super) fn gap(&mut self, gap: Gap) {
        self.gaps.push((self.literals.len() as u16, gap));
    }

    /// Adds literal bytes that name the block.
    pub(super) fn name(&mut self, bytes: &[u8]) {
        let start = self.literals.len() as u16;
        self.literals.extend_from_slice(bytes);
        if let Some(name) = self.names.iter_mut().find(|(start, _)| *start == 0) {
            *name = (start, self.literals.len() as u16);
        }
    }

    /// Whether the shape has a hole for a string without a meaning.
    pub(super) fn has_words(&self) -> bool {
        self.gaps.iter().any(|(_, gap)| *gap == Gap::Word)
    }

    /// The frame at the start of `input`, if the frame is complete and fits this shape.
    pub(super) fn fit(&self, input: &[u8]) -> Option<Fit> {
        let mut fitting = Fitting { input, at: 0, text: None, count: None };
        let mut from = 0;
        for &(to, gap) in &self.gaps {
            let to = usize::from(to);
            fitting.literal(&self.literals[from..to])?;
            fitting.gap(gap)?;
            from = to;
        }
        fitting.literal(&self.literals[from..])?;
        let (start, text) = fitting.text?;
        Some(Fit { len: fitting.at, start, text, count: fitting.count })
    }

    /// Records the site of the delta in a frame of this shape, whose data starts at `data`. The result is `None` if the site starts or ends
    /// within a hole.
    pub(super) fn locate(&mut self, frame: &[u8], data: usize, site: &Site) -> Option<()> {
        let places = [site.element.start(), site.element.end(), site.holder.start(), site.holder.end()]
            .map(|place| place + data);
        let mut marks = places.map(|place| (place, 0_u8));
        self.each_gap(frame, |_, (start, end)| {
            for ((literals, gaps), place) in marks.iter_mut().zip(places).filter(|(_, place)| start < *place)
            {
                *gaps = gaps.checked_add(1)?;
                // A position within a hole has no fixed distance to the literals.
                *literals = literals.checked_sub(end - start).filter(|_| end <= place)?;
            }
            Some(())
        })?;
        self.marks =
            Marks { literals: marks.map(|(literals, _)| literals as u16), gaps: marks.map(|(_, gaps)| gaps) };
        Some(())
    }

    /// The spans of the delta in a frame of this shape, whose data starts at `data`: its element, and the choice around the element.
    pub(super) fn site_in(&self, frame: &[u8], data: usize) -> Option<(Span, Span)> {
        let mut places = self.marks.literals.map(usize::from);
        self.each_gap(frame, |number, (start, end)| {
            let behind = |gaps: u8| number < usize::from(gaps);
            for (place, _) in places.iter_mut().zip(self.marks.gaps).filter(|(_, gaps)| behind(*gaps)) {
                *place += end - start;
            }
            Some(())
        })?;
        let [start, end, outer_start, outer_end] = places.map(|place| place - data);
        Some((Span::new(start, end), Span::new(outer_start, outer_end)))
    }

    /// Whether `is` is false for every hole of a frame of this shape. A shape whose holes are text and blanks alone is not searched.
    pub(in crate::engine) fn no_hole(&self, frame: &[u8], is: impl Fn(Gap, &[u8]) -> bool) -> bool {
        let is_other = |(_, gap): &(u16, Gap)| !matches!(gap, Gap::Text | Gap::Blanks);
        let passes = |number: usize, (start, end): (usize, usize)| {
            let value = frame.get(start..end)?;
            let (_, gap) = self.gaps.get(number)?;
            (!is(*gap, value)).then_some(())
        };
        !self.gaps.iter().any(is_other) || self.each_gap(frame, passes).is_some()
    }

    /// Calls `with` for every hole of a frame, with the number of the hole and its start and end.
    fn each_gap(
        &self,
        frame: &[u8],
        mut with: impl FnMut(usize, (usize, usize)) -> Option<()>,
    ) -> Option<()> {
        let mut fitting = Fitting { input: frame, at: 0, text: None, count: None };
        let mut from = 0;
        for (number, &(to, gap)) in self.gaps.iter().enumerate() {
            let to = usize::from(to);
            fitting.literal(&self.literals[from..to])?;
            let start = fitting.at;
            fitting.gap(gap)?;
            with(number, (start, fitting.at))?;
            from = to;
        }
        fitting.literal(&self.literals[from..])
    }

    /// The shape of a frame that differs from this shape in the names of the block alone.
    pub(super) fn renamed(&self, frame: &[u8], data: usize, site: &Site) -> Option<Self> {
        let mut fitting = Fitting { input: frame, at: 0, text: None, count: None };
        let mut shape = Self::of(frame.len(), self.gaps.len());
        let names = self.names.iter().map(|(start, end)| (usize::from(*start), usize::from(*end)));
        let (mut from, mut names) = (0, names.filter(|(start, _)| *start > 0).peekable());
        let gaps = self.gaps.iter().map(|(to, gap)| (usize::from(*to), Some(*gap)));
        for (to, gap) in gaps.chain([(self.literals.len(), None)]) {
            while let Some((start, end)) = names.next_if(|(start, _)| *start < to) {
                fitting.literal(&self.literals[from..start])?;
                shape.literal(&self.literals[from..start]);
                let name = fitting.at;
                fitting.gap(if self.literals[..start].ends_with(b"\"") { Gap::Word } else { Gap::Digits })?;
                shape.name(&frame[name..fitting.at]);
                from = end;
            }
            fitting.literal(&self.literals[from..to])?;
            shape.literal(&self.literals[from..to]);
            from = to;
            if let Some(gap) = gap {
                fitting.gap(gap)?;
                shape.gap(gap);
            }
        }
        shape.locate(frame, data, site)?;
        (fitting.at == frame.len()).then_some(shape)
    }

    /// A frame of this shape with these values in its holes.
    pub(super) fn filled(&self, text: &[u8], word: &[u8], digits: &[u8], blanks: &[u8]) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.literals.len() + 64);
        let mut from = 0;
        for &(to, gap) in &self.gaps {
            let to = usize::from(to);
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

/// The comparison of a frame with a shape.
struct Fitting<'i> {
    input: &'i [u8],
    at: usize,
    /// The offset and the span of the text.
    text: Option<(usize, scan::StringSpan)>,
    count: Option<u64>,
}

impl Fitting<'_> {
    /// Moves behind literal bytes.
    #[inline]
    fn literal(&mut self, bytes: &[u8]) -> Option<()> {
        self.input.get(self.at..)?.starts_with(bytes).then(|| self.at += bytes.len())
    }

    /// Moves behind the value in a hole.
    #[inline]
    fn gap(&mut self, gap: Gap) -> Option<()> {
        let rest = self.input.get(self.at..)?;
        self.at += match gap {
            Gap::Text => {
                let found = scan::string(rest).filter(|found| found.len > 0)?;
                self.text = Some((self.at, found));
                found.len
            }
            Gap::Twin => {
                let (start, found) = self.text?;
                rest.starts_with(&self.input[start..start + found.len]).then_some(found.len)?
            }
            Gap::Word => scan::string(rest)?.len,
            Gap::Digits => scan::digits(rest)?,
            Gap::Count => {
                let len = scan::digits(rest)?;
                let number = rest[..len].iter().fold(0, |count, digit| count * 10 + u64::from(digit - b'0'));
                self.count = Some(number);
                len
            }
            Gap::Blanks => scan::blanks(rest),
        };
        Some(())
    }
}
