//! The values that are equal as keys of a table, in Python and in JavaScript.

use serde_json::Value;

/// A value as a key of a Python `dict`: `0`, `0.0`, `-0.0` and `False` are one key, as is `"0"`, which the types of the SDKs convert to a
/// number.
pub(super) fn python(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "None".to_owned(),
        Some(Value::Bool(is)) => u8::from(*is).to_string(),
        Some(Value::Number(number)) => as_number(number),
        Some(Value::String(text)) => match text.parse::<i64>() {
            Ok(number) => number.to_string(),
            Err(_) => format!("str {text}"),
        },
        Some(other) => format!("unhashable {other}"),
    }
}

/// A value as a property key of JavaScript: the value converted to a string.
pub(super) fn javascript(value: Option<&Value>) -> String {
    match value {
        None => "undefined".to_owned(),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::Bool(is)) => is.to_string(),
        Some(Value::Number(number)) => as_number(number),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

/// A value as a position in a Python list of this length. Booleans are numbers, as are whole floats and strings of digits, which the types
/// of the SDKs convert; negative positions count from the end. Any other value is an error.
pub(super) fn position(value: Option<&Value>, len: usize) -> Result<usize, String> {
    let number = match value {
        Some(Value::Bool(is)) => Some(i64::from(*is)),
        Some(Value::Number(number)) => number.as_i64().or_else(|| as_number(number).parse().ok()),
        Some(Value::String(text)) => text.parse().ok(),
        _ => None,
    };
    let Some(number) = number else { return Err(format!("expected an integer, found {value:?}")) };
    if number >= 0 {
        return Ok(usize::try_from(number).unwrap_or(usize::MAX));
    }
    let from_end = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
    Ok(len.checked_sub(from_end).unwrap_or(usize::MAX))
}

/// The one spelling of equal numbers; a negative zero is 0.
fn as_number(number: &serde_json::Number) -> String {
    number.as_f64().map_or_else(|| number.to_string(), |number| (number + 0.0).to_string())
}
