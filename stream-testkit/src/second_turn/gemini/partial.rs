//! Arguments that come piece by piece: `partialArgs`, each with the path of what it fills.

use serde_json::{Value, json};

use super::super::json::list;

/// Adds a delta to a call: all its fields, and its partial arguments to `args`.
pub(super) fn fold(delta: &Value, call: &mut Value) {
    for (key, value) in delta.as_object().into_iter().flatten() {
        if !matches!(key.as_str(), "partialArgs" | "willContinue") {
            call[key] = value.clone();
        }
    }
    for piece in list(delta, "partialArgs") {
        if call["args"].is_null() {
            call["args"] = json!({});
        }
        let path = piece["jsonPath"].as_str().unwrap_or_default();
        set(&mut call["args"], path.strip_prefix('$').unwrap_or(path), piece);
    }
    if let Some(call) = call.as_object_mut() {
        // Indexing made it.
        call.retain(|key, value| key != "args" || !value.is_null());
    }
}

/// Walks down the path `.name[0].name`, makes what is not there, and fills its end.
fn set(at: &mut Value, path: &str, piece: &Value) {
    if let Some(rest) = path.strip_prefix('[') {
        let (key, rest) = rest.split_once(']').unwrap_or((rest, ""));
        if let Ok(index) = key.parse::<usize>() {
            if !at.is_array() {
                *at = json!([]);
            }
            if let Some(items) = at.as_array_mut().filter(|items| index <= items.len()) {
                if index == items.len() {
                    items.push(Value::Null);
                }
                set(&mut items[index], rest, piece);
            }
        } else {
            member(at, key.trim_matches(['\'', '"']), rest, piece);
        }
    } else if let Some(rest) = path.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        member(at, &rest[..end], &rest[end..], piece);
    } else {
        fill(at, piece);
    }
}

fn member(at: &mut Value, key: &str, rest: &str, piece: &Value) {
    if !at.is_object() {
        *at = json!({});
    }
    set(&mut at[key], rest, piece);
}

fn fill(at: &mut Value, piece: &Value) {
    let value = |key: &str| piece.get(key).cloned();
    *at = match (at.as_str(), piece["stringValue"].as_str()) {
        // Strings grow.
        (Some(before), Some(text)) => format!("{before}{text}").into(),
        _ => ["stringValue", "numberValue", "boolValue"].into_iter().find_map(value).unwrap_or_default(),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_fill_their_paths() {
        let mut call = json!({});
        for piece in [
            json!({"name": "cook", "willContinue": true}),
            json!({"partialArgs": [{"jsonPath": "$.of[0].name", "stringValue": "sa"}], "willContinue": true}),
            json!({"partialArgs": [{"jsonPath": "$.of[0].name", "stringValue": "lt"}]}),
            json!({"partialArgs": [{"jsonPath": "$.of[1]['a b']", "numberValue": 2}]}),
            json!({"partialArgs": [{"jsonPath": "$.list[0]", "stringValue": "x"}, {"jsonPath": "$.list[0]", "stringValue": "y"}]}),
            json!({"partialArgs": [{"jsonPath": "$.hot", "boolValue": true}, {"jsonPath": "$.no", "nullValue": null}]}),
            json!({}),
        ] {
            fold(&piece, &mut call);
        }
        assert_eq!(
            call,
            json!({"name": "cook", "args": {
                "of": [{"name": "salt"}, {"a b": 2}], "list": ["xy"], "hot": true, "no": null,
            }})
        );
    }

    #[test]
    fn a_call_without_arguments_has_none() {
        let mut call = json!({});
        fold(&json!({"name": "now"}), &mut call);
        assert_eq!(call, json!({"name": "now"}));
    }
}
