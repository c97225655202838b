//! JSON whose values keep their bytes, and objects that keep their order.
//!
//! Requests and frames are edited member by member: what an edit does not name leaves as it came, numbers and spaces
//! included.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Number, Value};

/// An object, as its members in order; each value is the text it came in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Object(Vec<(String, String)>);

impl Object {
    /// Reads an object.
    ///
    /// # Errors
    ///
    /// When the text is no object, or a key stands twice in it: readers would disagree over which one counts.
    pub(super) fn parse(text: &str) -> Result<Self, Unreadable> {
        serde_json::from_str(text).map_err(|_| Unreadable)
    }

    /// The text of a value.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// The text of a value that is not `null`.
    pub(super) fn some(&self, key: &str) -> Option<&str> {
        self.get(key).filter(|value| *value != "null")
    }

    /// A value that is a string.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.get(key)?).ok()
    }

    /// A value that is a number.
    pub(super) fn number(&self, key: &str) -> Option<u64> {
        serde_json::from_str(self.get(key)?).ok()
    }

    /// A value that is an object.
    pub(super) fn object(&self, key: &str) -> Option<Self> {
        Self::parse(self.get(key)?).ok()
    }

    /// The elements of a value that is an array; none if it is something else.
    pub(super) fn items(&self, key: &str) -> Vec<String> {
        self.get(key).and_then(items).unwrap_or_default()
    }

    /// A value, read.
    pub(super) fn value(&self, key: &str) -> Value {
        self.get(key).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Sets a value, in its place or at the end.
    pub(super) fn set(&mut self, key: &str, value: impl Into<String>) {
        match self.0.iter_mut().find(|(known, _)| known == key) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((key.to_owned(), value.into())),
        }
    }

    /// Sets a value where there is one.
    pub(super) fn replace(&mut self, key: &str, value: impl Into<String>) {
        if self.get(key).is_some() {
            self.set(key, value);
        }
    }

    /// Takes a member away; whether there was one.
    pub(super) fn remove(&mut self, key: &str) -> bool {
        let before = self.0.len();
        self.0.retain(|(known, _)| known != key);
        self.0.len() != before
    }

    /// The members.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (place, (key, value)) in self.0.iter().enumerate() {
            let comma = if place == 0 { "" } else { "," };
            write!(f, "{comma}{}:{value}", quote(key))?;
        }
        f.write_str("}")
    }
}

impl<'de> Deserialize<'de> for Object {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Object;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object that says each thing once")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Object, A::Error> {
                let mut members: Vec<(String, String)> = Vec::new();
                let mut known = std::collections::HashSet::new();
                while let Some(key) = map.next_key::<String>()? {
                    let value = map.next_value::<&RawValue>()?;
                    if !known.insert(key.clone()) {
                        return Err(A::Error::custom("a key stands twice"));
                    }
                    members.push((key, value.get().to_owned()));
                }
                Ok(Object(members))
            }
        }
        deserializer.deserialize_map(Members)
    }
}

/// Why an answer or a request cannot be worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unreadable;

/// The texts of an array's elements; `None` if the text is no array.
pub(super) fn items(text: &str) -> Option<Vec<String>> {
    let raw: Vec<&RawValue> = serde_json::from_str(text).ok()?;
    Some(raw.into_iter().map(|raw| raw.get().to_owned()).collect())
}

/// An array of these elements.
pub(super) fn array<T: AsRef<str>>(items: impl IntoIterator<Item = T>) -> String {
    let mut text = String::from("[");
    for item in items {
        if text.len() > 1 {
            text.push(',');
        }
        text.push_str(item.as_ref());
    }
    text.push(']');
    text
}

/// A string as JSON writes it.
pub(super) fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// Whether a text is one JSON value in which no object has a key twice: every parser reads the same from it.
pub(super) fn has_one_meaning(text: &str) -> bool {
    serde_json::from_str::<Once>(text).is_ok()
}

/// The whole answers of all turns.
pub(super) fn parsed(answers: &[&str]) -> Result<Vec<Object>, Unreadable> {
    answers.iter().map(|answer| Object::parse(answer)).collect()
}

/// The last answer, with these names of the first one and the counts of all. Its content is still that of the last answer alone.
pub(super) fn joined(answers: &[Object], names: &[&str], counts: &str) -> Result<Object, Unreadable> {
    let (Some(first), Some(last)) = (answers.first(), answers.last()) else { return Err(Unreadable) };
    let mut joined = last.clone();
    for key in names {
        if let Some(value) = first.get(key) {
            joined.replace(key, value);
        }
    }
    let sum = sum_of(answers, counts);
    if !sum.is_null() {
        joined.set(counts, sum.to_string());
    }
    Ok(joined)
}

/// The counts of all answers, added up.
pub(super) fn sum_of(answers: &[Object], counts: &str) -> Value {
    answers.iter().fold(Value::Null, |sum, answer| added(&sum, &answer.value(counts)))
}

/// Counts added up: numbers are added, objects member by member, lists of `{modality, tokenCount}` by modality. Where
/// two values cannot be added, the later one counts.
pub(super) fn added(earlier: &Value, later: &Value) -> Value {
    match (earlier, later) {
        (earlier, Value::Null) => earlier.clone(),
        (Value::Number(a), Value::Number(b)) => Value::Number(sum(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            let mut all = a.clone();
            for (key, later) in b {
                let sum = all.get(key).map_or_else(|| later.clone(), |earlier| added(earlier, later));
                all.insert(key.clone(), sum);
            }
            Value::Object(all)
        }
        (Value::Array(a), Value::Array(b)) if a.iter().chain(b).all(|item| item.get(MODALITY).is_some()) => {
            let mut all = a.clone();
            for later in b {
                match all.iter_mut().find(|known| known[MODALITY] == later[MODALITY]) {
                    Some(known) => {
                        let modality = known[MODALITY].clone();
                        *known = added(known, later);
                        known[MODALITY] = modality;
                    }
                    None => all.push(later.clone()),
                }
            }
            Value::Array(all)
        }
        (_, later) => later.clone(),
    }
}

fn sum(a: &Number, b: &Number) -> Number {
    match (a.as_u64(), b.as_u64()) {
        (Some(a), Some(b)) => a.saturating_add(b).into(),
        _ => {
            let sum = a.as_f64().unwrap_or_default() + b.as_f64().unwrap_or_default();
            Number::from_f64(sum).unwrap_or_else(|| b.clone())
        }
    }
}

const MODALITY: &str = "modality";

/// Any value in which no object has a key twice.
struct Once;

impl<'de> Deserialize<'de> for Once {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = Once;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value that says each thing once")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Once, A::Error> {
                let mut known = std::collections::HashSet::new();
                while let Some(key) = map.next_key::<String>()? {
                    map.next_value::<Once>()?;
                    if !known.insert(key) {
                        return Err(A::Error::custom("a key stands twice"));
                    }
                }
                Ok(Once)
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Once, A::Error> {
                while list.next_element::<Once>()?.is_some() {}
                Ok(Once)
            }

            fn visit_bool<E>(self, _: bool) -> Result<Once, E> {
                Ok(Once)
            }

            fn visit_i64<E>(self, _: i64) -> Result<Once, E> {
                Ok(Once)
            }

            fn visit_u64<E>(self, _: u64) -> Result<Once, E> {
                Ok(Once)
            }

            fn visit_f64<E>(self, _: f64) -> Result<Once, E> {
                Ok(Once)
            }

            fn visit_str<E>(self, _: &str) -> Result<Once, E> {
                Ok(Once)
            }

            fn visit_unit<E>(self) -> Result<Once, E> {
                Ok(Once)
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_keeps_the_bytes_and_the_order_of_what_is_not_edited() {
        let mut object = Object::parse(r#"{"z": 1.50,"a":[ 1 ],"m":null}"#).unwrap();
        object.set("a", "2");
        object.set("new", quote("x\"y"));
        assert!(object.remove("m"));
        assert!(!object.remove("m"));
        assert_eq!(object.to_string(), r#"{"z":1.50,"a":2,"new":"x\"y"}"#);
    }

    #[test]
    fn a_key_that_stands_twice_has_no_one_meaning() {
        assert_eq!(Object::parse(r#"{"a":1,"a":2}"#), Err(Unreadable));
        assert_eq!(Object::parse("[1]"), Err(Unreadable));
        assert!(has_one_meaning(r#"{"a":{"b":[1,-2,0.5,"x",null,true]}}"#));
        assert!(!has_one_meaning(r#"{"a":[{"b":1,"b":2}]}"#));
        assert!(!has_one_meaning("{"));
    }

    #[test]
    fn counts_are_added_up_at_every_depth() {
        let sum = added(
            &json!({"prompt": 3, "details": {"cached": 1}, "by": [{"modality": "TEXT", "tokenCount": 3}], "cost": 0.5}),
            &json!({"prompt": 4, "details": {"cached": 2, "audio": 5}, "by": [{"modality": "TEXT", "tokenCount": 4}, {"modality": "IMAGE", "tokenCount": 1}], "cost": 0.25, "tier": "x"}),
        );
        assert_eq!(
            sum,
            json!({"prompt": 7, "details": {"cached": 3, "audio": 5}, "by": [{"modality": "TEXT", "tokenCount": 7}, {"modality": "IMAGE", "tokenCount": 1}], "cost": 0.75, "tier": "x"})
        );
        assert_eq!(added(&json!({"a": 1}), &Value::Null), json!({"a": 1}));
    }
}
