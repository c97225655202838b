//! Texts, names and arguments.

use proptest::prelude::*;
use serde_json::Value;

/// A text that is not empty: words, and what JSON and UTF-8 make difficult.
pub fn texts() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[a-z]{1,9} ?",
        1 => prop::sample::select(DIFFICULT.to_vec()).prop_map(str::to_owned),
        1 => "\\PC{1,4}",
    ];
    prop::collection::vec(piece, 1..12).prop_map(|pieces| pieces.concat())
}

/// The name of a tool.
pub fn names() -> impl Strategy<Value = String> {
    "[a-z][a-z_]{2,11}"
}

/// The arguments of a call: a JSON object, nested up to three levels, as compact text.
pub fn arguments() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        texts().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        Just(Value::Null),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(names(), inner, 0..4).prop_map(Value::from_iter),
        ]
    });
    prop::collection::btree_map(names(), value, 0..4)
        .prop_map(|members| Value::from_iter(members).to_string())
}

/// What goes wrong where texts are escaped, cut inside of characters, or taken for framing.
const DIFFICULT: [&str; 10] = [
    "\n\n",
    "\r\n",
    "\"",
    "\\",
    "\u{0}",
    "\u{7f}",
    "data: [DONE]",
    "größe",
    "\u{2028}",
    "👩\u{200d}👩\u{200d}👧",
];
