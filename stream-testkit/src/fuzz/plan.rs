//! The first line of a fuzzer's bytes.

use std::iter;

/// Numbers that the fuzzer chose: the bytes of the first line, over and over.
#[derive(Debug, Clone)]
pub struct Plan<'a> {
    line: &'a [u8],
    at: usize,
}

/// Splits a fuzzer's bytes into the plan and the rest.
#[must_use]
pub fn split(data: &[u8]) -> (Plan<'_>, &[u8]) {
    let end = data.iter().position(|byte| *byte == b'\n').unwrap_or(data.len());
    (Plan { line: &data[..end], at: 0 }, data.get(end + 1..).unwrap_or_default())
}

impl<'a> Plan<'a> {
    /// The next number; always 0 if the line is empty.
    pub fn number(&mut self) -> usize {
        let number = self.line.get(self.at).copied().unwrap_or_default();
        self.at = (self.at + 1) % self.line.len().max(1);
        number.into()
    }

    /// The next number below a limit.
    pub fn below(&mut self, limit: usize) -> usize {
        self.number() % limit
    }

    /// Cuts bytes into pieces of 1 to 32.
    pub fn cut<'b>(&self, mut rest: &'b [u8]) -> impl Iterator<Item = &'b [u8]> + use<'a, 'b> {
        let mut plan = self.clone();
        iter::from_fn(move || {
            let (piece, tail) = rest.split_at(rest.len().min(1 + plan.below(32)));
            rest = tail;
            (!piece.is_empty()).then_some(piece)
        })
    }

    /// Cuts a text into pieces of 1 to 32 characters.
    pub fn cut_text<'b>(&self, mut rest: &'b str) -> impl Iterator<Item = &'b str> + use<'a, 'b> {
        let mut plan = self.clone();
        iter::from_fn(move || {
            let end = rest.char_indices().nth(1 + plan.below(32)).map_or(rest.len(), |(at, _)| at);
            let (piece, tail) = rest.split_at(end);
            rest = tail;
            (!piece.is_empty()).then_some(piece)
        })
    }
}
