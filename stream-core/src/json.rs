//! Raw JSON: read members as slices, splice new values in, build objects. All other bytes stay as they came.
//!
//! Only frames that are written anew come here; the way of an untouched frame is typed and borrowed.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::wire::document::{self, Of, Spans, Table};

/// An object of which nothing is known.
static ANY: Table = Table::loose(&[]);

/// The members of an object in their order, values as raw slices of `object`; `None` if it is none.
pub(crate) fn members(object: &str) -> Option<Vec<(Cow<'_, str>, &str)>> {
    let mut spans = Spans::default();
    let value = spans.read(object, Of::Object(&ANY)).ok().filter(|value| value.is_object())?;
    let parts = value.members().map(|(_, member)| {
        Some((document::unquote(member.key_span().slice(object))?, member.span().slice(object)))
    });
    parts.collect()
}

/// The items of an array as raw slices of `array`; `None` if it is none.
pub(crate) fn items(array: &str) -> Option<Vec<&str>> {
    let mut spans = Spans::default();
    let value = spans.read(array, Of::List(&Of::Leaf)).ok().filter(|value| value.is_list())?;
    Some(value.items().map(|item| item.span().slice(array)).collect())
}

/// The raw value of a member.
pub(crate) fn member<'a>(object: &'a str, name: &str) -> Option<&'a str> {
    let mut spans = Spans::default();
    let read = spans.read(object, Of::Object(&ANY)).ok().filter(|value| value.is_object())?;
    let (_, member) = read.members().find(|(key, _)| key == name)?;
    Some(member.span().slice(object))
}

/// The raw value at a path of member names.
pub(crate) fn find<'a>(document: &'a str, path: &[&str]) -> Option<&'a str> {
    path.iter().try_fold(document, |value, name| member(value, name))
}

/// The object with raw values in place of those that these members have. A member that is not there is left out; every
/// other byte stays.
pub(crate) fn set(object: &str, new: &[(&str, &str)]) -> String {
    let changed = document::rewrite(object, Of::Object(&ANY), |object, rewrite| {
        for (name, raw) in new {
            if let Some((_, member)) = object.members().find(|(key, _)| key == name) {
                rewrite.set(member, *raw);
            }
        }
    });
    changed.into_owned()
}

/// An object of the members for which `new` has a value, in their order; what is no object has none.
pub(crate) fn map<'a>(object: &'a str, mut new: impl FnMut(&str, &'a str) -> Option<Cow<'a, str>>) -> Object {
    members(object).unwrap_or_default().into_iter().fold(Object::new(), |object, (name, raw)| {
        match new(&name, raw) {
            Some(new) => object.raw(&name, &new),
            None => object,
        }
    })
}

/// An object of the members of these names, in their order.
pub(crate) fn only(object: &str, names: &[&str]) -> Object {
    map(object, |name, raw| names.contains(&name).then_some(Cow::Borrowed(raw)))
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
#[derive(Debug, Clone)]
pub(crate) struct Object(String);

impl Object {
    pub(crate) fn new() -> Self {
        Self(String::from("{"))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.len() == 1
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

    /// Adds a member whose value is raw JSON, where there is one.
    pub(crate) fn maybe(self, name: &str, value: Option<&str>) -> Self {
        match value {
            Some(value) => self.raw(name, value),
            None => self,
        }
    }

    /// Adds a number.
    pub(crate) fn number(self, name: &str, value: u64) -> Self {
        let mut digits = String::new();
        let _ = write!(digits, "{value}");
        self.raw(name, &digits)
    }

    /// Adds the members of another object.
    pub(crate) fn and(mut self, other: &Self) -> Self {
        if self.0.len() > 1 && other.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&other.0[1..]);
        self
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
    fn set_keeps_every_other_byte() {
        let document = r#"{ "a" : [1, {"b":2.0e0}],  "c":"x" }"#;
        assert_eq!(set(document, &[("c", "null"), ("a", "7"), ("none", "1")]), r#"{ "a" : 7,  "c":null }"#);
        assert_eq!(set("[1]", &[("a", "7")]), "[1]");
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
