//! The keys of a policy file, as its deserialisers tell them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::config::{ConfigError, Registry};

/// Every key: `tool-gate.rules.deny[].when[].regex`. `*` is a name of one's own, and `any` every kind.
pub(super) fn all() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    let root = known(&json!({ "policy": [{ "kind": "passthrough" }], BOGUS: 0 }), "").unwrap();
    assert_eq!(root, ["blocked", "policy", "text_calls"]);
    let blocked = |table: Value| json!({ "policy": [{ "kind": "passthrough" }], "blocked": table });
    walk(&blocked, "blocked", "blocked", &mut keys);
    let text_calls = |table: Value| json!({ "policy": [{ "kind": "passthrough" }], "text_calls": table });
    walk(&text_calls, "text_calls", "text_calls", &mut keys);
    for kind in Registry::new().kinds() {
        let entry = |mut table: Value| {
            table["kind"] = kind.into();
            json!({ "policy": [table] })
        };
        walk(&entry, "policy[0]", kind, &mut keys);
    }
    keys
}

/// Adds the keys of a table, and of the tables inside of it.
fn walk(file: &dyn Fn(Value) -> Value, path: &str, name: &str, keys: &mut BTreeSet<String>) {
    let known = known(&file(json!({ BOGUS: 0 })), path).unwrap_or_else(|| unreachable!("{name} is no table"));
    for key in known.iter().filter(|key| *key != "kind") {
        let is_common = path == "policy[0]" && COMMON.contains(&key.as_str());
        let inner = if is_common { format!("any.{key}") } else { format!("{name}.{key}") };
        keys.insert(inner.clone());
        for (suffix, steps, shape) in SHAPES {
            let file = |table: Value| file(json!({ key: shape(table) }));
            let path = format!("{path}.{key}{steps}");
            if self::known(&file(json!({ BOGUS: 0 })), &path).is_some() {
                // A table has its effect by its keys.
                keys.remove(&inner);
                walk(&file, &path, &format!("{inner}{suffix}"), keys);
            }
        }
    }
}

/// The keys that are known at a path, if there is a table.
fn known(file: &Value, path: &str) -> Option<Vec<String>> {
    let error: ConfigError = Registry::new().read(file).err()?;
    let (known, found) = error.unknown_key()?;
    (found == BOGUS && error.path() == path).then_some(known)
}

/// A key that nobody knows.
const BOGUS: &str = "zzz";
/// The keys of every kind, which have one row for all.
const COMMON: [&str; 4] = ["monitor", "on_failure", "time_limit", "when"];

/// How a value may hold a table: what it is called, the path to it, and the value.
type Shape = (&'static str, &'static str, fn(Value) -> Value);
const SHAPES: [Shape; 4] = [
    ("", "", |table| table),
    ("[]", "[0]", |table| json!([table])),
    (".*", ".zzz", |table| json!({ BOGUS: table })),
    (".*[]", ".zzz[0]", |table| json!({ BOGUS: [table] })),
];
