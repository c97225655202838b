//! Raw JSON: read members as slices, splice new values in, build objects. All other bytes stay as they came.
//!
//! Only frames that are written anew come here; the way of an untouched frame is typed and borrowed.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The members of an object in their order, values as raw slices of `object`; `None` if it is none.
pub(crate) fn members(object: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    serde_json::from_str::<Members<'_>>(object).ok().map(|members| members.0)
}

/// The items of an array as raw slices of `array`; `None` if it is none.
pub(crate) fn items(array: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = serde_json::from_str(array).ok()?;
    Some(items.into_iter().map(RawValue::get).collect())
}

/// The raw value of a member.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    members(object)?.into_iter().find(|(key, _)| key == name).map(|(_, value)| value)
}

/// One step of a path into a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum At<'p> {
    Key(&'p str),
    Item(usize),
}

/// The raw value at a path.
pub(crate) fn find<'a>(document: &'a str, path: &[At<'_>]) -> Option<&'a str> {
    path.iter().try_fold(document, |value, step| match *step {
        At::Key(name) => member(value, name),
        At::Item(index) => items(value)?.get(index).copied(),
    })
}

/// Puts raw values in place of those at the paths and keeps every other byte. A path that leads nowhere is left out.
pub(crate) fn patch(document: &str, edits: &[(&[At<'_>], &str)]) -> String {
    let base = document.as_ptr() as usize;
    let mut splices: Vec<(usize, usize, &str)> = edits
        .iter()
        .filter_map(|(path, new)| {
            let old = find(document, path)?;
            let start = old.as_ptr() as usize - base;
            Some((start, start + old.len(), *new))
        })
        .collect();
    splices.sort_unstable_by_key(|splice| splice.0);
    let mut patched = String::with_capacity(document.len() + 16);
    let mut done = 0;
    for (start, end, new) in splices {
        patched.push_str(&document[done..start]);
        patched.push_str(new);
        done = end;
    }
    patched.push_str(&document[done..]);
    patched
}

/// The number that `raw` is, if it is a plain one: digits alone, without a sign, a fraction, an exponent or quotes.
pub(crate) fn count(raw: &str) -> Option<u64> {
    let plain = raw.bytes().all(|byte| byte.is_ascii_digit());
    raw.parse().ok().filter(|_| plain)
}

/// `text` as a JSON string.
pub(crate) fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The string a raw value is; `None` if it is none.
pub(crate) fn unquote(raw: &str) -> Option<String> {
    serde_json::from_str(raw).ok()
}

/// Whether `raw` is one whole JSON object.
pub(crate) fn is_object(raw: &str) -> bool {
    members(raw).is_some()
}

/// Builds an object member by member.
#[derive(Debug)]
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    /// Adds a member whose value is raw JSON.
    pub(crate) fn raw(mut self, name: &str, value: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quote(name));
        self.0.push(':');
        self.0.push_str(value);
        self
    }

    /// Adds a string.
    pub(crate) fn string(self, name: &str, value: &str) -> Self {
        self.raw(name, &quote(value))
    }

    /// Adds a number.
    pub(crate) fn number(self, name: &str, value: u64) -> Self {
        let mut digits = String::new();
        let _ = write!(digits, "{value}");
        self.raw(name, &digits)
    }

    pub(crate) fn finish(mut self) -> String {
        self.0.push('}');
        self.0
    }
}

/// Builds an array of raw values.
pub(crate) fn array<S: AsRef<str>>(values: impl IntoIterator<Item = S>) -> String {
    let mut array = String::from("[");
    for value in values {
        if array.len() > 1 {
            array.push(',');
        }
        array.push_str(value.as_ref());
    }
    array.push(']');
    array
}

struct Members<'a>(Vec<(Cow<'a, str>, &'a str)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = Vec::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            members.push((key.0, map.next_value::<&'de RawValue>()?.get()));
        }
        Ok(Members(members))
    }
}

/// A key, borrowed where it has no escape (a bare `Cow` would always own).
#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// The brackets of a JSON text that comes in pieces.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nesting {
    depth: usize,
    in_string: bool,
    escaped: bool,
    /// Anything but white space has come.
    begun: bool,
}

impl Nesting {
    /// Reads on.
    pub(crate) fn read(&mut self, piece: &str) {
        for byte in piece.bytes() {
            self.begun |= !byte.is_ascii_whitespace();
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
    }

    /// Whether something has come, and all of its brackets and strings are closed.
    pub(crate) fn is_whole(&self) -> bool {
        self.begun && self.depth == 0 && !self.in_string
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patch_keeps_every_other_byte() {
        let document = r#"{ "a" : [1, {"b":2.0e0}],  "c":"x" }"#;
        let path = [At::Key("a"), At::Item(1), At::Key("b")];
        assert_eq!(
            patch(document, &[(&path, "7"), (&[At::Key("c")], "null"), (&[At::Key("none")], "1")]),
            r#"{ "a" : [1, {"b":7}],  "c":null }"#
        );
    }

    #[test]
    fn members_keep_order_and_raw_values() {
        let members = members(r#"{"z":1.50,"a\n":[ 1 ]}"#).unwrap();
        assert_eq!(members, [(Cow::from("z"), "1.50"), (Cow::from("a\n"), "[ 1 ]")]);
    }

    #[test]
    fn an_object_is_built_in_order() {
        let object = Object::new().string("a", "x\"y").number("n", 3).raw("r", "[1]").finish();
        assert_eq!(object, r#"{"a":"x\"y","n":3,"r":[1]}"#);
    }
}
