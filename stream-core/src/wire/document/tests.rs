//! The reader and the rewriter against a naive reading of the same documents.

use proptest::prelude::*;
use serde_json::Value as Json;

use super::*;

static LEAF: Of = Of::Leaf;
static INNER: Table = Table::new(&[("text", Of::Leaf), ("tool_calls", Of::List(&LEAF))]);
static ITEM: Of = Of::Object(&INNER);
static OUTER: Table = Table::new(&[
    ("id", Of::Leaf),
    ("choices", Of::List(&ITEM)),
    ("delta", Of::Either(&INNER, &ITEM)),
    ("raw", Of::Leaf),
]);

fn read<'d>(spans: &'d mut Spans, text: &'d str) -> Value<'d> {
    spans.read(text, Of::Object(&OUTER)).unwrap()
}

fn fault(text: &str) -> (FaultKind, usize) {
    let fault = Spans::default().read(text, Of::Object(&OUTER)).unwrap_err();
    (fault.kind, fault.at)
}

#[test]
fn known_values_are_found_as_they_came() {
    let text = r#" { "id" : "a\n", "x":[1,{"y":2}],"choices":[{"text":"b"}, 7, null] , "delta":null } "#;
    let mut spans = Spans::default();
    let document = read(&mut spans, text);
    assert_eq!(document.get("id").unwrap().string().as_deref(), Some("a\n"));
    assert_eq!(document.get("id").unwrap().raw(), r#""a\n""#);
    let raws: Vec<&str> = document.get("choices").unwrap().items().map(Value::raw).collect();
    assert_eq!(raws, [r#"{"text":"b"}"#, "7", "null"]);
    let unknown: Vec<_> = document.unknown().map(|(key, value)| (key.into_owned(), value.raw())).collect();
    assert_eq!(unknown, [("x".to_owned(), r#"[1,{"y":2}]"#)]);
    assert!(document.get("delta").is_none() && document.get("raw").is_none());
    assert_eq!(document.members().count(), 4);
}

#[test]
fn a_value_of_another_type_has_nothing_within() {
    let mut spans = Spans::default();
    let document = read(&mut spans, r#"{"choices":{"text":1},"delta":["x",{"text":"y"}],"raw":{"text":2}}"#);
    let choices = document.get("choices").unwrap();
    assert!(!choices.is_object() && !choices.is_list() && choices.get("text").is_none());
    assert_eq!(choices.describe(), "an object");
    let delta = document.get("delta").unwrap();
    let texts: Vec<_> = delta.items().map(|item| item.get("text").map(Value::raw)).collect();
    assert_eq!(texts, [None, Some("\"y\"")]);
    assert!(!document.get("raw").unwrap().is_object());
}

#[test]
fn a_key_in_escapes_is_the_key_that_it_spells() {
    let mut spans = Spans::default();
    let document = read(&mut spans, r#"{"\u0069d":1}"#);
    assert_eq!(document.get("id").map(Value::raw), Some("1"));
    assert_eq!(fault(r#"{"id":1,"\u0069d":2}"#), (FaultKind::Twice("id"), 17));
}

#[test]
fn keys_that_a_lax_parser_mistakes_are_faults() {
    assert_eq!(fault(r#"{"id":1,"id":2}"#), (FaultKind::Twice("id"), 12));
    assert_eq!(fault(r#"{"ID":1}"#), (FaultKind::Near, 5));
    assert_eq!(fault(r#"{"delta":{"toolCalls":[]}}"#), (FaultKind::Near, 21));
    assert_eq!(fault(r#"{"choices":[{"text":1,"text":1}]}"#), (FaultKind::Twice("text"), 28));
    // Objects of which nothing is known may say what they want.
    let mut spans = Spans::default();
    assert_eq!(read(&mut spans, r#"{"raw":{"a":1,"a":2,"A":3}}"#).members().count(), 1);
}

#[test]
fn a_loose_object_may_say_its_keys_in_any_way() {
    static LOOSE: Table = Table::loose(&[("id", Of::Leaf)]);
    let mut spans = Spans::default();
    let document = spans.read(r#"{"ID":0,"id":1,"id":2}"#, Of::Object(&LOOSE)).unwrap();
    assert_eq!(document.get("id").map(Value::raw), Some("1"));
}

#[test]
fn faults_tell_what_came_and_where() {
    let error =
        |text: &str| Spans::default().decode(text, Of::Object(&OUTER), "a document").unwrap_err().to_string();
    assert_eq!(
        error(r#"{"id":1,"id":2}"#),
        "expected a document, found duplicate field `id` at line 1 column 12"
    );
    assert_eq!(
        error("{\n\"id\":1,\n\"Id\":2}"),
        "expected a document, found a key that is spelled almost like a known one at line 3 column 4"
    );
    assert_eq!(error(r#"{"id":"#), "expected a document, found EOF while parsing a value at line 1 column 6");
    assert_eq!(error("{} {}"), "expected a document, found trailing characters at line 1 column 4");
}

#[test]
fn spans_serve_for_one_document_after_the_other() {
    let mut spans = Spans::default();
    assert_eq!(read(&mut spans, r#"{"id":1,"choices":[{},{}]}"#).members().count(), 2);
    assert_eq!(read(&mut spans, r#"{"id":2}"#).get("id").map(Value::raw), Some("2"));
    assert!(spans.read("[", Of::Object(&OUTER)).is_err());
    assert_eq!(read(&mut spans, "{}").members().count(), 0);
}

#[test]
fn a_cut_takes_one_comma_along() {
    let cut = |text: &str, keep: &[&str]| {
        let mut spans = Spans::default();
        let document = read(&mut spans, text);
        let mut rewrite = Rewrite::new(document);
        rewrite.cut_members(document, |name| !keep.contains(&name));
        rewrite.finish()
    };
    let text = r#"{ "id":1 , "x":2, "raw" :3 }"#;
    assert_eq!(cut(text, &["id", "x", "raw"]), text);
    assert_eq!(cut(text, &["x", "raw"]), r#"{ "x":2, "raw" :3 }"#);
    assert_eq!(cut(text, &["id", "raw"]), r#"{ "id":1, "raw" :3 }"#);
    assert_eq!(cut(text, &["id", "x"]), r#"{ "id":1 , "x":2 }"#);
    assert_eq!(cut(text, &["raw"]), r#"{ "raw" :3 }"#);
    assert_eq!(cut(text, &["id"]), r#"{ "id":1 }"#);
    assert_eq!(cut(text, &["x"]), r#"{ "x":2 }"#);
    assert_eq!(cut(text, &[]), "{  }");
}

#[test]
fn what_stands_within_a_change_goes_with_it() {
    let text = r#"{"choices":[{"text":"a"},{"text":"b"}],"id":1}"#;
    let mut spans = Spans::default();
    let document = read(&mut spans, text);
    let choices: Vec<_> = document.get("choices").unwrap().items().collect();
    let mut rewrite = Rewrite::new(document);
    rewrite.set(choices[0].get("text").unwrap(), "1");
    rewrite.cut(choices[0]);
    rewrite.set(choices[1].get("text").unwrap(), "2");
    rewrite.set(choices[1], "{}");
    assert_eq!(rewrite.finish(), r#"{"choices":[{}],"id":1}"#);
}

/// JSON text with white space at odd places and keys that stand once.
fn json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        "-?(0|[1-9][0-9]{0,3})(\\.[0-9]{1,2})?",
        "\"([a-c]|\\\\n|\\\\u00e9|é){0,4}\"",
    ];
    let space = || "[ \n]{0,1}";
    leaf.prop_recursive(4, 32, 5, move |inner| {
        let list = (prop::collection::vec((space(), inner.clone(), space()), 0..5)).prop_map(|items| {
            let items: Vec<String> = items.into_iter().map(|(a, item, b)| format!("{a}{item}{b}")).collect();
            format!("[{}]", items.join(","))
        });
        let keys =
            prop::sample::subsequence(vec!["id", "choices", "delta", "raw", "text", "tool_calls", "x"], 0..6);
        let object =
            (keys, prop::collection::vec((space(), inner, space()), 7)).prop_map(|(keys, values)| {
                let members = keys
                    .iter()
                    .zip(values)
                    .map(|(key, (a, value, b))| format!("{a}\"{key}\"{b}:{a}{value}{b}"));
                format!("{{{}}}", members.collect::<Vec<_>>().join(","))
            });
        prop_oneof![list, object]
    })
}

/// The paths of all values that were read, root aside, in document order.
fn paths<'d>(value: Value<'d>, path: &[String], into: &mut Vec<(Vec<String>, Value<'d>)>) {
    let members = value.members().map(|(name, member)| (name.into_owned(), member));
    let items = value.items().enumerate().map(|(at, item)| (at.to_string(), item));
    for (step, within) in members.chain(items) {
        let path = [path, &[step]].concat();
        into.push((path.clone(), within));
        paths(within, &path, into);
    }
}

/// What a naive reader makes of the same changes.
fn naive(json: &mut Json, path: &[String], new: Option<Json>) {
    let Some((last, before)) = path.split_last() else { return };
    let parent = before.iter().try_fold(json, |json, step| match json {
        Json::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
        json => json.get_mut(step),
    });
    match (parent, new) {
        (Some(Json::Object(members)), None) => drop(members.remove(last)),
        (Some(Json::Array(items)), None) => drop(items.remove(last.parse().unwrap())),
        (Some(Json::Object(members)), Some(new)) => drop(members.insert(last.clone(), new)),
        (Some(Json::Array(items)), Some(new)) => items[last.parse::<usize>().unwrap()] = new,
        _ => {}
    }
}

proptest! {
    #[test]
    fn a_rewritten_document_means_what_a_naive_edit_means(
        text in json(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 0..4),
    ) {
        let mut spans = Spans::default();
        let Ok(document) = spans.read(&text, Of::Either(&OUTER, &ITEM)) else { return Ok(()) };
        let mut all = Vec::new();
        paths(document, &[], &mut all);
        prop_assume!(!all.is_empty());
        let mut picked: Vec<(usize, bool)> = picks.iter().map(|(at, cut)| (at.index(all.len()), *cut)).collect();
        picked.sort_unstable();
        picked.dedup_by_key(|pick| pick.0);
        let mut rewrite = Rewrite::new(document);
        let mut expected: Json = serde_json::from_str(&text).unwrap();
        // From behind, so that positions in lists still hold, and what is within goes before what is around it.
        for (at, cut) in picked.iter().rev() {
            let (path, value) = &all[*at];
            match cut {
                true => rewrite.cut(*value),
                false => rewrite.set(*value, "\"new\""),
            }
            naive(&mut expected, path, (!cut).then(|| "new".into()));
        }
        let untouched = rewrite.is_empty();
        let written = rewrite.finish();
        prop_assert_eq!(serde_json::from_str::<Json>(&written).ok(), Some(expected), "{} became {}", &text, &written);
        prop_assert!(!untouched || written == text);
    }

    #[test]
    fn bytes_outside_of_new_values_are_the_same(text in json(), pick in any::<prop::sample::Index>()) {
        let mut spans = Spans::default();
        let Ok(document) = spans.read(&text, Of::Either(&OUTER, &ITEM)) else { return Ok(()) };
        let mut all = Vec::new();
        paths(document, &[], &mut all);
        prop_assume!(!all.is_empty());
        let (_, value) = &all[pick.index(all.len())];
        let (start, end) = (value.span().start(), value.span().end());
        let mut rewrite = Rewrite::new(document);
        rewrite.set(*value, "0");
        prop_assert_eq!(rewrite.finish(), format!("{}0{}", &text[..start], &text[end..]));
    }

    #[test]
    fn a_cut_takes_its_element_one_comma_and_white_space(text in json(), pick in any::<prop::sample::Index>()) {
        let mut spans = Spans::default();
        let Ok(document) = spans.read(&text, Of::Either(&OUTER, &ITEM)) else { return Ok(()) };
        let mut all = Vec::new();
        paths(document, &[], &mut all);
        prop_assume!(!all.is_empty());
        let (path, value) = &all[pick.index(all.len())];
        let has_siblings = all.iter().filter(|(other, _)| other[..other.len() - 1] == path[..path.len() - 1]).count() > 1;
        let (start, end) = (value.member_span().start(), value.member_span().end());
        let mut rewrite = Rewrite::new(document);
        rewrite.cut(*value);
        let written = rewrite.finish();
        let gone = text.len() - written.len();
        // One piece is gone; around the element it holds one comma, if the element had neighbours, and white space.
        let is_taken = |from: usize| {
            let to = from + gone;
            to >= end && to <= text.len() && text.is_char_boundary(from) && text.is_char_boundary(to) && {
                let around = [&text[from..start], &text[end..to]].concat();
                let commas = around.matches(',').count();
                written == [&text[..from], &text[to..]].concat()
                    && around.chars().all(|char| matches!(char, ',' | ' ' | '\n'))
                    && commas == usize::from(has_siblings)
            }
        };
        prop_assert!((0..=start).any(is_taken), "{} became {}", &text, &written);
    }

    #[test]
    fn untouched_values_keep_their_bytes_and_order(
        text in json(),
        picks in prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..4),
    ) {
        let mut spans = Spans::default();
        let Ok(document) = spans.read(&text, Of::Either(&OUTER, &ITEM)) else { return Ok(()) };
        let mut all = Vec::new();
        paths(document, &[], &mut all);
        prop_assume!(!all.is_empty());
        let mut rewrite = Rewrite::new(document);
        let mut touched: Vec<&[String]> = Vec::new();
        for (at, cut) in &picks {
            let (path, value) = &all[at.index(all.len())];
            if !touched.contains(&&path[..]) {
                touched.push(path);
                if *cut { rewrite.cut(*value) } else { rewrite.set(*value, "#") }
            }
        }
        let written = rewrite.finish();
        let mut rest = &written[..];
        for (path, value) in &all {
            let meets = |other: &&[String]| path.starts_with(other) || other.starts_with(&path[..]);
            let is_leaf = value.within().next().is_none();
            if is_leaf && !touched.iter().any(meets) {
                let (start, end) = (value.member_span().start(), value.member_span().end());
                let found = rest.find(&text[start..end]);
                prop_assert!(found.is_some(), "{} lost {} and became {}", &text, value.raw(), &written);
                rest = &rest[found.unwrap_or_default() + (end - start)..];
            }
        }
    }

    #[test]
    fn the_reader_takes_exactly_the_json_that_serde_takes(text in json(), at in any::<prop::sample::Index>(), byte in "[\\[\\]{}\",:0 a\\\\]") {
        let mut broken = text.clone();
        let at = at.index(text.len() + 1);
        if broken.is_char_boundary(at) {
            broken.insert_str(at, &byte);
        }
        let mut spans = Spans::default();
        let read = match spans.read(&broken, Of::Either(&OUTER, &ITEM)) {
            Err(Fault { kind: FaultKind::Syntax, .. }) => false,
            Ok(_) | Err(_) => true,
        };
        let is_json = serde_json::from_str::<serde::de::IgnoredAny>(&broken).is_ok();
        // A fault of keys may be found before one of the syntax.
        prop_assert!(read == is_json || (read && spans.read(&broken, Of::Leaf).is_err()));
    }
}
