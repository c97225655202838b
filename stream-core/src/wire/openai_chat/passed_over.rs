//! Chunks that some clients pass over: what such a client puts together was never judged (rule 28).
//!
//! The AI SDK validates every chunk and goes on behind one that fails; LangChain, pydantic-ai and the helper of openai-python
//! pass over chunks by a field of theirs. A piece of a call, or of a text, that only some clients read therefore has to
//! stand in a chunk that all of them read.

use super::grammar::is_void;
use crate::delta::{Channel, Delta, DeltaKind};
use crate::json;
use crate::wire::document::Value;
use crate::wire::{DecodeError, Odd};

/// The fields of the chunks before by which some clients pass over a chunk. One provider writes them in every chunk.
#[derive(Debug, Default)]
pub(crate) struct ChunkFields {
    /// The raw `object` of the first chunk with payload.
    object: Option<String>,
    /// Whether the annotations of the first chunk with text, and of the first one with calls, are an object.
    annotated: [Option<bool>; 2],
}

impl ChunkFields {
    /// Records a chunk with payload, and returns the reason why it is not plain.
    pub(super) fn see(&mut self, chunk: Value<'_>, deltas: &[Delta]) -> Result<Option<Odd>, DecodeError> {
        let object = chunk.get("object").map_or("", Value::raw);
        let known = self.object.get_or_insert_with(|| object.to_owned());
        let mut odd = (known != object).then_some(Odd::Type);
        for choice in chunk.get("choices").into_iter().flat_map(Value::items) {
            let Some(delta) = choice.get("delta") else { continue };
            let has = field(delta, "annotations").is_some_and(|notes| notes.raw().starts_with('{'));
            let calls = delta.get("tool_calls").is_some_and(|calls| !is_void(calls.raw()));
            let annotated = self.annotated[usize::from(calls)].get_or_insert(has);
            match (*annotated, has) {
                (false, true) => odd = Some(Odd::Type),
                (true, false) if deltas.iter().any(|delta| delta.kind.is_payload()) => {
                    let expected = "annotations of the type they had";
                    return Err(DecodeError::ambiguous(expected, "a chunk without them"));
                }
                _ => {}
            }
        }
        Ok(odd)
    }
}

/// Whether a choice of a chunk has payload.
pub(super) fn speaks(chunk: Value<'_>, deltas: &[Delta]) -> bool {
    let has_choice = chunk.get("choices").is_some_and(|choices| choices.items().next().is_some());
    has_choice && deltas.iter().any(|delta| delta.kind.is_payload())
}

/// The reason why a chunk of a stream is not plain by its fields. `deltas` are those of the chunk.
pub(super) fn odd(chunk: Value<'_>, deltas: &[Delta]) -> Option<Odd> {
    // LangChain reads the choices of `chunk` where there are no others.
    let wraps = chunk.get("chunk").is_some_and(|wrapped| !is_void(wrapped.raw()));
    if wraps {
        return Some(Odd::Foreign);
    }
    if !speaks(chunk, deltas) {
        return None;
    }
    // An error that is null is an error to clients that ask for the key.
    let has_error = chunk.known().any(|(name, _)| name == "error");
    if has_error || chunk.get("type").is_some() {
        return Some(Odd::Foreign);
    }
    let strings = ["id", "model"].iter().all(|name| chunk.get(name).is_none_or(Value::is_string));
    let is_typed = strings
        && chunk.get("created").is_none_or(|created| is_number(created.raw()))
        && chunk.get("usage").is_none_or(|usage| are_counts(usage.raw()));
    if !is_typed {
        return Some(Odd::Type);
    }
    chunk.get("choices").into_iter().flat_map(Value::items).find_map(odd_choice).or_else(|| mixed(deltas))
}

fn odd_choice(choice: Value<'_>) -> Option<Odd> {
    let tokens = choice.get("logprobs").is_none_or(|tokens| are_tokens(tokens.raw()));
    let Some(delta) = choice.get("delta") else { return (!tokens).then_some(Odd::Type) };
    let is_note = |raw: &str| raw.starts_with('{') || are_citations(raw);
    let notes = field(delta, "annotations").is_none_or(|notes| is_note(notes.raw()));
    let role = delta.get("role").is_none_or(|role| role.raw() == "\"assistant\"");
    let calls = || delta.get("tool_calls").into_iter().flat_map(Value::items);
    let is_call = |call: Value<'_>| call.get("function").is_some_and(Value::is_object);
    // A list with another kind of entry is read by none of those that read functions alone.
    let several = calls().nth(1).is_some();
    let extra = |call: Value<'_>| field(call, "extra_content").is_none_or(|extra| is_extra(extra.raw()));
    let listed = calls().all(|call| extra(call) && (!several || is_call(call)));
    (!tokens || !notes || !role || !listed).then_some(Odd::Type)
}

/// The member of this name, which is none of the object's table. Null counts as absent.
fn field<'d>(object: Value<'d>, name: &str) -> Option<Value<'d>> {
    object.unknown().find(|(known, value)| known == name && !value.is_null()).map(|(_, value)| value)
}

/// Payload beside payload in one choice of a chunk: pydantic-ai reads nothing beside a refusal, many programs no calls beside a
/// text. A call that opens beside a text is lost to those programs as a whole.
fn mixed(deltas: &[Delta]) -> Option<Odd> {
    // The choices, all of them below 128, that have a text of each kind.
    let (mut refused, mut said) = (0_u128, 0_u128);
    let bit = |delta: &Delta| delta.choice.and_then(|number| 1_u128.checked_shl(number)).unwrap_or(0);
    for delta in deltas {
        match &delta.kind {
            DeltaKind::Text { channel: Channel::Refusal, .. } => refused |= bit(delta),
            DeltaKind::Text { channel: Channel::Content, .. } => said |= bit(delta),
            _ => {}
        }
    }
    let is_torn = |delta: &Delta| match &delta.kind {
        DeltaKind::Call(call) => (refused | if call.name.is_none() { said } else { 0 }) & bit(delta) != 0,
        _ => false,
    };
    (refused & said != 0 || deltas.iter().any(is_torn)).then_some(Odd::Foreign)
}

/// Whether a value is a number, or null.
pub(super) fn is_number(raw: &str) -> bool {
    raw == "null" || raw.starts_with(|start: char| start == '-' || start.is_ascii_digit())
}

/// Whether token counts are numbers, and their details objects of numbers.
pub(super) fn are_counts(raw: &str) -> bool {
    members(raw, |name, value| match name {
        "prompt_tokens" | "completion_tokens" | "total_tokens" => is_number(value),
        "prompt_tokens_details" | "completion_tokens_details" => {
            members(value, |name, value| !name.ends_with("_tokens") || is_number(value))
        }
        _ => true,
    })
}

/// Whether `extra_content` is what clients expect there: a signature of Google's.
pub(super) fn is_extra(raw: &str) -> bool {
    let is_google = |raw: &str| members(raw, |name, value| name != "thought_signature" || is_text(value));
    members(raw, |name, value| name != "google" || is_google(value))
}

fn are_tokens(raw: &str) -> bool {
    members(raw, |name, list| {
        !matches!(name, "content" | "refusal") || list == "null" || are_token_list(list)
    })
}

/// Whether a value is a list of tokens with their log probabilities, as clients expect it.
pub(crate) fn are_token_list(raw: &str) -> bool {
    let is_token = |token: &&str| {
        let has = |name, is: fn(&str) -> bool| json::member(token, name).is_some_and(is);
        has("token", |raw| raw.starts_with('"'))
            && has("logprob", |raw| raw != "null" && is_number(raw))
            && has("top_logprobs", |raw| {
                json::items(raw).is_some_and(|tops| tops.iter().all(|top| json::is_object(top)))
            })
    };
    raw == "[]" || json::items(raw).is_some_and(|tokens| tokens.iter().all(is_token))
}

fn are_citations(raw: &str) -> bool {
    let is_citation = |note: &&str| {
        let Some(citation) = json::member(note, "url_citation") else { return false };
        let has = |name, is: fn(&str) -> bool| json::member(citation, name).is_some_and(is);
        let is_count = |raw: &str| raw != "null" && is_number(raw);
        json::member(note, "type") == Some("\"url_citation\"")
            && has("start_index", is_count)
            && has("end_index", is_count)
            && has("url", |raw| raw.starts_with('"'))
            && has("title", |raw| raw.starts_with('"'))
    };
    json::items(raw).is_some_and(|notes| notes.iter().all(is_citation))
}

/// Whether a value is a string, or null.
pub(super) fn is_text(raw: &str) -> bool {
    raw == "null" || raw.starts_with('"')
}

/// Whether a value is null, or an object all of whose members are as they should be.
fn members(raw: &str, is_right: impl Fn(&str, &str) -> bool) -> bool {
    raw == "null"
        || json::members(raw).is_some_and(|members| members.iter().all(|(name, raw)| is_right(name, raw)))
}
