//! JSON Schemas, compiled once.

use serde_json::Value;

/// What did not hold: the place in the schema, the keyword, and the parameter if it is about one. All of them are the
/// schema's words, none the call's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    pub(crate) place: String,
    pub(crate) keyword: String,
    pub(crate) parameter: Option<String>,
}

/// Whether a schema names this property: then it means itself, and is no other's alias.
pub(crate) fn names(schema: &Value, property: &str) -> bool {
    schema.get("properties").and_then(|properties| properties.get(property)).is_some()
}

/// Whether a schema lets this property be `null`, as strict schemas write what is optional.
pub(crate) fn allows_null(schema: &Value, property: &str) -> bool {
    fn nullable(schema: &Value) -> bool {
        let is_null = |name: &Value| name == "null";
        schema.get("type").is_some_and(|types| {
            is_null(types) || types.as_array().is_some_and(|types| types.iter().any(is_null))
        }) || schema.get("nullable") == Some(&Value::Bool(true))
            || schema.get("const") == Some(&Value::Null)
            || schema.get("enum").and_then(Value::as_array).is_some_and(|all| all.contains(&Value::Null))
            || ["anyOf", "oneOf"].iter().any(|key| {
                schema.get(key).and_then(Value::as_array).is_some_and(|all| all.iter().any(nullable))
            })
    }
    schema.get("properties").and_then(|properties| properties.get(property)).is_some_and(nullable)
}

/// The names in a schema's `required`.
pub(crate) fn required(schema: &Value) -> Vec<String> {
    let names = schema.get("required").and_then(Value::as_array);
    names.into_iter().flatten().filter_map(|name| name.as_str().map(str::to_owned)).collect()
}

#[cfg(feature = "json-schema")]
pub(crate) use with::{Schema, compile};
#[cfg(not(feature = "json-schema"))]
pub(crate) use without::{Schema, compile};

#[cfg(feature = "json-schema")]
mod with {
    use std::fmt;

    use jsonschema::error::ValidationErrorKind;
    use serde_json::Value;

    use super::Violation;

    /// A compiled schema. References to other documents are not followed.
    pub(crate) struct Schema(jsonschema::Validator);

    impl fmt::Debug for Schema {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("Schema")
        }
    }

    /// Compiles a schema; else what was found in its place.
    pub(crate) fn compile(schema: &Value) -> Result<Schema, String> {
        let compiled = jsonschema::validator_for(schema).map(Schema);
        compiled.map_err(|error| format!("one that does not hold at {:?}", error.instance_path().as_str()))
    }

    impl Schema {
        /// The first place that does not hold.
        pub(crate) fn check(&self, arguments: &str) -> Result<(), Violation> {
            // A number that no reader can hold, at most: the rest was read before.
            let value: Value = serde_json::from_str(arguments).map_err(|_| Violation {
                place: String::new(),
                keyword: "type".to_owned(),
                parameter: None,
            })?;
            self.0.validate(&value).map_err(|error| {
                let place = error.schema_path().as_str().to_owned();
                let parameter = match error.kind() {
                    ValidationErrorKind::Required { property } => property.as_str().map(str::to_owned),
                    _ => property(&place),
                };
                Violation { keyword: error.kind().keyword().to_owned(), parameter, place }
            })
        }
    }

    /// The outermost property that a place in a schema is about.
    fn property(place: &str) -> Option<String> {
        let mut steps = place.split('/').skip(1);
        let name = (steps.next()? == "properties").then(|| steps.next())??;
        Some(name.replace("~1", "/").replace("~0", "~"))
    }
}

#[cfg(not(feature = "json-schema"))]
mod without {
    use serde_json::Value;

    use super::Violation;

    /// Schemas are not looked at without the feature `json-schema`, but for their required parameters.
    #[derive(Debug)]
    pub(crate) struct Schema;

    #[expect(clippy::unnecessary_wraps, reason = "as it is with the feature")]
    pub(crate) fn compile(_: &Value) -> Result<Schema, String> {
        Ok(Schema)
    }

    impl Schema {
        #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as it is with the feature")]
        pub(crate) fn check(&self, _: &str) -> Result<(), Violation> {
            Ok(())
        }
    }
}
