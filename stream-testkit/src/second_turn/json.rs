//! Small questions to JSON values.

use serde_json::Value;

/// A body that is one JSON object.
pub(super) fn object(body: &[u8]) -> Option<Value> {
    serde_json::from_slice(body).ok().filter(Value::is_object)
}

/// The string under a key; empty if there is none.
pub(super) fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The elements under a key; none if it is not a list.
pub(super) fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value.get(key).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Appends to the string under a key, which is made if it is not there.
pub(super) fn append(value: &mut Value, key: &str, text: &str) {
    match &mut value[key] {
        Value::String(whole) => whole.push_str(text),
        other => *other = text.into(),
    }
}

/// Appends to the list under a key, which is made if it is not there.
pub(super) fn extend(value: &mut Value, key: &str, items: &[Value]) {
    match &mut value[key] {
        Value::Array(list) => list.extend_from_slice(items),
        other => *other = items.to_vec().into(),
    }
}

/// What a value is, for a message: its JSON if that is short.
pub(super) fn brief(value: Option<&Value>) -> String {
    let Some(value) = value else { return "none".to_owned() };
    let json = value.to_string();
    let end = json.char_indices().nth(40).map_or(json.len(), |(at, _)| at);
    if end == json.len() { json } else { format!("{}…", &json[..end]) }
}
