//! The APIs whose clients read something from a document, by the keys that these clients look for: clients ignore unknown keys.
//!
//! Where the host does not name the API of the client, a document may have a meaning to the clients of one API alone (rule 28).

use std::str;

use super::document::{Of, Spans, Table, Value, is_void};
use super::{DecodeError, Decoded, SharedFormat, named};
use crate::{json, spelling};

/// Refuses an event that has a meaning to the clients of another API: a list of one of these names, or a type with one of these
/// prefixes.
pub(super) fn one(
    into: &Decoded,
    event: Value<'_>,
    lists: &[&str],
    types: &[&str],
) -> Result<(), DecodeError> {
    let is_told = |name: &&str| event.get(name).is_some_and(is_answer);
    let is_typed = || {
        let kind = event.get("type").and_then(Value::string);
        kind.is_some_and(|kind| types.iter().any(|begins| kind.starts_with(begins)))
    };
    match into.memory.any_api && (lists.iter().any(is_told) || is_typed()) {
        true => Err(DecodeError::ambiguous("an event of one API", "one of another")),
        false => Ok(()),
    }
}

/// The built-in API, other than this one, whose clients read something from a whole response.
pub(crate) fn other_of_whole(format: &str, body: &[u8]) -> Option<&'static str> {
    if !LISTS.iter().any(|(_, of)| *of == format) {
        return None;
    }
    let mut spans = Spans::default();
    let body = spans.read(str::from_utf8(body).ok()?, WHOLE).ok()?;
    let told = |body: Value<'_>| {
        body.members().find_map(|(name, value)| {
            let of = LISTS.iter().find(|(list, of)| *list == name && *of != format)?;
            is_answer(value).then_some(of.1)
        })
    };
    told(body).or_else(|| body.items().find_map(told))
}

/// The built-in format that a whole body seems to be of, by its keys, where no format claims the body: a key may stand there
/// twice, or in other letters, to a client that does not mind (rule 28).
pub(crate) fn seeming(body: &[u8]) -> Option<SharedFormat> {
    let body = str::from_utf8(body).ok()?;
    let first = json::items(body).and_then(|items| items.first().copied());
    let members = json::members(first.unwrap_or(body))?;
    let is_near =
        |list: &str| members.iter().any(|(name, _)| spelling::is_near(name.as_bytes(), list.as_bytes()));
    LISTS.iter().find(|(list, _)| is_near(list)).and_then(|(_, format)| named(format))
}

fn is_answer(value: Value<'_>) -> bool {
    value.raw().starts_with('[') && !is_void(value.raw())
}

/// The prefixes of the types of events.
pub(super) const OF_RESPONSES: &str = "response.";
pub(super) const OF_MESSAGES: [&str; 2] = ["message_", "content_block_"];

/// The list that holds the answer in a whole body of each format.
const LISTS: &[(&str, &str)] = &[
    ("choices", "openai-chat"),
    ("output", "openai-responses"),
    ("content", "anthropic-messages"),
    ("candidates", "gemini"),
];

/// A table without keys: members are compared by name, also repeated ones.
static ANY: Table = Table::loose(&[]);

const WHOLE: Of = Of::Either(&ANY, &Of::Object(&ANY));
