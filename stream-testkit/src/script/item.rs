//! What a script is made of.

use std::time::Duration;

/// The reason of the end of a choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Finish {
    /// The answer is complete.
    Stop,
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The limit of tokens was reached.
    Length,
    /// The provider stopped it: `content_filter`, `response.incomplete`, `refusal`, `SAFETY`.
    Filter,
}

/// The pieces of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fragments {
    /// Not at all.
    Whole,
    /// After this many characters.
    Chars(usize),
    /// After at most this many bytes; a character, which is never split, may be longer.
    Bytes(usize),
}

impl Fragments {
    /// The fragments, none of which is empty.
    #[must_use]
    pub fn split(self, text: &str) -> Vec<&str> {
        let mut fragments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (fragment, tail) = rest.split_at(self.first(rest));
            fragments.push(fragment);
            rest = tail;
        }
        fragments
    }

    /// Where the first fragment of a text that is not empty ends.
    fn first(self, text: &str) -> usize {
        let one = text.chars().next().map_or(text.len(), char::len_utf8);
        match self {
            Self::Whole => text.len(),
            Self::Chars(chars) => text.char_indices().nth(chars.max(1)).map_or(text.len(), |(end, _)| end),
            Self::Bytes(bytes) => {
                let fits = |end: &usize| text.is_char_boundary(*end);
                (one..=bytes.clamp(one, text.len())).rev().find(fits).unwrap_or(one)
            }
        }
    }
}

/// How items share chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    OneByOne,
    Interleaved,
    CallsTogether,
    AllTogether,
}

/// An item, the choice it belongs to, and the time before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) choice: u32,
    pub(super) pause: Duration,
    pub(super) item: Item,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    Text(String),
    Reasoning(String),
    Refusal(String),
    Call { id: String, name: String, arguments: String },
    Opaque { kind: String, json: String },
}

impl Item {
    fn is_call(&self) -> bool {
        matches!(self, Self::Call { .. })
    }
}

/// Neighbours that come together: under [`Packing::Interleaved`] those that may alternate, under
/// [`Packing::CallsTogether`] the calls of one choice. Else each item is alone.
pub(super) fn runs(entries: &[Entry], packing: Packing) -> Vec<&[Entry]> {
    let mut runs = Vec::new();
    let mut start = 0;
    for (next, entry) in entries.iter().enumerate().skip(1) {
        let run = &entries[start..next];
        let joins = match packing {
            Packing::Interleaved => run.iter().all(|other| may_alternate(other, entry)),
            Packing::CallsTogether => run.iter().all(|other| are_siblings(other, entry)),
            Packing::OneByOne | Packing::AllTogether => false,
        };
        if !joins {
            runs.push(run);
            start = next;
        }
    }
    if start < entries.len() {
        runs.push(&entries[start..]);
    }
    runs
}

fn may_alternate(one: &Entry, other: &Entry) -> bool {
    one.choice != other.choice || are_siblings(one, other)
}

fn are_siblings(one: &Entry, other: &Entry) -> bool {
    one.choice == other.choice && one.item.is_call() && other.item.is_call()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_never_split() {
        assert_eq!(Fragments::Whole.split("größe"), ["größe"]);
        assert_eq!(Fragments::Chars(2).split("größe"), ["gr", "öß", "e"]);
        assert_eq!(Fragments::Bytes(3).split("größe"), ["gr", "ö", "ße"]);
        assert_eq!(Fragments::Bytes(1).split("aö😀"), ["a", "ö", "😀"]);
        assert_eq!(Fragments::Chars(0).split("ab"), ["a", "b"]);
        assert_eq!(Fragments::Bytes(9).split(""), Vec::<&str>::new());
    }
}
