//! Where a JSON Pointer leads, as strictly and as leniently as anyone may read it.

use serde_json::Value;

use super::super::arguments::{self, Unreadable};
use crate::names;

/// A JSON Pointer, split into its keys.
#[derive(Debug, Clone)]
pub(super) struct Path(Vec<Segment>);

#[derive(Debug, Clone)]
struct Segment {
    key: String,
    folded: String,
}

impl Path {
    /// Of a pointer that is one.
    pub(super) fn new(pointer: &str) -> Self {
        let tokens = pointer.split('/').skip(1).map(|token| {
            let key = token.replace("~1", "/").replace("~0", "~");
            Segment { folded: fold(&key), key }
        });
        Self(tokens.collect())
    }

    /// The value there, unless a lenient reader could take another one for it.
    pub(super) fn only<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, token| match value {
            Value::Object(members) => {
                let twin = members.keys().any(|key| *key != token.key && fold(key) == token.folded);
                members.get(&token.key).filter(|_| !twin)
            }
            Value::Array(items) => items.get(index(&token.key)?),
            _ => None,
        })
    }

    /// Whether there is a value there exactly.
    pub(super) fn is_there(&self, value: &Value) -> bool {
        let pointer = self.0.iter().try_fold(value, |value, token| match value {
            Value::Object(members) => members.get(&token.key),
            Value::Array(items) => items.get(index(&token.key)?),
            _ => None,
        });
        pointer.is_some()
    }

    /// Whether this holds for any value that a lenient reader could find there: under a key in other letters, or in JSON
    /// that is written into a string.
    pub(super) fn any(&self, value: &Value, holds: &dyn Fn(&Value) -> bool) -> bool {
        any(value, &self.0, holds)
    }
}

fn any(value: &Value, tokens: &[Segment], holds: &dyn Fn(&Value) -> bool) -> bool {
    let Some((token, rest)) = tokens.split_first() else { return holds(value) };
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| **key == token.key || fold(key) == token.folded)
            .any(|(_, value)| any(value, rest, holds)),
        Value::Array(items) => {
            index(&token.key).and_then(|at| items.get(at)).is_some_and(|item| any(item, rest, holds))
        }
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => match arguments::parse(text) {
            Ok(value) => any(&value, tokens, holds),
            // Readers disagree on what it says.
            Err(Unreadable::DuplicateKey) => true,
            Err(Unreadable::NotJson) => false,
        },
        _ => false,
    }
}

/// A key as lax readers compare it: neither case nor what stands between words counts.
fn fold(key: &str) -> String {
    names::fold(key).chars().filter(|c| !matches!(c, '_' | ' ')).collect()
}

/// The place in a list, written without leading zeros.
fn index(token: &str) -> Option<usize> {
    let canonical = token == "0" || !token.starts_with(['0', '+']);
    token.parse().ok().filter(|_| canonical)
}
