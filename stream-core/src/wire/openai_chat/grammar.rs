//! The grammar: the objects of a chunk and of a whole response, with their keys.
//!
//! Every field is optional: for each of them there is a server that omits it, or sends `null`.

use std::borrow::Cow;

use memchr::memmem;

use super::passed_over;
use crate::delta::Delta;
use crate::json::{self, Object};
use crate::wire::document::{Of, Spans, Table, Value};

/// A chunk, or a whole response.
pub(super) static CHUNK: Table = Table::new(&[
    ("id", Of::Leaf),
    ("object", Of::Leaf),
    ("created", Of::Leaf),
    ("model", Of::Leaf),
    ("choices", Of::List(&Of::Object(&CHOICE))),
    ("usage", Of::Object(&TOKENS)),
    ("type", Of::Leaf),
    ("error", Of::Object(&ERROR)),
    (FAILED, Of::Leaf),
    ("x_groq", Of::Object(&GROQ)),
    // No field of this format: LangChain looks for it, where there are no choices.
    ("chunk", Of::Leaf),
    // No field of this format: clients of Gemini look for it.
    ("candidates", Of::Leaf),
]);

static CHOICE: Table = Table::new(&[
    ("index", Of::Leaf),
    ("delta", Of::Object(&BODY)),
    ("finish_reason", Of::Leaf),
    ("logprobs", Of::Leaf),
    ("message", Of::Object(&BODY)),
    ("text", Of::Leaf),
    ("usage", Of::Object(&TOKENS)),
]);

/// A `delta`, or the `message` of a whole response: the same fields.
static BODY: Table = Table::new(&[
    ("content", Of::List(&Of::Object(&PART))),
    ("role", Of::Leaf),
    ("tool_calls", Of::List(&Of::Object(&CALL))),
    ("reasoning_content", Of::Leaf),
    ("reasoning", Of::Leaf),
    ("reasoning_details", Of::List(&Of::Object(&DETAIL))),
    ("refusal", Of::Leaf),
    ("function_call", Of::Object(&FUNCTION)),
    ("audio", Of::Object(&AUDIO)),
]);

/// One part of a content list. The parts of `thinking` have the same fields.
static PART: Table =
    Table::new(&[("type", Of::Leaf), ("text", Of::Leaf), ("thinking", Of::List(&Of::Object(&THOUGHT)))]);

static THOUGHT: Table = Table::new(&[("type", Of::Leaf), ("text", Of::Leaf), ("thinking", Of::Leaf)]);

/// One of `reasoning_details`.
static DETAIL: Table =
    Table::new(&[("text", Of::Leaf), ("summary", Of::Leaf), ("data", Of::Leaf), ("signature", Of::Leaf)]);

static CALL: Table = Table::new(&[
    ("index", Of::Leaf),
    ("id", Of::Leaf),
    ("type", Of::Leaf),
    ("function", Of::Object(&FUNCTION)),
    ("custom", Of::Object(&CUSTOM)),
]);

static FUNCTION: Table = Table::new(&[("name", Of::Leaf), ("arguments", Of::Leaf)]);

/// A call of a custom tool: its input is free text.
static CUSTOM: Table = Table::new(&[("name", Of::Leaf), ("input", Of::Leaf)]);

static AUDIO: Table = Table::new(&[("transcript", Of::Leaf), ("data", Of::Leaf)]);

/// The fields around the choices that a rebuilt chunk keeps. Any other may hold a copy of dropped payload.
pub(super) const KEPT_OF_CHUNK: [&str; 7] =
    ["id", "object", "created", "model", "system_fingerprint", "service_tier", "provider"];

/// The fields of an error that a rebuilt chunk keeps.
pub(super) const KEPT_OF_ERROR: [&str; 5] = ["message", "type", "param", "code", "status_code"];

/// The known fields of an error, each of which may stand there once.
pub(super) static ERROR: Table =
    Table::new(&[("message", Of::Leaf), ("code", Of::Leaf), ("type", Of::Leaf), (FAILED, Of::Leaf)]);

static TOKENS: Table =
    Table::loose(&[("prompt_tokens", Of::Leaf), ("completion_tokens", Of::Leaf), ("total_tokens", Of::Leaf)]);

static GROQ: Table = Table::loose(&[("usage", Of::Object(&TOKENS))]);

/// The field of an error that holds a call which the provider refused.
pub(super) const FAILED: &str = "failed_generation";

/// Fields of a delta that hold a signature or an encrypted form of the reasoning: the next turn needs them (rule 22), and
/// clients do not show them.
pub(super) const SIGNATURES: [&str; 3] = ["reasoning_encrypted", "reasoning_opaque", "reasoning_signature"];

/// Unknown fields of a delta that describe the delta and hold no output.
pub(super) const SILENT: [&str; 5] = ["channel", "phase", "name", "token_id", "type"];

/// The field of a delta in its choice, as a bit of the delta's site. Of several fields with the same text a client may read any
/// one; their delta is located at the first of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Content,
    ContentItem,
    ReasoningContent,
    Reasoning,
    /// One of `reasoning_details`: its text, or its summary where it has no text.
    Detail,
    /// A summary beside the text of a detail.
    Summary,
    ToolCall,
    Audio,
    Signature,
    FailedGeneration,
}

impl Field {
    pub(super) const ALL: [Self; 10] = [
        Self::Content,
        Self::ContentItem,
        Self::ReasoningContent,
        Self::Reasoning,
        Self::Detail,
        Self::Summary,
        Self::ToolCall,
        Self::Audio,
        Self::Signature,
        Self::FailedGeneration,
    ];

    pub(super) fn bit(self) -> u16 {
        1 << (self as u16)
    }

    /// The field of a delta, where it is one of these: all other fields follow from the kind of the delta.
    pub(super) fn of(delta: &Delta) -> Option<Self> {
        Self::ALL.get(delta.site.fields.trailing_zeros() as usize).copied()
    }
}

/// The keys that distinguish a chunk or a body of this format from all others, however odd the rest is.
static PROBE: Table =
    Table::loose(&[("choices", Of::List(&Of::Object(&MESSAGE_PROBE))), ("object", Of::Leaf)]);

static MESSAGE_PROBE: Table = Table::loose(&[("message", Of::Leaf)]);

/// Whether a frame's data can only be a chunk of this format.
pub(super) fn is_chunk(data: &[u8]) -> bool {
    probe(data, |choices, object| choices.is_some() || object.starts_with("\"chat.completion"))
}

/// Whether a body can only be a whole response of this format.
pub(super) fn is_completion(body: &[u8]) -> bool {
    let has_message = |choices: Value<'_>| choices.items().any(|choice| choice.get("message").is_some());
    probe(body, |choices, object| {
        choices.is_some_and(|choices| object == "\"chat.completion\"" || has_message(choices))
    })
}

fn probe(data: &[u8], tells: impl FnOnce(Option<Value<'_>>, &str) -> bool) -> bool {
    // Most frames of other formats have neither word, and need not be read.
    let has = |word: &str| memmem::find(data, word.as_bytes()).is_some();
    if !has("\"choices\"") && !has("\"chat.completion") {
        return false;
    }
    let mut spans = Spans::default();
    spans.probe(data, Of::Object(&PROBE)).is_some_and(|document| {
        let choices = document.get("choices").filter(|choices| choices.is_list());
        tells(choices, document.get("object").map_or("", Value::raw))
    })
}

/// The number of a choice.
pub(super) fn number(choice: Value<'_>) -> u32 {
    number_of(choice.get("index"))
}

/// The number that an index is; zero where it is none.
pub(super) fn number_of(index: Option<Value<'_>>) -> u32 {
    index.and_then(|raw| integer(raw.raw())).and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

/// The chunk, or the whole response, that data is.
pub(super) fn chunk<'d>(spans: &'d mut Spans, data: &'d [u8]) -> Option<Value<'d>> {
    spans.probe(data, Of::Object(&CHUNK)).filter(|chunk| chunk.is_object())
}

/// The envelope of a chunk: the kept fields around the choices, where they are of their types.
pub(super) fn envelope(chunk: Option<Value<'_>>) -> Object {
    let is_typed = |name: &str, raw: &str| match name {
        "created" => passed_over::is_number(raw),
        _ => passed_over::is_text(raw),
    };
    json::map(chunk.map_or("{}", Value::raw), |name, raw| {
        (KEPT_OF_CHUNK.contains(&name) && is_typed(name, raw)).then_some(Cow::Borrowed(raw))
    })
}

/// The provider's own word for the finish of a choice.
pub(super) fn native_finish(choice: &str) -> Option<&str> {
    json::member(choice, "native_finish_reason").filter(|raw| *raw != "null")
}

/// The token counts of a chunk, in any of their three places.
pub(super) fn usage(chunk: Value<'_>) -> Option<Value<'_>> {
    let of_choice = || chunk.get("choices")?.items().find_map(|choice| choice.get("usage"));
    let groq = || chunk.get("x_groq")?.get("usage");
    chunk.get("usage").or_else(of_choice).or_else(groq)
}

/// Whether the `role` of a delta or message is that of an answer.
pub(super) fn has_role(body: Value<'_>) -> bool {
    matches!(body.get("role").map_or("null", Value::raw), "null" | "\"\"" | "\"assistant\"")
}

/// The text of a field, if it is not empty.
pub(super) fn filled(field: Option<Value<'_>>) -> Option<Cow<'_, str>> {
    field.map(Value::text).filter(|text| !text.is_empty())
}

/// A whole number, or a string that spells one.
pub(super) fn integer(raw: &str) -> Option<u64> {
    json::count(raw).or_else(|| raw.trim_matches('"').parse().ok())
}

/// Whether a value holds nothing that a client could show: null, a number, a truth value, an empty string or list, an
/// object of such values.
pub(super) fn is_void(raw: &str) -> bool {
    is_void_to(raw, 3)
}

/// As [`is_void`], to a limited depth: the upstream decides how deep objects are, and each level is read again.
fn is_void_to(raw: &str, depth: u8) -> bool {
    match raw.as_bytes().first() {
        Some(b'"') => raw == "\"\"",
        Some(b'[') => raw[1..raw.len() - 1].trim_ascii().is_empty(),
        Some(b'{') if depth == 0 => false,
        Some(b'{') => json::members(raw)
            .is_some_and(|members| members.iter().all(|(_, value)| is_void_to(value, depth - 1))),
        _ => true,
    }
}
