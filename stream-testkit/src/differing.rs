//! The difference of two JSON documents.

use serde_json::Value;

/// The paths at which two JSON documents differ: `limits.held`, `policy[].kind`. For tests that change one key of a settings file.
///
/// Items of lists of the same length are compared one by one; lists of different lengths differ as a whole.
///
/// ```
/// use serde_json::json;
/// use stream_testkit::differing_paths;
///
/// let [one, other] = [json!({"a": {"b": 1}, "c": [1, 2]}), json!({"a": {"b": 2}, "c": [1, 3]})];
/// assert_eq!(differing_paths(&one, &other), ["a.b", "c[]"]);
/// ```
#[must_use]
pub fn differing_paths(one: &Value, other: &Value) -> Vec<String> {
    let mut paths = Vec::new();
    differ(one, other, "", &mut paths);
    paths
}

fn differ(one: &Value, other: &Value, path: &str, into: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(one), Value::Object(other)) => {
            for key in one.keys().chain(other.keys().filter(|key| !one.contains_key(*key))) {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                let [one, other] = [one, other].map(|object| object.get(key).unwrap_or(&Value::Null));
                differ(one, other, &path, into);
            }
        }
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => {
            let path = format!("{path}[]");
            one.iter().zip(other).for_each(|(one, other)| differ(one, other, &path, into));
        }
        _ if one == other => {}
        _ => into.push(path.to_owned()),
    }
}
