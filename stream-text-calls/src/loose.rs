//! An object with bare keys and quotes of its own (Gemma): `{city:<|"|>Paris<|"|>,days:3}`.

use crate::event::ProblemKind;
use crate::json::Progress;
use crate::literal::{Reader, Style};

/// A resumable search for the brace that ends the object. Positions are in the text it is given, which only ever grows.
#[derive(Debug, Clone)]
pub(crate) struct Loose {
    pos: usize,
    depth: usize,
    in_string: bool,
    /// Where the opening brace ended.
    pub(crate) confirmed: Option<usize>,
}

impl Loose {
    pub(crate) fn at(pos: usize) -> Self {
        Self { pos, depth: 0, in_string: false, confirmed: None }
    }

    /// Where the object ends.
    pub(crate) fn end(&self) -> usize {
        self.pos + 1
    }

    pub(crate) fn run(&mut self, quote: &str, text: &[u8]) -> Progress {
        let quote = quote.as_bytes();
        while let Some(&byte) = text.get(self.pos) {
            let rest = &text[self.pos..];
            if byte == quote[0] && quote.starts_with(&rest[..rest.len().min(quote.len())]) {
                if rest.len() < quote.len() {
                    return Progress::More;
                }
                self.in_string = !self.in_string;
                self.pos += quote.len();
                continue;
            }
            match byte {
                _ if self.in_string => {}
                b'[' if self.depth == 0 => {
                    let kind = ProblemKind::Malformed { expected: "a brace" };
                    return Progress::Fail { end: self.pos, at: self.pos, kind };
                }
                b'{' | b'[' => {
                    self.depth += 1;
                    self.confirmed.get_or_insert(self.pos + 1);
                }
                b'}' | b']' if self.depth == 1 => return Progress::End(self.pos + 1),
                b'}' | b']' if self.depth > 1 => self.depth -= 1,
                _ if self.depth == 0 && !byte.is_ascii_whitespace() => {
                    let kind = ProblemKind::Malformed { expected: "a brace" };
                    return Progress::Fail { end: self.pos, at: self.pos, kind };
                }
                _ => {}
            }
            self.pos += 1;
        }
        Progress::More
    }
}

/// The object as JSON, in document order; where it goes wrong, the offset in `text` and why.
pub(crate) fn arguments(text: &str, quote: &str) -> Result<String, (usize, ProblemKind)> {
    let mut reader = Reader::new(text, Style::Loose { quote });
    let mut out = String::new();
    reader.value(&mut out)?;
    reader.skip_space();
    if reader.is_over() {
        Ok(out)
    } else {
        Err((reader.position(), ProblemKind::Malformed { expected: "the end" }))
    }
}
