//! Literals that are not JSON (Python's, Gemma's), written as JSON.

use crate::event::ProblemKind;
use crate::schema::push_string;

/// Reads literals one after the other.
pub(crate) struct Reader<'a> {
    text: &'a str,
    pos: usize,
    style: Style<'a>,
    depth: usize,
}

/// Whose literals they are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style<'a> {
    Python,
    /// Bare keys; strings between these quotes.
    Loose {
        quote: &'a str,
    },
}

type Failure = (usize, ProblemKind);

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str, style: Style<'a>) -> Self {
        Self { text, pos: 0, style, depth: 0 }
    }

    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    pub(crate) fn is_over(&self) -> bool {
        self.pos == self.text.len()
    }

    pub(crate) fn peek(&self) -> Option<char> {
        self.text[self.pos..].chars().next()
    }

    pub(crate) fn skip_space(&mut self) {
        let rest = &self.text[self.pos..];
        self.pos += rest.len() - rest.trim_start().len();
    }

    pub(crate) fn take(&mut self, what: &str) -> bool {
        let found = self.text[self.pos..].starts_with(what);
        if found {
            self.pos += what.len();
        }
        found
    }

    /// A bare word: an identifier, a key.
    pub(crate) fn word(&mut self) -> &'a str {
        let rest = &self.text[self.pos..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$')));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.pos += word.len();
        word
    }

    /// One value, as JSON.
    pub(crate) fn value(&mut self, out: &mut String) -> Result<(), Failure> {
        self.skip_space();
        match (self.peek(), self.style) {
            (Some('{'), _) => self.nested(out, '{', '}'),
            (Some('['), _) => self.nested(out, '[', ']'),
            (Some('('), Style::Python) => self.nested(out, '(', ')'),
            (_, Style::Loose { quote }) if self.take(quote) => self.loose_string(quote, out),
            (Some('"' | '\''), Style::Python) => self.python_string(out),
            _ => self.scalar(out),
        }
    }

    fn nested(&mut self, out: &mut String, open: char, close: char) -> Result<(), Failure> {
        if self.depth >= DEEPEST {
            return self.fail("fewer brackets in each other");
        }
        self.depth += 1;
        self.pos += 1;
        let is_object = open == '{';
        out.push(if is_object { '{' } else { '[' });
        let mut first = true;
        loop {
            self.skip_space();
            if self.peek() == Some(close) {
                self.pos += 1;
                break;
            }
            if !first {
                out.push(',');
            }
            first = false;
            if is_object {
                self.key(out)?;
            }
            self.value(out)?;
            self.skip_space();
            if !self.take(",") && self.peek() != Some(close) {
                return self.fail("a comma or a closing bracket");
            }
        }
        out.push(if is_object { '}' } else { ']' });
        self.depth -= 1;
        Ok(())
    }

    fn key(&mut self, out: &mut String) -> Result<(), Failure> {
        match (self.peek(), self.style) {
            (Some('"' | '\''), Style::Python) => self.python_string(out)?,
            (_, Style::Loose { quote }) if self.take(quote) => self.loose_string(quote, out)?,
            (_, Style::Loose { .. }) => {
                let word = self.word();
                if word.is_empty() {
                    return self.fail("a key");
                }
                push_string(word, out);
            }
            _ => return self.fail("a key in quotes"),
        }
        self.skip_space();
        if !self.take(":") {
            return self.fail("a colon");
        }
        out.push(':');
        Ok(())
    }

    fn loose_string(&mut self, quote: &str, out: &mut String) -> Result<(), Failure> {
        let Some(end) = self.text[self.pos..].find(quote) else { return self.fail("a closing quote") };
        push_string(&self.text[self.pos..self.pos + end], out);
        self.pos += end + quote.len();
        Ok(())
    }

    fn python_string(&mut self, out: &mut String) -> Result<(), Failure> {
        let rest = &self.text[self.pos..];
        let mark = &rest[..1];
        let triple = mark.repeat(3);
        let quote = if rest.starts_with(&triple) { triple } else { mark.to_owned() };
        self.pos += quote.len();
        let mut said = String::new();
        loop {
            if self.take(&quote) {
                break;
            }
            let Some(c) = self.peek() else { return self.fail("a closing quote") };
            self.pos += c.len_utf8();
            if c == '\\' { self.escape(&mut said)? } else { said.push(c) }
        }
        push_string(&said, out);
        Ok(())
    }

    fn escape(&mut self, said: &mut String) -> Result<(), Failure> {
        let Some(c) = self.peek() else { return self.fail("an escaped character") };
        self.pos += c.len_utf8();
        let digits = match c {
            'n' => return push(said, '\n'),
            't' => return push(said, '\t'),
            'r' => return push(said, '\r'),
            '0' => return push(said, '\0'),
            '\n' => return Ok(()),
            '\\' | '\'' | '"' => return push(said, c),
            'x' => 2,
            'u' => 4,
            'U' => 8,
            // Python keeps the backslash of an escape it does not know.
            _ => {
                said.push('\\');
                return push(said, c);
            }
        };
        let code =
            self.text.get(self.pos..self.pos + digits).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        let Some(c) = code.and_then(char::from_u32) else { return self.fail("a character's code") };
        self.pos += digits;
        push(said, c)
    }

    fn scalar(&mut self, out: &mut String) -> Result<(), Failure> {
        let from = self.pos;
        let rest = &self.text[from..];
        let end = rest.find([',', ']', '}', ')']).unwrap_or(rest.len());
        let word = rest[..end].trim();
        self.pos += end;
        match (word, self.style) {
            ("True", Style::Python) => out.push_str("true"),
            ("False", Style::Python) => out.push_str("false"),
            ("None", Style::Python) => out.push_str("null"),
            _ if !word.is_empty() && serde_json::from_str::<serde::de::IgnoredAny>(word).is_ok() => {
                out.push_str(word);
            }
            // A bare word of Gemma's is a string that lost its quotes.
            (_, Style::Loose { .. }) if !word.is_empty() => push_string(word, out),
            _ => return Err((from, ProblemKind::Malformed { expected: "a literal" })),
        }
        Ok(())
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, Failure> {
        Err((self.pos, ProblemKind::Malformed { expected }))
    }
}

fn push(said: &mut String, c: char) -> Result<(), Failure> {
    said.push(c);
    Ok(())
}

/// How deep brackets may stand in each other.
const DEEPEST: usize = 128;
