//! A policy file, read from whichever format, with the places that the format tells.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

use super::error::{ConfigError, Place};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Option<Place>,
    pub(crate) value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Nothing,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Float(f64),
    Text(String),
    List(Vec<Node>),
    Table(Table),
}

/// The members of a table in their order.
pub(crate) type Table = Vec<(Key, Node)>;

/// A key and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    pub(crate) place: Option<Place>,
    pub(crate) name: String,
}

impl Node {
    pub(crate) fn new(place: Option<Place>, value: Value) -> Self {
        Self { place, value }
    }

    /// What kind of value it is, for an error.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Nothing => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) | Value::Uint(_) => "an integer",
            Value::Float(_) => "a number",
            Value::Text(_) => "a string",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The members, if it is a table.
    pub(crate) fn into_table(self, what: &str) -> Result<Table, ConfigError> {
        match self.value {
            Value::Table(members) => Ok(members),
            _ => Err(ConfigError::new(format!("expected {what}, found {}", self.kind())).at(self.place)),
        }
    }

    /// The place of what a path such as `deny[0].tools[1]` leads to, as far as it leads anywhere.
    pub(crate) fn place_of(&self, path: &str) -> Option<Place> {
        let mut node = self;
        let mut place = self.place;
        for step in
            path.split(['.', '[']).map(|step| step.trim_end_matches(']')).filter(|step| !step.is_empty())
        {
            let next = match &node.value {
                Value::Table(members) => {
                    let member = members.iter().find(|(key, _)| key.name == step);
                    member.map(|(key, node)| (key.place, node))
                }
                Value::List(items) => {
                    let item = step.parse().ok().and_then(|at: usize| items.get(at));
                    item.map(|node| (node.place, node))
                }
                _ => None,
            };
            let Some((at, inner)) = next else { break };
            place = at.or(place);
            node = inner;
        }
        place
    }
}

/// Takes a member out of a table.
pub(crate) fn take(table: &mut Table, name: &str) -> Option<(Key, Node)> {
    let at = table.iter().position(|(key, _)| key.name == name)?;
    Some(table.remove(at))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadNode)
    }
}

struct ReadNode;

impl<'de> Visitor<'de> for ReadNode {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a policy file")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::new(None, Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::new(None, Value::Int(value)))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::new(None, Value::Uint(value)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::new(None, Value::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::new(None, Value::Text(value.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::new(None, Value::Nothing))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::new(None, Value::Nothing))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::new(None, Value::List(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut members: Table = Vec::new();
        while let Some((name, node)) = map.next_entry::<String, Node>()? {
            if members.iter().any(|(key, _)| key.name == name) {
                return Err(serde::de::Error::custom(format!(
                    "expected the key {name} once, found it twice"
                )));
            }
            members.push((Key { place: None, name }, node));
        }
        Ok(Node::new(None, Value::Table(members)))
    }
}
