//! The keys of the gateway's file, as the program tells them.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::{Value, json};

use crate::kit::Directory;

/// Every key: `tool_loop.mcp[].prefix`. Those of the policies are walked over where policies are.
pub(super) fn all() -> BTreeSet<String> {
    let directory = Directory::new("every-key");
    let mut keys = BTreeSet::new();
    walk(&directory, &|table| table, "", &mut keys);
    keys
}

/// How a table stands under its key: alone, in a list, or under names of its own.
type Shape = fn(Value) -> Value;

/// Adds the keys of a table, and of the tables inside of it.
fn walk(directory: &Directory, file: &dyn Fn(Value) -> Value, name: &str, keys: &mut BTreeSet<String>) {
    let known =
        known(directory, &file(json!({ BOGUS: 0 }))).unwrap_or_else(|| unreachable!("{name} is no table"));
    for key in known.iter().filter(|key| !name.is_empty() || !OTHERS.contains(&key.as_str())) {
        let inner = if name.is_empty() { key.clone() } else { format!("{name}.{key}") };
        let shapes: [(&str, Shape); 3] =
            [("", |table| table), ("[]", |table| json!([table])), (".*", |table| json!({ BOGUS: table }))];
        let found = shapes.into_iter().find(|(_, shape)| {
            self::known(directory, &file(json!({ key: shape(json!({ BOGUS: 0 })) }))).is_some()
        });
        match found {
            // A table has its effect by its keys.
            Some((suffix, shape)) => {
                walk(
                    directory,
                    &|table| file(json!({ key: shape(table) })),
                    &format!("{inner}{suffix}"),
                    keys,
                );
            }
            None => {
                keys.insert(inner);
            }
        }
    }
}

/// The keys that the program knows where it does not know one.
fn known(directory: &Directory, file: &Value) -> Option<Vec<String>> {
    let lines = file.as_object().unwrap().iter().map(|(key, value)| format!("{key} = {}\n", written(value)));
    let text: String = lines.collect();
    let file = directory.file("gateway.toml", &text);
    let out = Command::new(env!("CARGO_BIN_EXE_gateway"))
        .args(["replay", LOG, "--config", &file])
        .output()
        .unwrap();
    let said = String::from_utf8(out.stderr).unwrap();
    let (_, known) = said.split_once(&format!("unknown field `{BOGUS}`, expected "))?;
    Some(known.split('`').skip(1).step_by(2).map(str::to_owned).collect())
}

/// A value as TOML has it.
fn written(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let members = table.iter().map(|(key, value)| format!("{key} = {}", written(value)));
            format!("{{ {} }}", members.collect::<Vec<_>>().join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(written).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

/// A log that is never replayed.
const LOG: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/logs/chat.sse");
/// A key that nobody knows.
const BOGUS: &str = "zzz";
/// The keys of the policies.
const OTHERS: [&str; 3] = ["blocked", "policy", "text_calls"];
