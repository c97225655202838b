//! The strict pass over JSON text: the scan reads every byte once, and decodes nothing.

use std::fmt;

/// The reason why a text is not the expected JSON, and the number of bytes before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) kind: FaultKind,
    pub(crate) at: usize,
}

/// The kinds of faults of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultKind {
    /// The text is no JSON.
    Syntax,
    /// A known key occurs twice in one object.
    Twice(&'static str),
    /// A key differs from a known key in its spelling alone, so that a lax parser mistakes one for the other.
    Near,
    /// A key sets the prototype of its object in clients that copy members by assignment.
    Prototype,
    /// The text is longer than 4 GiB, the range of a span.
    Long,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax => f.write_str("no JSON"),
            Self::Twice(key) => write!(f, "duplicate field `{key}`"),
            Self::Near => f.write_str("a key that is spelled almost like a known one"),
            Self::Prototype => f.write_str("a key that stands for a prototype"),
            Self::Long => f.write_str("more than 4 GiB"),
        }
    }
}

/// A position in a JSON text. The position moves forward only.
#[derive(Debug)]
pub(super) struct Scan<'a> {
    bytes: &'a [u8],
    pub(super) at: usize,
    /// The kind of the fault at this position, after a step has failed.
    kind: FaultKind,
}

/// The error of a step. The [fault](Scan::found) itself is stored in the scan, so that the result of a step fits into a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Faulty;

impl<'a> Scan<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { bytes: text.as_bytes(), at: 0, kind: FaultKind::Syntax }
    }

    /// The byte at this position. At the end the byte is 0, which occurs nowhere in JSON.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or(0)
    }

    /// Stores the fault at this position.
    #[cold]
    pub(super) fn fault(&mut self, kind: FaultKind) -> Faulty {
        self.kind = kind;
        Faulty
    }

    /// The stored fault.
    pub(super) fn found(&self) -> Fault {
        Fault { kind: self.kind, at: self.at }
    }

    #[inline]
    pub(super) fn space(&mut self) {
        while self.peek() <= b' ' && matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// Moves behind the expected byte and the white space after it; any other byte is a fault.
    #[inline]
    pub(super) fn expect(&mut self, byte: u8) -> Result<(), Faulty> {
        if self.peek() != byte {
            return Err(self.fault(FaultKind::Syntax));
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    /// Moves behind a comma and returns `true`, or behind the closing bracket and returns `false`.
    #[inline]
    pub(super) fn goes_on(&mut self, close: u8) -> Result<bool, Faulty> {
        self.space();
        match self.peek() {
            b',' => {
                self.at += 1;
                self.space();
                Ok(true)
            }
            byte if byte == close => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.fault(FaultKind::Syntax)),
        }
    }

    /// Moves behind a string. Returns whether the string has an escape.
    #[inline(always)]
    pub(super) fn string(&mut self) -> Result<bool, Faulty> {
        if self.peek() != b'"' {
            return Err(self.fault(FaultKind::Syntax));
        }
        self.at = plain(self.bytes, self.at + 1);
        if self.peek() == b'"' {
            self.at += 1;
            return Ok(false);
        }
        self.escaped_string()
    }

    /// Moves behind the rest of a string, from its first escape on.
    #[inline(never)]
    fn escaped_string(&mut self) -> Result<bool, Faulty> {
        loop {
            match self.peek() {
                b'"' => {
                    self.at += 1;
                    return Ok(true);
                }
                b'\\' => self.escape()?,
                _ => return Err(self.fault(FaultKind::Syntax)),
            }
            self.at = plain(self.bytes, self.at);
        }
    }

    fn escape(&mut self) -> Result<(), Faulty> {
        let escape = self.bytes.get(self.at + 1).copied().unwrap_or(0);
        let length = match escape {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => 2,
            b'u' => 6,
            _ => return Err(self.fault(FaultKind::Syntax)),
        };
        let hex = self.bytes.get(self.at + 2..self.at + length);
        if !hex.is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit)) {
            return Err(self.fault(FaultKind::Syntax));
        }
        self.at += length;
        Ok(())
    }

    /// Moves behind a number, a truth value or null.
    #[inline]
    pub(super) fn scalar(&mut self) -> Result<(), Faulty> {
        match self.peek() {
            b'n' => self.word(b"null"),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Faulty> {
        if !self.bytes[self.at..].starts_with(word) {
            return Err(self.fault(FaultKind::Syntax));
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), Faulty> {
        if self.peek() == b'-' {
            self.at += 1;
        }
        match self.peek() {
            b'0' => self.at += 1,
            _ => self.digits()?,
        }
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), Faulty> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        if self.at == start { Err(self.fault(FaultKind::Syntax)) } else { Ok(()) }
    }

    /// Moves behind any value. The upstream decides how deep values are nested: recursion would overflow the stack, and one bit per level
    /// does not.
    pub(super) fn value(&mut self) -> Result<(), Faulty> {
        let mut levels = Levels::default();
        loop {
            match self.peek() {
                b'"' => {
                    self.string()?;
                }
                b'{' => {
                    self.expect(b'{')?;
                    if self.peek() == b'}' {
                        self.at += 1;
                    } else {
                        levels.push(true);
                        self.key()?;
                        continue;
                    }
                }
                b'[' => {
                    self.expect(b'[')?;
                    if self.peek() == b']' {
                        self.at += 1;
                    } else {
                        levels.push(false);
                        continue;
                    }
                }
                _ => self.scalar()?,
            }
            loop {
                let Some(is_object) = levels.last() else { return Ok(()) };
                if self.goes_on(if is_object { b'}' } else { b']' })? {
                    if is_object {
                        self.key()?;
                    }
                    break;
                }
                levels.pop();
            }
        }
    }

    /// Moves behind a key and its colon.
    fn key(&mut self) -> Result<(), Faulty> {
        self.string()?;
        self.space();
        self.expect(b':')
    }
}

/// The kinds of the containers around a position: one bit per container, set for objects.
#[derive(Debug, Default)]
struct Levels {
    /// The innermost 64 containers.
    inner: u64,
    outer: Vec<u64>,
    depth: usize,
}

impl Levels {
    fn push(&mut self, is_object: bool) {
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.outer.push(self.inner);
        }
        self.inner = self.inner << 1 | u64::from(is_object);
        self.depth += 1;
    }

    fn pop(&mut self) {
        self.inner >>= 1;
        self.depth -= 1;
        if self.depth > 0 && self.depth.is_multiple_of(64) {
            self.inner = self.outer.pop().unwrap_or(0);
        }
    }

    fn last(&self) -> Option<bool> {
        (self.depth > 0).then_some(self.inner & 1 == 1)
    }
}

/// The position of the first special byte from `at` on: a quote, a backslash or a control character. The search compares eight bytes at
/// a time, and 32 in a long string.
#[inline]
fn plain(bytes: &[u8], mut at: usize) -> usize {
    let mut words = 0;
    while let Some(word) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let special = special(u64::from_le_bytes(*word));
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
        words += 1;
        if words == SHORT {
            at = long_plain(bytes, at);
        }
    }
    while bytes.get(at).is_some_and(|byte| !is_special(*byte)) {
        at += 1;
    }
    at
}

/// The position behind all blocks from `at` on that have no special byte.
#[inline(never)]
fn long_plain(bytes: &[u8], at: usize) -> usize {
    let blocks = bytes.get(at..).map_or(&[][..], |rest| rest.as_chunks::<BLOCK>().0);
    // The fold has no early exit, so that the compiler compares a block with vector instructions.
    let is_plain = |block: &&[u8; BLOCK]| !block.iter().fold(false, |any, byte| any | is_special(*byte));
    at + blocks.iter().take_while(is_plain).count() * BLOCK
}

/// The number of words that are compared one by one before the search goes on in blocks.
const SHORT: usize = 4;

/// The number of bytes in a block.
const BLOCK: usize = 32;

/// Whether a byte ends a run of plain bytes in a string.
const fn is_special(byte: u8) -> bool {
    byte < b' ' || byte == b'"' || byte == b'\\'
}

/// The high bit of every special byte of a word. Only the lowest set bit is exact: a carry may set the bits of the bytes above.
#[inline]
pub(crate) const fn special(word: u64) -> u64 {
    let quotes = (word ^ repeat(b'"')).wrapping_sub(repeat(1));
    let escapes = (word ^ repeat(b'\\')).wrapping_sub(repeat(1));
    (quotes | escapes | word.wrapping_sub(repeat(b' '))) & !word & repeat(0x80)
}

const fn repeat(byte: u8) -> u64 {
    u64::from_ne_bytes([byte; 8])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::de::IgnoredAny;

    use super::*;

    fn is_json(text: &str) -> bool {
        let mut scan = Scan::new(text);
        scan.space();
        scan.value().is_ok() && {
            scan.space();
            scan.at == text.len()
        }
    }

    #[track_caller]
    fn agrees(text: &str) {
        assert_eq!(is_json(text), serde_json::from_str::<IgnoredAny>(text).is_ok(), "{text:?}");
    }

    #[test]
    fn the_scan_takes_what_serde_takes() {
        for text in [
            "",
            " ",
            "null",
            "nul",
            "true",
            "truefalse",
            "0",
            "-0",
            "00",
            "01",
            "-",
            "1.",
            "1.5e+10",
            "1e",
            "1E-2",
            ".5",
            "+1",
            "\"\"",
            "\"",
            "\"\\\"",
            "\"\\u00e9\"",
            "\"\\u00e\"",
            "\"\\x\"",
            "\"a\tb\"",
            "\"12345678\"",
            "\"1234567\u{1f}\"",
            "\"é\"",
            "[]",
            "[ ]",
            "[1,]",
            "[,1]",
            "[1 2]",
            "[1,2",
            "{}",
            "{ }",
            "{\"a\":1}",
            "{\"a\" : [1, {\"b\":{}}]}",
            "{\"a\"}",
            "{\"a\":}",
            "{a:1}",
            "{\"a\":1,}",
            "{\"a\":1 \"b\":2}",
            "[]]",
            "{\"a\":1}}",
            "[}",
            "{]",
            "\u{feff}1",
            "nan",
            "1_0",
            "\"\\ud800\"",
        ] {
            agrees(text);
        }
    }

    #[test]
    fn a_string_of_any_length_ends_where_it_does() {
        for before in (0..200).chain([1000, 1001]) {
            let text = "a".repeat(before);
            for rest in ["", "é", "\\n", "\\x", "\t", "\"", "\u{1f}", "\u{7f}"] {
                agrees(&format!("\"{text}{rest}{text}\""));
                agrees(&format!("\"{text}{rest}"));
            }
        }
    }

    #[test]
    fn levels_are_kept_at_any_depth() {
        for depth in [1, 63, 64, 65, 127, 128, 129, 1000] {
            let open = "[{\"a\":".repeat(depth);
            let close = "}]".repeat(depth);
            assert!(is_json(&format!("{open}1{close}")), "{depth}");
            assert!(!is_json(&format!("{open}1{}", "]}".repeat(depth))), "{depth}");
            assert!(!is_json(&format!("{open}1{close}]")), "{depth}");
        }
    }

    proptest! {
        #[test]
        fn the_scan_agrees_with_serde_on_any_text(text in r#"([\[\]{}",:\\ 0-9.eEnultrfas\x01-]|\\u[0-9a-f]{4}|null|true){0,24}"#) {
            let judged = serde_json::from_str::<IgnoredAny>(&text).is_ok();
            prop_assert_eq!(is_json(&text), judged);
        }
    }
}
