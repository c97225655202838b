//! Which type a parameter has, so that tagged values become the JSON that the tool expects.

use std::collections::HashMap;

use serde_json::Value;

use crate::tool::Tool;

/// The tools that were offered: their names, and the types of their parameters as far as they are known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Schemas {
    tools: HashMap<String, HashMap<String, Types>>,
}

/// The JSON types a value may have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Types {
    string: bool,
    number: bool,
    boolean: bool,
    null: bool,
    object: bool,
    array: bool,
}

impl Schemas {
    pub(crate) fn new(tools: &[Tool]) -> Self {
        let types = |tool: &Tool| {
            let schema = tool.parameters().and_then(|schema| serde_json::from_str::<Value>(schema).ok());
            let properties = schema.as_ref().and_then(|schema| schema.get("properties")?.as_object());
            properties.into_iter().flatten().map(|(key, schema)| (key.clone(), Types::of(schema))).collect()
        };
        Self { tools: tools.iter().map(|tool| (tool.name().to_owned(), types(tool))).collect() }
    }

    /// Whether nothing is known of what was offered.
    pub(crate) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    pub(crate) fn offers(&self, name: &str) -> bool {
        self.tools.contains_key(name)
    }

    /// Writes a value as JSON: as it stands where the markup or the schema says that it is JSON, else as a string.
    pub(crate) fn write(
        &self,
        tool: &str,
        key: &str,
        value: &str,
        is_string: Option<bool>,
        out: &mut String,
    ) {
        let types = self.tools.get(tool).and_then(|tool| tool.get(key)).copied().unwrap_or_default();
        let trimmed = value.trim();
        let is_json = match is_string {
            Some(is_string) => !is_string && serde_json::from_str::<serde::de::IgnoredAny>(trimmed).is_ok(),
            None => types.take(trimmed),
        };
        if is_json { out.push_str(trimmed) } else { push_string(value, out) }
    }
}

impl Types {
    fn of(schema: &Value) -> Self {
        let mut types = Self::default();
        match schema.get("type") {
            Some(Value::String(name)) => types.add(name),
            Some(Value::Array(names)) => {
                names.iter().filter_map(Value::as_str).for_each(|name| types.add(name));
            }
            _ => {}
        }
        for key in ["anyOf", "oneOf"] {
            for schema in schema.get(key).and_then(Value::as_array).into_iter().flatten() {
                types = types.or(Self::of(schema));
            }
        }
        types
    }

    fn add(&mut self, name: &str) {
        match name {
            "string" => self.string = true,
            "number" | "integer" => self.number = true,
            "boolean" => self.boolean = true,
            "null" => self.null = true,
            "object" => self.object = true,
            "array" => self.array = true,
            _ => {}
        }
    }

    fn or(self, other: Self) -> Self {
        Self {
            string: self.string || other.string,
            number: self.number || other.number,
            boolean: self.boolean || other.boolean,
            null: self.null || other.null,
            object: self.object || other.object,
            array: self.array || other.array,
        }
    }

    /// Whether this text is JSON of one of the types. What may be a string is one, but for `null`.
    fn take(self, text: &str) -> bool {
        let fits = match text.as_bytes().first() {
            Some(b'n') => self.null && text == "null",
            _ if self.string => false,
            Some(b'{') => self.object,
            Some(b'[') => self.array,
            Some(b't' | b'f') => self.boolean,
            Some(b'-' | b'0'..=b'9') => self.number,
            _ => false,
        };
        fits && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
    }
}

/// Writes text as a JSON string.
pub(crate) fn push_string(text: &str, out: &mut String) {
    out.push_str(&Value::from(text).to_string());
}
