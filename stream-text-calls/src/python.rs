//! Keyword arguments of a Python call, read to their closing parenthesis and turned into a JSON object.

use crate::event::ProblemKind;
use crate::json::Progress;
use crate::literal::{Reader, Style};

/// A resumable, string-aware search for the parenthesis that ends a call. Positions are in the text it is given, which
/// only ever grows.
#[derive(Debug, Clone)]
pub(crate) struct Python {
    pos: usize,
    depth: usize,
    string: Option<Quote>,
}

/// The quotes around a string.
#[derive(Debug, Clone, Copy)]
struct Quote {
    mark: u8,
    triple: bool,
}

impl Python {
    /// Begins behind the opening parenthesis.
    pub(crate) fn at(pos: usize) -> Self {
        Self { pos, depth: 1, string: None }
    }

    /// Where the closing parenthesis stands.
    pub(crate) fn end(&self) -> usize {
        self.pos
    }

    pub(crate) fn run(&mut self, text: &[u8], ended: bool) -> Progress {
        while let Some(&byte) = text.get(self.pos) {
            if let Some(quote) = self.string {
                match byte {
                    b'\\' if self.pos + 1 >= text.len() => return Progress::More,
                    b'\\' => self.pos += 1,
                    _ if byte != quote.mark => {}
                    _ if !quote.triple => self.string = None,
                    _ => match text.get(self.pos..self.pos + 3) {
                        Some(three) if three.iter().all(|byte| *byte == quote.mark) => {
                            self.string = None;
                            self.pos += 2;
                        }
                        None if !ended => return Progress::More,
                        _ => {}
                    },
                }
                self.pos += 1;
                continue;
            }
            match byte {
                b'"' | b'\'' => {
                    // Two quotes are an empty string or the begin of three: the third byte tells.
                    let rest = &text[self.pos..];
                    if rest.len() < 3 && rest.iter().all(|next| *next == byte) && !ended {
                        return Progress::More;
                    }
                    let triple = rest.len() >= 3 && rest[1] == byte && rest[2] == byte;
                    self.string = Some(Quote { mark: byte, triple });
                    self.pos += if triple { 2 } else { 0 };
                }
                b'(' | b'[' | b'{' => self.depth += 1,
                b')' | b']' | b'}' => {
                    self.depth -= 1;
                    if self.depth == 0 {
                        return if byte == b')' {
                            Progress::End(self.pos + 1)
                        } else {
                            let kind = ProblemKind::Malformed { expected: "a parenthesis" };
                            Progress::Fail { end: self.pos, at: self.pos, kind }
                        };
                    }
                }
                _ => {}
            }
            self.pos += 1;
        }
        Progress::More
    }
}

/// The arguments between the parentheses as a JSON object, in document order; where it goes wrong, the offset in
/// `text` and why.
pub(crate) fn arguments(text: &str) -> Result<String, (usize, ProblemKind)> {
    let mut reader = Reader::new(text, Style::Python);
    let mut keys: Vec<String> = Vec::new();
    let mut out = String::from("{");
    reader.skip_space();
    while !reader.is_over() {
        let from = reader.position();
        let key = reader.word().to_owned();
        reader.skip_space();
        if key.is_empty() || !reader.take("=") || reader.peek() == Some('=') {
            return Err((from, ProblemKind::UnnamedArgument));
        }
        if keys.contains(&key) {
            return Err((from, ProblemKind::RepeatedKey));
        }
        if !keys.is_empty() {
            out.push(',');
        }
        crate::schema::push_string(&key, &mut out);
        out.push(':');
        reader.value(&mut out)?;
        keys.push(key);
        reader.skip_space();
        if !reader.take(",") && !reader.is_over() {
            return Err((reader.position(), ProblemKind::Malformed { expected: "a comma" }));
        }
        reader.skip_space();
    }
    out.push('}');
    Ok(out)
}
