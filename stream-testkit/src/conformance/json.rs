//! JSON, read strictly.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// A JSON value and the keys that came twice in one of its objects; the last one is in the value.
pub(super) struct Strict {
    pub(super) value: Value,
    pub(super) twice: Vec<String>,
}

/// Reads exactly one JSON value.
pub(super) fn strict(bytes: &[u8]) -> Result<Strict, serde_json::Error> {
    let mut twice = Vec::new();
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let value = Reader { twice: &mut twice }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(Strict { value, twice })
}

/// Whether a call's arguments are empty or one JSON value.
pub(super) fn is_whole(arguments: &str) -> bool {
    arguments.is_empty() || serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok()
}

/// The string under a key, if it is a string.
pub(super) fn text<'a>(object: &'a Value, key: &str) -> Option<&'a str> {
    object.get(key).and_then(Value::as_str)
}

/// The number under a key, if it is a whole number.
pub(super) fn number(object: &Value, key: &str) -> Option<u64> {
    object.get(key).and_then(Value::as_u64)
}

/// The elements under a key; none if it is not a list.
pub(super) fn list<'a>(object: &'a Value, key: &str) -> &'a [Value] {
    object.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Whether there is something under a key that is neither null nor empty.
pub(super) fn filled(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(map) => !map.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// What came, for a message: short, and never more than its beginning.
pub(super) fn brief(value: Option<&Value>) -> String {
    let Some(value) = value else { return "none".to_owned() };
    quote(&value.to_string())
}

/// A text, for a message.
pub(super) fn quote(text: &str) -> String {
    let end = text.char_indices().nth(60).map_or(text.len(), |(at, _)| at);
    if end == text.len() { text.to_owned() } else { format!("{}…", &text[..end]) }
}

struct Reader<'a> {
    twice: &'a mut Vec<String>,
}

impl<'de> DeserializeSeed<'de> for Reader<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = access.next_element_seed(Reader { twice: self.twice })? {
            list.push(value);
        }
        Ok(list.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            let value = access.next_value_seed(Reader { twice: self.twice })?;
            if map.insert(key.clone(), value).is_some() {
                self.twice.push(key);
            }
        }
        Ok(map.into())
    }
}
