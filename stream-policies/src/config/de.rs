//! Settings out of a [`Node`]: errors tell path and place.

use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, MapAccess,
    SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;

use super::error::ConfigError;
use super::node::{Key, Node, Value};

/// Reads settings.
pub(crate) fn read<T: DeserializeOwned>(node: &Node) -> Result<T, ConfigError> {
    T::deserialize(De(node)).map_err(|error| {
        let place = error.place().or(node.place);
        error.at(place)
    })
}

#[derive(Clone, Copy)]
struct De<'a>(&'a Node);

impl<'de> Deserializer<'de> for De<'_> {
    type Error = ConfigError;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        match &self.0.value {
            Value::Nothing => visitor.visit_unit(),
            Value::Bool(value) => visitor.visit_bool(*value),
            Value::Int(value) => visitor.visit_i64(*value),
            Value::Uint(value) => visitor.visit_u64(*value),
            Value::Float(value) => visitor.visit_f64(*value),
            Value::Text(value) => visitor.visit_str(value),
            Value::List(items) => visitor.visit_seq(Items { items: items.iter(), at: 0 }),
            Value::Table(members) => visitor.visit_map(Members { members: members.iter(), next: None }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, ConfigError> {
        match &self.0.value {
            Value::Nothing => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    // Read from a list, the keys of a table would be told by their order.
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        match &self.0.value {
            Value::List(_) => Err(ConfigError::invalid_type(Unexpected::Seq, &visitor)),
            _ => self.deserialize_any(visitor),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        match &self.0.value {
            Value::Text(variant) => {
                visitor.visit_enum(IntoDeserializer::<ConfigError>::into_deserializer(variant.as_str()))
            }
            Value::Table(members) if members.len() == 1 => {
                visitor.visit_enum(Variant { key: &members[0].0, node: &members[0].1 })
            }
            _ => Err(ConfigError::custom(format!(
                "expected one of {}, found {}",
                variants.join(", "),
                self.0.kind()
            ))),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq
        tuple tuple_struct map identifier ignored_any
    }
}

struct Items<'a> {
    items: std::slice::Iter<'a, Node>,
    at: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = ConfigError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, ConfigError> {
        let Some(item) = self.items.next() else { return Ok(None) };
        let at = self.at;
        self.at += 1;
        seed.deserialize(De(item)).map(Some).map_err(|error| error.within(&format!("[{at}]"), item.place))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.items.len())
    }
}

struct Members<'a> {
    members: std::slice::Iter<'a, (Key, Node)>,
    next: Option<(&'a Key, &'a Node)>,
}

impl<'de> MapAccess<'de> for Members<'_> {
    type Error = ConfigError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, ConfigError> {
        let Some((key, node)) = self.members.next() else { return Ok(None) };
        self.next = Some((key, node));
        let name: StrDeserializer<'_, ConfigError> = key.name.as_str().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|error| {
            let place = error.place().or(key.place);
            error.at(place)
        })
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, ConfigError> {
        let Some((key, node)) = self.next.take() else {
            return Err(ConfigError::custom("expected a key before its value"));
        };
        seed.deserialize(De(node)).map_err(|error| error.within(&key.name, node.place.or(key.place)))
    }
}

/// A variant with content: a table with one key.
struct Variant<'a> {
    key: &'a Key,
    node: &'a Node,
}

impl<'de> EnumAccess<'de> for Variant<'_> {
    type Error = ConfigError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), ConfigError> {
        let name: StrDeserializer<'_, ConfigError> = self.key.name.as_str().into_deserializer();
        let value = seed.deserialize(name).map_err(|error| error.at(self.key.place))?;
        Ok((value, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = ConfigError;

    fn unit_variant(self) -> Result<(), ConfigError> {
        Err(ConfigError::custom(format!("expected {:?} alone, found a table", self.key.name))
            .at(self.key.place))
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, ConfigError> {
        seed.deserialize(De(self.node)).map_err(|error| error.within(&self.key.name, self.node.place))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, ConfigError> {
        De(self.node).deserialize_any(visitor).map_err(|error| error.within(&self.key.name, self.node.place))
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, ConfigError> {
        self.tuple_variant(0, visitor)
    }
}
