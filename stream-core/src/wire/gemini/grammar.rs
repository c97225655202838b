//! The grammar: the objects of a `GenerateContentResponse`, with their keys.

use memchr::memmem;

use crate::delta::{Delta, DeltaKind, Site};
use crate::wire::document::{Of, Spans, Table, Value};

/// One event, or one whole response.
pub(super) static RESPONSE: Table = Table::new(&[
    ("candidates", Of::List(&Of::Object(&CANDIDATE))),
    ("usageMetadata", Of::Object(&COUNTS)),
    ("modelVersion", Of::Leaf),
    ("responseId", Of::Leaf),
    ("promptFeedback", Of::Object(&FEEDBACK)),
    ("error", Of::Object(&ERROR)),
    ("createTime", Of::Leaf),
    // No fields of this format: the type of a foreign event, and the list that clients of chat look for.
    ("type", Of::Leaf),
    ("choices", Of::Leaf),
]);

/// A response, or an array of what would have been events.
pub(super) static RESPONSES: Of = Of::Either(&RESPONSE, &Of::Object(&RESPONSE));

static FEEDBACK: Table = Table::new(&[("blockReason", Of::Leaf)]);

static COUNTS: Table = Table::loose(&[
    ("promptTokenCount", Of::Leaf),
    ("candidatesTokenCount", Of::Leaf),
    ("thoughtsTokenCount", Of::Leaf),
    ("totalTokenCount", Of::Leaf),
]);

static ERROR: Table = Table::loose(&[("code", Of::Leaf), ("message", Of::Leaf), ("status", Of::Leaf)]);

static CANDIDATE: Table = Table::new(&[
    ("content", Of::Object(&CONTENT)),
    ("index", Of::Leaf),
    ("finishReason", Of::Leaf),
    ("logprobsResult", Of::Leaf),
]);

/// Fields of a candidate that hold scores and counts, and nothing of the text.
pub(super) const SCORES: [&str; 3] = ["safetyRatings", "avgLogprobs", "tokenCount"];

static CONTENT: Table = Table::new(&[("parts", Of::List(&Of::Object(&PART))), ("role", Of::Leaf)]);

/// The known fields of a part. Another spelling is refused, since `google-genai` also accepts `function_call`.
static PART: Table = Table::new(&[
    ("text", Of::Leaf),
    ("thought", Of::Leaf),
    ("thoughtSignature", Of::Leaf),
    ("functionCall", Of::Object(&CALL)),
]);

/// Fields that describe the media of a part, without output of their own.
pub(super) const MEDIA: [&str; 2] = ["videoMetadata", "mediaResolution"];

static CALL: Table = Table::new(&[
    ("name", Of::Leaf),
    ("args", Of::Leaf),
    ("id", Of::Leaf),
    ("partialArgs", Of::Leaf),
    ("willContinue", Of::Leaf),
]);

/// Whether a field of a part holds something that the provider ran, made or looked up itself.
pub(super) fn is_server_kind(field: &str) -> bool {
    matches!(
        field,
        "executableCode"
            | "codeExecutionResult"
            | "inlineData"
            | "fileData"
            | "functionResponse"
            | "toolCall"
            | "toolResponse"
    )
}

/// The fields of a response, a candidate, its content and an error that are kept where a response is written anew. Any other
/// field may hold a copy of dropped payload.
pub(super) const KEPT_OF_RESPONSE: [&str; 5] =
    ["promptFeedback", "usageMetadata", "modelVersion", "responseId", "createTime"];
pub(super) const KEPT_OF_CANDIDATE: [&str; 2] = ["index", "safetyRatings"];
pub(super) const KEPT_OF_CONTENT: [&str; 1] = ["role"];
pub(super) const KEPT_OF_ERROR: [&str; 3] = ["code", "message", "status"];

/// The keys that distinguish a response of this format from all others, however odd the rest is.
static PROBE: Table = Table::loose(&[
    ("candidates", Of::List(&Of::Leaf)),
    ("promptFeedback", Of::Leaf),
    ("usageMetadata", Of::Leaf),
    ("modelVersion", Of::Leaf),
    ("responseId", Of::Leaf),
]);

const PROBES: Of = Of::Either(&PROBE, &Of::Object(&PROBE));

/// Whether bytes are a response that only this format has.
pub(super) fn is_response(bytes: &[u8]) -> bool {
    probe(bytes, Of::Object(&PROBE))
}

/// Whether bytes are such a response, or an array of them.
pub(super) fn is_whole(bytes: &[u8]) -> bool {
    probe(bytes, PROBES)
}

fn probe(bytes: &[u8], of: Of) -> bool {
    let told = [&b"\"candidates\""[..], b"\"promptFeedback\"", b"\"usageMetadata\""];
    if !told.iter().any(|key| memmem::find(bytes, key).is_some()) {
        return false;
    }
    let mut spans = Spans::default();
    spans.probe(bytes, of).is_some_and(|document| tells(document) || document.items().any(tells))
}

fn tells(response: Value<'_>) -> bool {
    let has = |name: &str| response.get(name).is_some();
    has("promptFeedback")
        || response.get("candidates").is_some_and(Value::is_list)
        || (has("usageMetadata") && (has("modelVersion") || has("responseId")))
}

/// The number of a candidate; `None` if its `index` is no number. Vertex omits the index; proto JSON omits a zero.
pub(super) fn number(candidate: Value<'_>, position: usize) -> Option<u32> {
    match candidate.get("index") {
        Some(index) => index.raw().parse().ok(),
        None => u32::try_from(position).ok(),
    }
}

/// Whether a delta stands in one of the `parts` of a candidate, rather than in the candidate or the response around them.
pub(super) fn is_part(delta: &Delta) -> bool {
    let Site { element, holder, .. } = delta.site;
    !holder.is_empty() && element != holder && !matches!(delta.kind, DeltaKind::Finish(_))
}

/// Whether a delta is an error.
pub(super) fn is_error(delta: &Delta) -> bool {
    matches!(delta.kind, DeltaKind::Error(_))
}

/// Whether a delta is a whole document of another format.
pub(super) fn is_foreign(delta: &Delta) -> bool {
    let Site { element, holder, .. } = delta.site;
    holder.is_empty() && !element.is_empty() && matches!(delta.kind, DeltaKind::Opaque { .. })
}
