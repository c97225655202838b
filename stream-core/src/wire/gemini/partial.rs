//! Arguments in fragments, each with the path of the value that it extends (`partialArgs`).

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::value::RawValue;

use crate::json::{self, Object};

/// Joins the fragments of a call to its arguments: `fragments` is the concatenation of its `partialArgs` arrays, in their
/// order, as raw JSON.
///
/// Members stand in the order in which their paths first occur. Strings of one path are concatenated. The answer is `None` if the
/// text is anything but such arrays, or if the fragments contradict each other: a value below a string, a second number for
/// one path, a gap in an array. Such a call must not be run.
///
/// The time is linear in the length of `fragments`.
///
/// ```
/// use stream_core::wire::gemini::join_partial_args;
///
/// let fragments = concat!(
///     r#"[{"jsonPath":"$.city","stringValue":"Bos","willContinue":true}]"#,
///     r#"[{"jsonPath":"$.city","stringValue":"ton"},{"jsonPath":"$.days[0]","numberValue":3}]"#,
/// );
/// assert_eq!(join_partial_args(fragments).as_deref(), Some(r#"{"city":"Boston","days":[3]}"#));
/// assert_eq!(join_partial_args(r#"{"city":"Boston"}"#), None);
/// ```
#[must_use]
pub fn join_partial_args(fragments: &str) -> Option<String> {
    let arrays = strip_empty_args(fragments);
    if !arrays.trim_start().starts_with('[') {
        return None;
    }
    let mut tree = Tree { nodes: vec![PartialValue::Object(HashMap::new())] };
    let mut any = false;
    for array in serde_json::Deserializer::from_str(arrays).into_iter::<Vec<Fragment<'_>>>() {
        for fragment in array.ok()? {
            any = true;
            tree.add(&fragment)?;
        }
    }
    if !any {
        return None;
    }
    tree.written(ROOT)
}

/// A string, borrowed where it has no escape (an optional `Cow` would always own).
#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

/// One fragment, with at most one value. A fragment without a value only announces its path.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fragment<'a> {
    #[serde(borrow)]
    json_path: Borrowed<'a>,
    #[serde(borrow)]
    string_value: Option<Borrowed<'a>>,
    #[serde(borrow)]
    number_value: Option<&'a RawValue>,
    bool_value: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    null_value: bool,
}

/// The values so far, as nodes that refer to each other by position.
struct Tree {
    nodes: Vec<PartialValue>,
}

enum PartialValue {
    /// The end of a path without a value so far.
    Open,
    /// The members, by name. The position of an earlier member is lower.
    Object(HashMap<String, usize>),
    Array(BTreeMap<usize, usize>),
    Text(String),
    /// A number, a boolean or null, as raw JSON.
    Scalar(String),
}

impl Tree {
    fn add(&mut self, fragment: &Fragment<'_>) -> Option<()> {
        let mut at = ROOT;
        let mut rest = fragment.json_path.0.strip_prefix('$')?;
        let mut depth = 0;
        while !rest.is_empty() {
            let (step, after) = PathStep::read(rest)?;
            at = self.descend(at, step)?;
            rest = after;
            depth += 1;
            if depth > DEPTH {
                return None;
            }
        }
        if at == ROOT {
            return None;
        }
        let number = match fragment.number_value.map(RawValue::get) {
            Some(raw) if !raw.starts_with(|first: char| first == '-' || first.is_ascii_digit()) => {
                return None;
            }
            raw => raw.map(String::from),
        };
        let truth = fragment.bool_value.map(|truth| truth.to_string());
        let null = fragment.null_value.then(|| String::from("null"));
        let node = &mut self.nodes[at];
        match (&fragment.string_value, number, truth, null) {
            (None, None, None, None) => {}
            (Some(Borrowed(more)), None, None, None) => match node {
                PartialValue::Text(text) => text.push_str(more),
                PartialValue::Open => *node = PartialValue::Text(more.to_string()),
                _ => return None,
            },
            (None, Some(raw), None, None) | (None, None, Some(raw), None) | (None, None, None, Some(raw)) => {
                if !matches!(node, PartialValue::Open) {
                    return None;
                }
                *node = PartialValue::Scalar(raw);
            }
            _ => return None,
        }
        Some(())
    }

    /// The node one step below; a new one if there is none.
    fn descend(&mut self, at: usize, step: PathStep<'_>) -> Option<usize> {
        let new = self.nodes.len();
        let node = &mut self.nodes[at];
        let below = match step {
            PathStep::Name(name) => {
                if matches!(node, PartialValue::Open) {
                    *node = PartialValue::Object(HashMap::new());
                }
                let PartialValue::Object(members) = node else { return None };
                match members.get(&*name) {
                    Some(below) => *below,
                    None => *members.entry(name.into_owned()).or_insert(new),
                }
            }
            PathStep::Item(index) => {
                if matches!(node, PartialValue::Open) {
                    *node = PartialValue::Array(BTreeMap::new());
                }
                let PartialValue::Array(items) = node else { return None };
                *items.entry(index).or_insert(new)
            }
        };
        if below == new {
            self.nodes.push(PartialValue::Open);
        }
        Some(below)
    }

    /// A value as JSON; the depth is bounded by that of the paths.
    fn written(&self, at: usize) -> Option<String> {
        Some(match &self.nodes[at] {
            // An announced path without a value: clients differ.
            PartialValue::Open => return None,
            PartialValue::Text(text) => json::quote(text),
            PartialValue::Scalar(raw) => raw.clone(),
            PartialValue::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_unstable_by_key(|(_, below)| **below);
                let mut members = members.into_iter();
                let object = |object: Object, (name, below): (&String, &usize)| {
                    Some(object.raw(name, &self.written(*below)?))
                };
                members.try_fold(Object::new(), object)?.finish()
            }
            PartialValue::Array(items) => {
                let is_whole = items.keys().copied().eq(0..items.len());
                let items = items.values().map(|below| self.written(*below));
                json::array(items.collect::<Option<Vec<_>>>().filter(|_| is_whole)?)
            }
        })
    }
}

/// One step of a `jsonPath`.
enum PathStep<'p> {
    Name(Cow<'p, str>),
    Item(usize),
}

impl<'p> PathStep<'p> {
    /// Reads `.name`, `[0]`, `['name']` or `["name"]`, and returns the rest of the path.
    fn read(path: &'p str) -> Option<(Self, &'p str)> {
        if let Some(name) = path.strip_prefix('.') {
            let (name, rest) = name.split_at(name.find(['.', '[']).unwrap_or(name.len()));
            return (!name.is_empty()).then_some((Self::Name(name.into()), rest));
        }
        let inside = path.strip_prefix('[')?;
        let Some(quote @ ('\'' | '"')) = inside.chars().next() else {
            let (index, rest) = inside.split_once(']')?;
            return Some((Self::Item(index.parse().ok()?), rest));
        };
        let mut name = String::new();
        let mut chars = inside[1..].char_indices();
        while let Some((at, char)) = chars.next() {
            if char == quote {
                let rest = inside[1 + at + 1..].strip_prefix(']')?;
                return Some((Self::Name(name.into()), rest));
            }
            name.push(if char == '\\' { chars.next()?.1 } else { char });
        }
        None
    }
}

/// The fragments without the `args: {}` that a call can open with.
fn strip_empty_args(fragments: &str) -> &str {
    let Some(inside) = fragments.trim_start().strip_prefix('{') else { return fragments };
    inside.trim_start().strip_prefix('}').unwrap_or(fragments)
}

/// Whether `nullValue` is present: its value is `null` or `"NULL_VALUE"`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

const ROOT: usize = 0;

/// The greatest depth, which is that of serde_json.
const DEPTH: usize = 120;
