//! Calls as clients of Chat Completions build them.

use serde_json::Value;

use super::text;
use crate::models::reading::{Call, CallKind};

/// The treatment of a second name of a call.
#[derive(Clone, Copy)]
pub(super) enum Name {
    Joined,
    First,
    Last,
}

/// A call that is being built from its parts.
#[derive(Debug, Clone, Default)]
pub(super) struct Built {
    pub(super) custom: bool,
    pub(super) name: String,
    pub(super) arguments: String,
}

impl Built {
    pub(super) fn add(&mut self, part: &Value, name: Name) {
        if let Some(function) = part.get("function") {
            self.fields(function, name);
        }
        if let Some(custom) = part.get("custom").filter(|custom| custom.is_object()) {
            self.custom = true;
            self.fields(custom, name);
        }
    }

    /// Adds a part, unless the arguments are a complete JSON value already.
    pub(super) fn extend(&mut self, part: &Value) {
        let is_over = !self.arguments.is_empty() && serde_json::from_str::<Value>(&self.arguments).is_ok();
        if !is_over {
            self.add(part, Name::First);
        }
    }

    pub(super) fn fields(&mut self, fields: &Value, name: Name) {
        if let Some(said) = text(fields, "name").filter(|said| !said.is_empty()) {
            match name {
                Name::Joined => self.name.push_str(said),
                Name::Last => said.clone_into(&mut self.name),
                Name::First if self.name.is_empty() => said.clone_into(&mut self.name),
                Name::First => {}
            }
        }
        match fields.get("arguments").or_else(|| fields.get("input")) {
            Some(Value::String(text)) => self.arguments.push_str(text),
            Some(Value::Null) | None => {}
            Some(other) => self.arguments.push_str(&other.to_string()),
        }
    }

    pub(super) fn call(self) -> Call {
        let kind = if self.custom { CallKind::Custom } else { CallKind::Function };
        Call { kind, name: self.name, arguments: self.arguments }
    }
}

/// Calls by key, in the order of their first parts.
pub(super) struct Table<T = Built>(Vec<(String, Vec<T>)>);

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Default> Table<T> {
    pub(super) fn at(&mut self, key: &str) -> &mut Vec<T> {
        let at = self.0.iter().position(|(known, _)| known == key).unwrap_or_else(|| {
            self.0.push((key.to_owned(), Vec::new()));
            self.0.len() - 1
        });
        &mut self.0[at].1
    }

    pub(super) fn one(&mut self, key: &str) -> &mut T {
        let calls = self.at(key);
        if calls.is_empty() {
            calls.push(T::default());
        }
        &mut calls[0]
    }

    pub(super) fn built(self) -> impl Iterator<Item = T> {
        self.0.into_iter().flat_map(|(_, calls)| calls)
    }
}
