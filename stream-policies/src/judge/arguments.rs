//! Arguments, read strictly: what two readers could read differently is an error.

use std::fmt;

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};
use stream_core::CallFlavor;

use super::CompletedCall;

/// Why arguments cannot be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unreadable {
    /// They are no JSON, or no object, or not known.
    NotJson,
    /// A key stands twice in one object: readers disagree on which one counts.
    DuplicateKey,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotJson => "its arguments cannot be read",
            Self::DuplicateKey => "a key stands twice in its arguments",
        })
    }
}

/// The arguments of a call. None are an empty object; free text is a string.
pub(crate) fn read(call: &CompletedCall) -> Result<Value, Unreadable> {
    let raw = call.arguments();
    if call.is_opaque() {
        Err(Unreadable::NotJson)
    } else if call.flavor() == CallFlavor::Custom {
        Ok(Value::from(raw))
    } else if raw.trim().is_empty() {
        Ok(Value::Object(Map::new()))
    } else {
        // A client that takes a text or a list for arguments finds in it what no pointer leads to.
        parse(raw).and_then(|value| match value {
            Value::Object(_) | Value::Null => Ok(value),
            _ => Err(Unreadable::NotJson),
        })
    }
}

/// Whether a text is one JSON object in which no key stands twice.
pub(crate) fn is_object(text: &str) -> bool {
    parse(text).is_ok_and(|value| value.is_object())
}

pub(super) fn parse(text: &str) -> Result<Value, Unreadable> {
    match serde_json::from_str::<Strict>(text) {
        Ok(Strict(value)) => Ok(value),
        Err(error) if error.to_string().starts_with(DUPLICATE) => Err(Unreadable::DuplicateKey),
        Err(_) => Err(Unreadable::NotJson),
    }
}

/// Never shown to anyone: it only tells the two errors apart.
const DUPLICATE: &str = "a key stands twice";

struct Strict(Value);

impl<'de> Deserialize<'de> for Strict {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        StrictVisitor.deserialize(deserializer).map(Self)
    }
}

#[derive(Clone, Copy)]
struct StrictVisitor;

impl<'de> DeserializeSeed<'de> for StrictVisitor {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = map.next_key::<String>()? {
            let value = map.next_value_seed(self)?;
            if members.insert(key, value).is_some() {
                return Err(A::Error::custom(DUPLICATE));
            }
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_is_found_at_any_depth_and_however_it_is_written() {
        for twice in [r#"{"a":1,"a":2}"#, r#"[{"b":{"a":1,"a":1}}]"#, r#"{"a":1,"\u0061":2}"#] {
            assert_eq!(parse(twice), Err(Unreadable::DuplicateKey), "{twice}");
        }
        assert_eq!(parse(r#"{"a":{"a":1},"b":[{"a":1}]}"#).map(|value| value.is_object()), Ok(true));
    }

    #[test]
    fn what_is_not_one_json_value_cannot_be_read() {
        for broken in [r#"{"a":"#, "{} {}", "in", r#"{"a":1,}"#, "\u{feff}{}"] {
            assert_eq!(parse(broken), Err(Unreadable::NotJson), "{broken}");
        }
    }

    #[test]
    fn no_arguments_are_an_empty_object_and_free_text_is_a_string() {
        assert_eq!(read(&CompletedCall::new("now", "")), Ok(Value::Object(Map::new())));
        let patch = CompletedCall::new("patch", "*** Begin").with_flavor(CallFlavor::Custom);
        assert_eq!(read(&patch), Ok(Value::from("*** Begin")));
    }
}
