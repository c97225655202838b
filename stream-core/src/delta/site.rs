//! The place of a delta in the data of its frame.

/// The place of a delta in the data of its frame, or in a whole body. A writer takes the bytes of the delta from there, without a second
/// search.
///
/// A delta that was not read (inserted text, or a delta of a format that gives no spans) has empty spans.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Site {
    /// The JSON value that says the delta and can be kept or cut as one piece: an item of a list, an object, or the value of a member.
    /// Several deltas of one element have the same span.
    pub element: Span,
    /// The choice or candidate around the element; empty for a delta of the whole stream.
    pub holder: Span,
    /// The position of that choice among the choices of its frame.
    pub position: u32,
    /// The fields that hold the text: see [`Delta::read_in`](super::Delta::read_in).
    pub fields: u16,
    /// The element opens the numbered block of the slot, where the kind of the delta does not show whether it opens or continues the block.
    pub(crate) opens: bool,
}

/// A stretch of a frame's data, in bytes.
///
/// ```
/// use stream_core::delta::Span;
///
/// let data = r#"{"text":"Hi"}"#;
/// let text = Span::of(&data[8..12], data).unwrap();
/// assert_eq!(text, Span::new(8, 12));
/// assert_eq!(text.slice(data), "\"Hi\"");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// The span from `start` to before `end`.
    #[must_use]
    pub fn new(start: usize, end: usize) -> Self {
        Self { start: clamp(start), end: clamp(end) }
    }

    /// The span of `part`, which is a slice of `data`, as parsers that borrow from the data give them; `None` if `part` is no slice of `data`.
    #[must_use]
    pub fn of(part: &str, data: &str) -> Option<Self> {
        let start = (part.as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        (end <= data.len()).then(|| Self::new(start, end))
    }

    /// The first byte.
    #[must_use]
    pub fn start(self) -> usize {
        self.start as usize
    }

    /// The byte behind the last one.
    #[must_use]
    pub fn end(self) -> usize {
        self.end as usize
    }

    /// Returns whether the span has no bytes.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.start >= self.end
    }

    /// The stretch of `data`; empty where `data` is shorter, or is cut within a character.
    #[must_use]
    pub fn slice(self, data: &str) -> &str {
        data.get(self.start()..self.end()).unwrap_or_default()
    }
}

fn clamp(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
