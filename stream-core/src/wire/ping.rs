//! Keep-alives of the upstream: events of two APIs without a meaning.

use crate::json::{self, Object};
use crate::wire::document::Value;

/// Whether a ping has nothing beside its type, its number and, at one provider, a cost. Clients that do not go by the type would
/// read any other field.
pub(super) fn is_bare(ping: Value<'_>) -> bool {
    ping.members().all(|(key, value)| match &*key {
        "type" => true,
        "sequence_number" => json::count(value.raw()).is_some(),
        "cost" => value.string().is_some_and(|cost| cost.bytes().all(is_of_amount)),
        _ => matches!(value.raw(), "null" | "\"\"" | "[]" | "{}"),
    })
}

/// The data of a ping with nothing but its type and its number.
pub(super) fn bare(kind: &str, ping: Value<'_>) -> String {
    let number = ping.get("sequence_number").map(Value::raw).filter(|raw| json::count(raw).is_some());
    Object::new().string("type", kind).maybe("sequence_number", number).finish()
}

fn is_of_amount(byte: u8) -> bool {
    byte.is_ascii_digit() || byte == b'.'
}
