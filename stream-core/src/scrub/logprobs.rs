//! Log probabilities: tokens that spell a text, one by one.

use serde::de::IgnoredAny;

use crate::json;

/// Where the value of the key that ends at `at` starts and ends, if it is one that can hold tokens.
pub(super) fn value(document: &str, at: usize) -> Option<(usize, usize)> {
    let rest = document[at..].trim_ascii_start().strip_prefix(':')?.trim_ascii_start();
    if !rest.starts_with(['{', '[']) {
        return None;
    }
    let start = document.len() - rest.len();
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
    values.next()?.ok()?;
    Some((start, start + values.byte_offset()))
}

/// What the chosen tokens spell: those of a list (Responses), or of the lists of an object (chat, Gemini).
pub(super) fn spelled(value: &str) -> String {
    let lists = match value.starts_with('[') {
        true => vec![value],
        false => LISTS.iter().filter_map(|name| json::member(value, name)).collect(),
    };
    let items = lists.into_iter().filter_map(json::items).flatten();
    // One that cannot be read hides nothing of the others, nor of itself.
    let text = |token: &str| json::unquote(token).unwrap_or_else(|| token.trim_matches('"').to_owned());
    items.filter_map(|item| json::member(item, "token")).map(text).collect()
}

const LISTS: [&str; 3] = ["content", "refusal", "chosenCandidates"];
