//! A policy file in TOML, with lines and columns.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{ConfigError, Place};
use super::node::{Key, Node, Table, Value};

/// Reads a TOML text.
pub(crate) fn parse(text: &str) -> Result<Node, ConfigError> {
    let places = Places(text);
    let table = DeTable::parse(text).map_err(|error| {
        // The parser quotes no more than a key or a character.
        ConfigError::new(error.message()).at(error.span().map(|span| places.at(&span)))
    })?;
    let place = Some(places.at(&table.span()));
    Ok(Node::new(place, Value::Table(places.table(table.get_ref())?)))
}

struct Places<'a>(&'a str);

impl Places<'_> {
    fn at(&self, span: &Range<usize>) -> Place {
        let before = &self.0[..span.start.min(self.0.len())];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Place { line, column }
    }

    fn table(&self, table: &DeTable<'_>) -> Result<Table, ConfigError> {
        let mut members: Vec<(usize, (Key, Node))> = Vec::new();
        for (name, value) in table {
            let key = Key { place: Some(self.at(&name.span())), name: name.get_ref().to_string() };
            let node = self.node(value).map_err(|error| error.within(&key.name, key.place))?;
            members.push((name.span().start, (key, node)));
        }
        members.sort_by_key(|(start, _)| *start);
        Ok(members.into_iter().map(|(_, member)| member).collect())
    }

    fn node(&self, value: &Spanned<DeValue<'_>>) -> Result<Node, ConfigError> {
        let place = Some(self.at(&value.span()));
        let wrong = |what: &str| ConfigError::new(what).at(place);
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(digits) => {
                let number = i64::from_str_radix(digits.as_str(), digits.radix());
                Value::Int(number.map_err(|_| wrong("expected an integer of 64 bits, found a larger one"))?)
            }
            DeValue::Float(digits) => {
                let number = digits.as_str().parse();
                Value::Float(number.map_err(|_| wrong("expected a number, found another word"))?)
            }
            DeValue::Boolean(value) => Value::Bool(*value),
            DeValue::Datetime(_) => return Err(wrong("expected a string or a number, found a date")),
            DeValue::Array(items) => {
                let nodes = items.iter().enumerate().map(|(at, item)| {
                    self.node(item).map_err(|error| error.within(&format!("[{at}]"), place))
                });
                Value::List(nodes.collect::<Result<_, _>>()?)
            }
            DeValue::Table(table) => Value::Table(self.table(table)?),
        };
        Ok(Node::new(place, value))
    }
}
