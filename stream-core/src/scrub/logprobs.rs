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

/// Whether a document has log probabilities that say something.
pub(super) fn are_in(document: &str) -> bool {
    const KEY: &[u8] = b"\"logprobs";
    memchr::memmem::find_iter(document.as_bytes(), KEY).any(|at| {
        let rest = &document[at + KEY.len()..];
        let rest = rest.strip_prefix("Result").unwrap_or(rest).strip_prefix('"').unwrap_or_default();
        let value = rest.trim_ascii_start().strip_prefix(':').unwrap_or_default().trim_ascii_start();
        value.starts_with(['{', '['])
    })
}

/// What the chosen tokens spell.
pub(super) fn spelled(value: &str) -> String {
    let lists = match serde_json::from_str::<Listing>(value) {
        Ok(Listing::List(list)) => [list, Vec::new(), Vec::new()],
        Ok(Listing::Lists(lists)) => {
            [lists.content, lists.refusal, lists.chosen].map(Option::unwrap_or_default)
        }
        Err(_) => return String::new(),
    };
    lists.into_iter().flatten().filter_map(|item| item.token).collect()
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Listing {
    /// Responses.
    List(Vec<Token>),
    /// Chat, Gemini.
    Lists(Lists),
}

#[derive(Deserialize)]
struct Lists {
    content: Option<Vec<Token>>,
    refusal: Option<Vec<Token>>,
    #[serde(rename = "chosenCandidates")]
    chosen: Option<Vec<Token>>,
}

#[derive(Deserialize)]
struct Token {
    token: Option<String>,
}
