//! Arguments that come in fragments, each with the path of the value it adds to (`partialArgs`).

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny};
use serde_json::value::RawValue;

use super::view::Str;
use crate::json;

/// Puts the fragments of a call together: `fragments` is the concatenation of its `partialArgs` arrays, in the order
/// they came, as raw JSON.
///
/// Members stand in the order in which their paths first came. Strings of one path are concatenated. `None` when the
/// text is anything but such arrays, or when the fragments contradict each other: a value below a string, a second
/// number for one path, a hole in an array. A call whose fragments do not fit is no call to run.
///
/// Takes time linear in the length of `fragments`.
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
    let mut tree = Tree { nodes: vec![Node::Object(Members::default())] };
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
    let mut joined = String::with_capacity(fragments.len() / 2);
    tree.write(ROOT, &mut joined)?;
    Some(joined)
}

/// One fragment. At most one of the values is there; one without any only announces its path.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Fragment<'a> {
    #[serde(borrow)]
    json_path: Str<'a>,
    #[serde(borrow)]
    string_value: Option<Str<'a>>,
    #[serde(borrow)]
    number_value: Option<&'a RawValue>,
    bool_value: Option<bool>,
    #[serde(default, deserialize_with = "present")]
    null_value: bool,
}

/// The values found so far, as nodes that name each other by position.
struct Tree {
    nodes: Vec<Node>,
}

enum Node {
    /// Named by a path, and nothing known of it yet.
    Open,
    Object(Members),
    Array(BTreeMap<usize, usize>),
    Text(String),
    /// A number, a boolean or null, as raw JSON.
    Scalar(String),
}

/// The members of an object, in order, and where each stands.
#[derive(Default)]
struct Members {
    order: Vec<(String, usize)>,
    by_name: HashMap<String, usize>,
}

impl Tree {
    fn add(&mut self, fragment: &Fragment<'_>) -> Option<()> {
        let mut at = ROOT;
        let mut rest = fragment.json_path.0.strip_prefix('$')?;
        let mut depth = 0;
        while !rest.is_empty() {
            let (step, after) = Step::read(rest)?;
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
            (Some(Str(more)), None, None, None) => match node {
                Node::Text(text) => text.push_str(more),
                Node::Open => *node = Node::Text(more.to_string()),
                _ => return None,
            },
            (None, Some(raw), None, None) | (None, None, Some(raw), None) | (None, None, None, Some(raw)) => {
                if !matches!(node, Node::Open) {
                    return None;
                }
                *node = Node::Scalar(raw);
            }
            _ => return None,
        }
        Some(())
    }

    /// The node one step below; made if it is not there.
    fn descend(&mut self, at: usize, step: Step<'_>) -> Option<usize> {
        let new = self.nodes.len();
        let node = &mut self.nodes[at];
        let below = match step {
            Step::Name(name) => {
                if matches!(node, Node::Open) {
                    *node = Node::Object(Members::default());
                }
                let Node::Object(members) = node else { return None };
                match members.by_name.get(&*name) {
                    Some(below) => *below,
                    None => {
                        let name = name.into_owned();
                        members.order.push((name.clone(), new));
                        members.by_name.insert(name, new);
                        new
                    }
                }
            }
            Step::Item(index) => {
                if matches!(node, Node::Open) {
                    *node = Node::Array(BTreeMap::new());
                }
                let Node::Array(items) = node else { return None };
                *items.entry(index).or_insert(new)
            }
        };
        if below == new {
            self.nodes.push(Node::Open);
        }
        Some(below)
    }

    /// Writes a node; the depth is bounded by that of the paths.
    fn write(&self, at: usize, into: &mut String) -> Option<()> {
        match &self.nodes[at] {
            // Announced and never given: what a client makes of it is not known.
            Node::Open => return None,
            Node::Text(text) => into.push_str(&json::quote(text)),
            Node::Scalar(raw) => into.push_str(raw),
            Node::Object(members) => {
                into.push('{');
                for (position, (name, below)) in members.order.iter().enumerate() {
                    if position > 0 {
                        into.push(',');
                    }
                    into.push_str(&json::quote(name));
                    into.push(':');
                    self.write(*below, into)?;
                }
                into.push('}');
            }
            Node::Array(items) => {
                into.push('[');
                for (position, (index, below)) in items.iter().enumerate() {
                    if position != *index {
                        return None;
                    }
                    if position > 0 {
                        into.push(',');
                    }
                    self.write(*below, into)?;
                }
                into.push(']');
            }
        }
        Some(())
    }
}

/// One step of a `jsonPath`.
enum Step<'p> {
    Name(std::borrow::Cow<'p, str>),
    Item(usize),
}

impl<'p> Step<'p> {
    /// Reads `.name`, `[0]`, `['name']` or `["name"]`, and gives what follows.
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

/// A call can open with `args: {}` before its fragments come.
fn strip_empty_args(fragments: &str) -> &str {
    let Some(inside) = fragments.trim_start().strip_prefix('{') else { return fragments };
    inside.trim_start().strip_prefix('}').unwrap_or(fragments)
}

/// `nullValue` says null by being there, as `null` or as `"NULL_VALUE"`.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    IgnoredAny::deserialize(deserializer).map(|_| true)
}

const ROOT: usize = 0;

/// As deep as serde_json reads; what is deeper could not be read by anyone.
const DEPTH: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_one_path_are_concatenated_in_the_order_of_their_paths() {
        let fragments = concat!(
            r#"[{"jsonPath":"$.b","stringValue":"x","willContinue":true}]"#,
            r#"[{"jsonPath":"$.a","stringValue":"1"}] "#,
            r#"[{"jsonPath":"$.b","stringValue":"\ny"}]"#,
        );
        assert_eq!(join_partial_args(fragments).unwrap(), r#"{"b":"x\ny","a":"1"}"#);
    }

    #[test]
    fn every_kind_of_value_and_path_is_read() {
        let fragments = concat!(
            r#"[{"jsonPath":"$.list[0].x","numberValue":-1.50},{"jsonPath":"$.list[0].y","boolValue":false}]"#,
            r#"[{"jsonPath":"$.list[1][0]","nullValue":null},{"jsonPath":"$['a b']","nullValue":"NULL_VALUE"}]"#,
            r#"[{"jsonPath":"$[\"q.\\\"\"].z","stringValue":""}]"#,
        );
        assert_eq!(
            join_partial_args(fragments).unwrap(),
            r#"{"list":[{"x":-1.50,"y":false},[null]],"a b":null,"q.\"":{"z":""}}"#
        );
    }

    #[test]
    fn empty_args_before_the_fragments_add_nothing() {
        let fragments = r#"{ }[{"jsonPath":"$.a","numberValue":1}]"#;
        assert_eq!(join_partial_args(fragments).unwrap(), r#"{"a":1}"#);
    }

    #[test]
    fn what_is_no_sequence_of_fragments_is_left_alone() {
        for text in ["", "{}", r#"{"a":1}"#, "[]", "[][]", "[1]", r#"[{"a":1}]"#, "[", "null", "\"$.a\""] {
            assert_eq!(join_partial_args(text), None, "{text}");
        }
    }

    #[test]
    fn fragments_that_contradict_each_other_are_not_joined() {
        for text in [
            r#"[{"jsonPath":"$.a","numberValue":1},{"jsonPath":"$.a","numberValue":2}]"#,
            r#"[{"jsonPath":"$.a","stringValue":"x"},{"jsonPath":"$.a.b","stringValue":"y"}]"#,
            r#"[{"jsonPath":"$.a[0]","stringValue":"x"},{"jsonPath":"$.a.b","stringValue":"y"}]"#,
            r#"[{"jsonPath":"$.a","stringValue":"x","numberValue":1}]"#,
            r#"[{"jsonPath":"$.a[4000000000]","stringValue":"x"}]"#,
            r#"[{"jsonPath":"$.a","numberValue":"NaN"}]"#,
            r#"[{"jsonPath":"$.a"}]"#,
            r#"[{"jsonPath":"$","stringValue":"x"}]"#,
            r#"[{"jsonPath":"a","stringValue":"x"}]"#,
            r#"[{"jsonPath":"$..a","stringValue":"x"}]"#,
        ] {
            assert_eq!(join_partial_args(text), None, "{text}");
        }
    }

    #[test]
    fn a_path_too_deep_for_any_reader_is_not_joined() {
        let path = ".a".repeat(100_000);
        assert_eq!(join_partial_args(&format!(r#"[{{"jsonPath":"${path}","numberValue":1}}]"#)), None);
    }

    #[test]
    fn a_long_argument_takes_linear_time() {
        // Quadratic work would take minutes here.
        let fragment = r#"[{"jsonPath":"$.text","stringValue":"0123456789","willContinue":true}]"#;
        let joined = join_partial_args(&fragment.repeat(200_000)).unwrap();
        assert_eq!(joined.len(), r#"{"text":""}"#.len() + 2_000_000);
    }
}
