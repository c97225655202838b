//! Log probabilities: tokens that spell a text, one by one.

use serde::Deserialize;
use serde::de::IgnoredAny;

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

/// What the chosen tokens spell.
pub(super) fn spelled(value: &str) -> String {
    let lists = match serde_json::from_str::<Shape>(value) {
        Ok(Shape::List(list)) => [list, Vec::new(), Vec::new()],
        Ok(Shape::Lists(lists)) => {
            [lists.content, lists.refusal, lists.chosen].map(Option::unwrap_or_default)
        }
        Err(_) => return String::new(),
    };
    lists.into_iter().flatten().filter_map(|item| item.token).collect()
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Shape {
    /// Responses.
    List(Vec<Item>),
    /// Chat, Gemini.
    Lists(Lists),
}

#[derive(Deserialize)]
struct Lists {
    content: Option<Vec<Item>>,
    refusal: Option<Vec<Item>>,
    #[serde(rename = "chosenCandidates")]
    chosen: Option<Vec<Item>>,
}

#[derive(Deserialize)]
struct Item {
    token: Option<String>,
}
