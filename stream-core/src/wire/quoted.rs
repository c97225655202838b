//! What a model said, within an error: providers and routers quote it there, and programs look for it in any field.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

use super::document::Value;
use super::{DecodeError, Decoded};

/// What an error holds of what a model said, by the keys under which the APIs write it.
///
/// A key counts at any depth, in lists, and in strings that hold JSON, however often they were escaped: up to [`LEVELS`](Self::LEVELS)
/// times; a string that was escaped more often counts as an answer. A key counts in every spelling that some parser takes for
/// it. A key whose value is empty, null, a number or a truth value says nothing. Neither does the `content` of a message whose `role`
/// is the user's, the system's or the developer's, where it is a string: servers repeat the request that they refuse.
///
/// ```
/// use stream_core::wire::Quoted;
///
/// let refused = br#"{"error":{"message":"no such model","code":404}}"#;
/// assert_eq!(Quoted::in_json(refused), Quoted::default());
/// let routed = br#"{"detail":{"raw":"{\"choices\":[{\"message\":{\"content\":\"hi\"}}]}"}}"#;
/// assert!(Quoted::in_json(routed).answer);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Quoted {
    /// An answer, or a part of one.
    pub answer: bool,
    /// A call that the provider could not parse (`failed_generation`).
    pub refused_call: bool,
}

impl Quoted {
    /// How often the JSON in a string may have been escaped.
    pub const LEVELS: usize = 8;

    /// What a JSON document holds. A document that cannot be read is searched as text.
    #[must_use]
    pub fn in_json(document: &[u8]) -> Self {
        Seen::of(document).quoted
    }

    /// What a member of an error holds.
    pub(super) fn in_member(key: &str, value: &str) -> Self {
        let Seen { mut quoted, says, .. } = Seen::of(value.as_bytes());
        quoted.and(Self::in_text(key));
        if says {
            quoted.add(key);
        }
        quoted
    }

    /// What a text holds, which may have JSON anywhere.
    #[must_use]
    pub fn in_text(text: &str) -> Self {
        let mut quoted = Self::default();
        quoted.keys_of(text);
        let mut unescaped = unescape(text);
        for _ in 0..Self::LEVELS {
            let Some(text) = unescaped else { return quoted };
            quoted.keys_of(&text);
            unescaped = unescape(&text);
        }
        quoted.answer |= unescaped.is_some();
        quoted
    }

    /// Returns whether a document holds anything that a model said.
    #[must_use]
    pub fn is_any(self) -> bool {
        self.answer || self.refused_call
    }

    /// Adds what stands under the quoted keys of a text. A quote that is escaped counts when it is unescaped.
    fn keys_of(&mut self, text: &str) {
        let mut start = None;
        for quote in memchr::memchr_iter(b'"', text.as_bytes()) {
            let key = start.replace(quote + 1).map_or("", |start| &text[start..quote]);
            let value = text[quote + 1..].trim_start().strip_prefix(':').map(str::trim_start);
            if value.is_some_and(|value| !key.ends_with('\\') && !begins_empty(value)) {
                self.add(key);
            }
        }
    }

    /// Adds a key that says something.
    fn add(&mut self, key: &str) {
        match word(key).as_str() {
            REFUSED => self.refused_call = true,
            word => self.answer |= ANSWER.contains(&word),
        }
    }

    fn and(&mut self, other: Self) {
        self.answer |= other.answer;
        self.refused_call |= other.refused_call;
    }
}

/// Refuses an error that holds what a model said, where a policy looks at the stream: nobody has judged it.
pub(super) fn none_in(into: &Decoded, error: Value<'_>) -> Result<(), DecodeError> {
    match into.memory.is_on && Quoted::in_json(error.raw().as_bytes()).is_any() {
        true => Err(refused()),
        false => Ok(()),
    }
}

pub(super) fn refused() -> DecodeError {
    DecodeError::ambiguous("an error without an answer in it", "one with an answer")
}

/// A key as the laxest parser compares it: letters and digits in lower case. A longer key is none of an API.
fn word(key: &str) -> String {
    if key.len() > LONGEST {
        return String::new();
    }
    let letters = key.chars().flat_map(char::to_uppercase).flat_map(char::to_lowercase);
    letters.filter(char::is_ascii_alphanumeric).collect()
}

/// Whether what follows is a value that says nothing.
fn begins_empty(value: &str) -> bool {
    let closes = |rest: &str, close: char| rest.trim_start().starts_with(close);
    match value.as_bytes() {
        [b'"', ..] => closes(&value[1..], '"'),
        [b'[', ..] => closes(&value[1..], ']'),
        [b'{', ..] => closes(&value[1..], '}'),
        [b'-' | b'0'..=b'9', ..] => true,
        _ => ["null", "true", "false"].iter().any(|word| value.starts_with(word)),
    }
}

/// A text with one level of JSON's escapes undone; `None` if it has none.
fn unescape(text: &str) -> Option<String> {
    let (mut out, mut rest, mut is_changed) = (String::new(), text, false);
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        let (letter, length) = match behind.as_bytes() {
            [letter @ (b'"' | b'\\' | b'/'), ..] => (char::from(*letter), 1),
            [b'n' | b'r' | b't' | b'b' | b'f', ..] => (' ', 1),
            [b'u', ..] => match behind.get(1..5).and_then(|digits| u32::from_str_radix(digits, 16).ok()) {
                Some(number) => (char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER), 5),
                None => ('\\', 0),
            },
            _ => ('\\', 0),
        };
        out.push(letter);
        is_changed |= length > 0;
        rest = &behind[length..];
    }
    out.push_str(rest);
    is_changed.then_some(out)
}

/// A value of a document: what it holds, and what it is to the object around it.
#[derive(Default)]
struct Seen {
    quoted: Quoted,
    says: bool,
    is_text: bool,
    /// The role of those who ask.
    asks: bool,
}

impl Seen {
    fn of(document: &[u8]) -> Self {
        serde_json::from_slice(document).unwrap_or_else(|_| {
            let quoted = Quoted::in_text(&String::from_utf8_lossy(document));
            Self { quoted, says: true, ..Self::default() }
        })
    }
}

impl<'de> Deserialize<'de> for Seen {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SeenVisitor)
    }
}

struct SeenVisitor;

impl<'de> Visitor<'de> for SeenVisitor {
    type Value = Seen;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Seen, E> {
        Ok(Seen::default())
    }

    fn visit_bool<E>(self, _: bool) -> Result<Seen, E> {
        Ok(Seen::default())
    }

    fn visit_u64<E>(self, _: u64) -> Result<Seen, E> {
        Ok(Seen::default())
    }

    fn visit_i64<E>(self, _: i64) -> Result<Seen, E> {
        Ok(Seen::default())
    }

    fn visit_f64<E>(self, _: f64) -> Result<Seen, E> {
        Ok(Seen::default())
    }

    fn visit_str<E>(self, text: &str) -> Result<Seen, E> {
        let asks = matches!(text, "user" | "system" | "developer");
        Ok(Seen { quoted: Quoted::in_text(text), says: !text.is_empty(), is_text: true, asks })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Seen, A::Error> {
        let mut all = Seen::default();
        while let Some(item) = items.next_element::<Seen>()? {
            all.quoted.and(item.quoted);
            all.says = true;
        }
        Ok(all)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Seen, A::Error> {
        let mut all = Seen::default();
        let (mut asks, mut asked) = (false, false);
        while let Some(key) = members.next_key::<String>()? {
            let value: Seen = members.next_value()?;
            all.quoted.and(value.quoted);
            all.quoted.and(Quoted::in_text(&key));
            all.says = true;
            asks |= key == "role" && value.asks;
            match key.as_str() {
                "content" if value.is_text => asked |= value.says,
                key if value.says => all.quoted.add(key),
                _ => {}
            }
        }
        all.quoted.answer |= asked && !asks;
        Ok(all)
    }
}

/// The keys under which an answer, or a call, stands.
const ANSWER: [&str; 10] = [
    "choices",
    "candidates",
    "output",
    "outputtext",
    "content",
    "parts",
    "toolcalls",
    "functioncall",
    "functioncalls",
    "arguments",
];

const REFUSED: &str = "failedgeneration";

/// Longer than any such key in any spelling.
const LONGEST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// JSON as a string, so many times.
    fn escaped(json: &str, times: usize) -> String {
        (0..times).fold(json.to_owned(), |json, _| crate::json::quote(&json))
    }

    #[test]
    fn a_key_in_a_string_counts_however_often_it_was_escaped() {
        for times in 0..=Quoted::LEVELS + 1 {
            let answer = Quoted { answer: true, ..Quoted::default() };
            assert_eq!(Quoted::in_json(escaped(r#"{"choices":[1]}"#, times).as_bytes()), answer, "{times}");
            let refused = Quoted { refused_call: true, ..Quoted::default() };
            let body = escaped(r#"{"failed_generation":"x"}"#, times.min(Quoted::LEVELS));
            assert_eq!(Quoted::in_json(body.as_bytes()), refused, "{times}");
        }
    }

    #[test]
    fn what_was_escaped_too_often_counts_as_an_answer() {
        for (times, answer) in [(Quoted::LEVELS + 1, false), (Quoted::LEVELS + 3, true)] {
            let body = escaped(r#"{"message":"no"}"#, times);
            assert_eq!(Quoted::in_json(body.as_bytes()).answer, answer, "{times}");
        }
    }

    #[test]
    fn what_is_no_json_is_searched_as_text() {
        let deep = "[".repeat(1000) + r#"{"choices":[1]}"#;
        assert!(Quoted::in_json(deep.as_bytes()).answer);
        assert!(Quoted::in_json(br#"{"x":"\ud800","output":"a"}"#).answer);
        assert_eq!(Quoted::in_json(br#"{"x":"\ud800","output":""}"#), Quoted::default());
    }

    #[test]
    fn many_quotes_and_backslashes_take_linear_time() {
        let quoted = |text: &str| Quoted::in_text(&text.repeat(1 << 18)).is_any();
        assert!(!quoted("\" ") && !quoted("\"a\":1,") && !quoted(r"C:\x"));
        assert!(!quoted("\"a\" : \"  ") && !quoted("\\u00"));
    }
}
