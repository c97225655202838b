//! Reading JSON whose keys are spelled as they should be.
//!
//! Some JSON parsers take `Tool_Calls` or `toolCalls` for `tool_calls`: Go's is blind to case, pydantic's aliases to
//! underscores. What stands under such a key would be read by a client and seen by no policy, so that an object
//! with one is malformed, as one with a known key twice is (rule 9).

use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde::forward_to_deserialize_any;

/// Reads a document into a view.
pub(crate) fn from_str<'a, T: Deserialize<'a>>(json: &'a str) -> serde_json::Result<T> {
    let mut document = serde_json::Deserializer::from_str(json);
    let view = T::deserialize(Spelled(&mut document))?;
    document.end()?;
    Ok(view)
}

/// Reads a document into a view.
pub(crate) fn from_slice<'a, T: Deserialize<'a>>(json: &'a [u8]) -> serde_json::Result<T> {
    let mut document = serde_json::Deserializer::from_slice(json);
    let view = T::deserialize(Spelled(&mut document))?;
    document.end()?;
    Ok(view)
}

/// Errs on a key that is none of these names, yet is one of them to a lax parser.
pub(crate) fn check<E: Error>(key: &str, names: &[&'static str]) -> Result<(), E> {
    if names.contains(&key) || !names.iter().any(|name| is_near(key, name)) {
        return Ok(());
    }
    Err(E::custom("a key that is spelled almost like a known one"))
}

/// Whether a lax parser takes a key for this name.
pub(crate) fn is_near(key: &str, name: &str) -> bool {
    letters(key).eq(letters(name))
}

/// The bytes of a word as a lax parser compares them.
fn letters(word: &str) -> impl Iterator<Item = u8> + '_ {
    word.bytes().filter(|byte| !matches!(byte, b'_' | b'-')).map(|byte| byte.to_ascii_lowercase())
}

/// Hands a deserializer on, and looks at the keys of every struct that is read from it.
struct Spelled<D>(D);

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Spelled<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_any(Watched { visitor, names: None })
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_option(Watched { visitor, names: None })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_struct(name, fields, Watched { visitor, names: Some(fields) })
    }

    /// Raw values and words: neither has keys that are read here.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        self.0.deserialize_newtype_struct(name, visitor)
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.0.deserialize_ignored_any(visitor)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map enum identifier
    }
}

/// A visitor whose nested values are read in the same way.
struct Watched<V> {
    visitor: V,
    names: Option<&'static [&'static str]>,
}

macro_rules! hand_on {
    ($($method:ident($type:ty)),+ $(,)?) => {
        $(fn $method<E: Error>(self, value: $type) -> Result<Self::Value, E> {
            self.visitor.$method(value)
        })+
    };
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Watched<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    hand_on! {
        visit_bool(bool), visit_i64(i64), visit_u64(u64), visit_f64(f64), visit_str(&str),
        visit_borrowed_str(&'de str), visit_string(String),
    }

    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_unit()
    }

    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.visitor.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Spelled(deserializer))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_seq(Items(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<V::Value, A::Error> {
        self.visitor.visit_map(Members { members, names: self.names })
    }
}

struct Items<A>(A);

impl<'de, A: SeqAccess<'de>> SeqAccess<'de> for Items<A> {
    type Error = A::Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, A::Error> {
        self.0.next_element_seed(Nested(seed))
    }
}

struct Members<A> {
    members: A,
    names: Option<&'static [&'static str]>,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Members<A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, A::Error> {
        match self.names {
            Some(names) => self.members.next_key_seed(Key { inner: seed, names }),
            None => self.members.next_key_seed(seed),
        }
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, A::Error> {
        self.members.next_value_seed(Nested(seed))
    }
}

/// A value within another.
struct Nested<S>(S);

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Nested<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.0.deserialize(Spelled(deserializer))
    }
}

/// A key on its way to the struct that knows it: the seed, the deserializer and the visitor each pass it on.
struct Key<T> {
    inner: T,
    names: &'static [&'static str],
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Key<S> {
    type Value = S::Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<S::Value, D::Error> {
        self.inner.deserialize(Key { inner: deserializer, names: self.names })
    }
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Key<D> {
    type Error = D::Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        self.inner.deserialize_identifier(Key { inner: visitor, names: self.names })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Key<V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.expecting(f)
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<V::Value, E> {
        check(key, self.names)?;
        self.inner.visit_str(key)
    }

    fn visit_borrowed_str<E: Error>(self, key: &'de str) -> Result<V::Value, E> {
        check(key, self.names)?;
        self.inner.visit_borrowed_str(key)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::*;

    #[derive(Debug, Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        tool_calls: Option<Vec<Option<Inner<'a>>>>,
    }

    #[derive(Debug, Deserialize)]
    struct Inner<'a> {
        #[serde(borrow)]
        name: Option<&'a RawValue>,
    }

    fn names(json: &str) -> Option<Vec<String>> {
        let outer: Outer<'_> = from_str(json).ok()?;
        let calls = outer.tool_calls.into_iter().flatten().flatten();
        Some(calls.filter_map(|call| call.name).map(|name| name.get().to_owned()).collect())
    }

    #[test]
    fn known_and_foreign_keys_are_read_as_ever() {
        let json = r#"{"x":{"Name":1},"tool_calls":[null,{"name":"a","naming":1},{"n\u0061me":2}]}"#;
        assert_eq!(names(json), Some(vec![r#""a""#.to_owned(), "2".to_owned()]));
        assert_eq!(names(r#"{"tool_calls":null}"#), Some(Vec::new()));
        assert_eq!(names(r#"{} {}"#), None);
    }

    #[test]
    fn a_key_that_is_spelled_almost_like_a_known_one_is_an_error_at_any_depth() {
        for json in [
            r#"{"Tool_Calls":[]}"#,
            r#"{"toolCalls":[]}"#,
            r#"{"tool_calls":[],"TOOL-CALLS":[]}"#,
            r#"{"tool_calls":[{"Name":"a"}]}"#,
            r#"{"tool_calls":[{"name":"b","\u004eame":"a"}]}"#,
        ] {
            assert_eq!(names(json), None, "{json}");
        }
    }
}
