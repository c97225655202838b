//! Typed, borrowed views of a `GenerateContentResponse`.
//!
//! A candidate and a part are read by hand: what they carry beside the known fields has to be known about too,
//! since it may be output, or a copy of output.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::spelling;

/// One event, or one whole response.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub(super) candidates: Option<Vec<Option<Candidate<'a>>>>,
    #[serde(borrow)]
    pub(super) prompt_feedback: Option<PromptFeedback<'a>>,
    #[serde(borrow)]
    pub(super) usage_metadata: Option<UsageMetadata<'a>>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) model_version: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) response_id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) create_time: Option<&'a RawValue>,
    /// No field of this format: the word by which a foreign event calls itself.
    #[serde(borrow, rename = "type")]
    pub(super) foreign_type: Option<&'a RawValue>,
}

impl Response<'_> {
    /// Whether it has no field of this format at all.
    pub(super) fn is_foreign(&self) -> bool {
        self.candidates.is_none()
            && self.prompt_feedback.is_none()
            && self.usage_metadata.is_none()
            && self.error.is_none()
            && self.model_version.is_none()
            && self.response_id.is_none()
            && self.create_time.is_none()
    }
}

/// A string, borrowed where it has no escape (an optional `Cow` would always own).
#[derive(Debug, Deserialize)]
pub(super) struct Str<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptFeedback<'a> {
    #[serde(borrow)]
    pub(super) block_reason: Option<Str<'a>>,
}

/// Counts are raw: a count of an odd type is no reason to refuse an answer.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageMetadata<'a> {
    #[serde(borrow)]
    pub(super) prompt_token_count: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) candidates_token_count: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thoughts_token_count: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) total_token_count: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct ErrorBody<'a> {
    #[serde(borrow)]
    pub(super) code: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) message: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) status: Option<Str<'a>>,
}

#[derive(Debug, Default)]
pub(super) struct Candidate<'a> {
    pub(super) index: Option<u32>,
    pub(super) content: Option<Content<'a>>,
    pub(super) finish_reason: Option<Str<'a>>,
    pub(super) logprobs: bool,
    /// Whether it has any other field: grounding, citations, a finish message and what is not known yet can all
    /// hold copies of the text.
    pub(super) annotated: bool,
}

#[derive(Debug, Deserialize)]
pub(super) struct Content<'a> {
    #[serde(borrow)]
    pub(super) parts: Option<Vec<Option<Part<'a>>>>,
    pub(super) role: Option<IgnoredAny>,
}

#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    pub(super) text: Option<Str<'a>>,
    pub(super) thought: Option<bool>,
    pub(super) signature: Option<Str<'a>>,
    pub(super) call: Option<FunctionCall<'a>>,
    /// Every other field that is not null.
    pub(super) others: Vec<(Cow<'a, str>, &'a str)>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub(super) id: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) args: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) partial_args: Option<&'a RawValue>,
    pub(super) will_continue: Option<bool>,
}

/// Whether a part's field holds what the provider ran, made or looked up itself.
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

/// Whether bytes are an object that only this format has.
pub(super) fn is_response(bytes: &[u8]) -> bool {
    let told = [&b"\"candidates\""[..], b"\"promptFeedback\"", b"\"usageMetadata\""];
    told.iter().any(|key| memmem::find(bytes, key).is_some())
        && serde_json::from_slice::<Probe>(bytes).is_ok_and(|probe| probe.tells())
}

/// Whether bytes are an array of such objects.
pub(super) fn is_responses(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(b"[")
        && serde_json::from_slice::<Vec<Probe>>(bytes).is_ok_and(|probes| probes.iter().any(Probe::tells))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Probe {
    candidates: Option<Vec<IgnoredAny>>,
    prompt_feedback: Option<IgnoredAny>,
    usage_metadata: Option<IgnoredAny>,
    model_version: Option<IgnoredAny>,
    response_id: Option<IgnoredAny>,
}

impl Probe {
    fn tells(&self) -> bool {
        self.candidates.is_some()
            || self.prompt_feedback.is_some()
            || (self.usage_metadata.is_some() && (self.model_version.is_some() || self.response_id.is_some()))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Candidate<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CandidateVisitor)
    }
}

struct CandidateVisitor;

/// The fields that are read, which no other may pass for.
const CANDIDATE: [&str; 4] = ["index", "content", "finishReason", "logprobsResult"];

impl<'de> Visitor<'de> for CandidateVisitor {
    type Value = Candidate<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a candidate")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut index, mut content, mut finish_reason) = (None, None, None);
        let mut logprobs = None::<Option<&RawValue>>;
        let mut annotated = false;
        while let Some(Str(key)) = map.next_key()? {
            match &*key {
                "index" => once(&mut map, &mut index, "index")?,
                "content" => once(&mut map, &mut content, "content")?,
                "finishReason" => once(&mut map, &mut finish_reason, "finishReason")?,
                "logprobsResult" => once(&mut map, &mut logprobs, "logprobsResult")?,
                // Scores and counts: nothing of the text is in them.
                "safetyRatings" | "avgLogprobs" | "tokenCount" => {
                    map.next_value::<IgnoredAny>()?;
                }
                other => {
                    spelling::check(other, &CANDIDATE)?;
                    annotated |= !is_void(map.next_value::<&RawValue>()?.get());
                }
            }
        }
        Ok(Candidate {
            index: index.flatten(),
            content: content.flatten(),
            finish_reason: finish_reason.flatten(),
            logprobs: logprobs.flatten().is_some(),
            annotated,
        })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Part<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PartVisitor)
    }
}

struct PartVisitor;

/// The fields that are read, which no other may pass for: `google-genai` takes `function_call` too.
const PART: [&str; 4] = ["text", "thought", "thoughtSignature", "functionCall"];

impl<'de> Visitor<'de> for PartVisitor {
    type Value = Part<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a part")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (mut text, mut thought, mut signature, mut call) = (None, None, None, None);
        let mut others: Vec<(Cow<'de, str>, &str)> = Vec::new();
        while let Some(Str(key)) = map.next_key()? {
            match &*key {
                "text" => once(&mut map, &mut text, "text")?,
                "thought" => once(&mut map, &mut thought, "thought")?,
                "thoughtSignature" => once(&mut map, &mut signature, "thoughtSignature")?,
                "functionCall" => once(&mut map, &mut call, "functionCall")?,
                // How to look at the part's media: nothing to read by itself.
                "videoMetadata" | "mediaResolution" => {
                    map.next_value::<IgnoredAny>()?;
                }
                other => {
                    spelling::check(other, &PART)?;
                    let value = map.next_value::<&RawValue>()?.get();
                    if is_server_kind(&key) && others.iter().any(|(other, _)| *other == key) {
                        return Err(A::Error::custom("duplicate field of a part"));
                    }
                    if value != "null" {
                        others.push((key, value));
                    }
                }
            }
        }
        Ok(Part {
            text: text.flatten(),
            thought: thought.flatten(),
            signature: signature.flatten(),
            call: call.flatten(),
            others,
        })
    }
}

/// Reads a value that may be null into a slot that may be filled once.
fn once<'de, A: MapAccess<'de>, T: Deserialize<'de>>(
    map: &mut A,
    slot: &mut Option<Option<T>>,
    name: &'static str,
) -> Result<(), A::Error> {
    if slot.is_some() {
        return Err(A::Error::duplicate_field(name));
    }
    *slot = Some(map.next_value()?);
    Ok(())
}

/// Whether a raw value is null or an empty container.
pub(super) fn is_void(raw: &str) -> bool {
    raw == "null"
        || matches!(raw.as_bytes(), [b'{', inner @ .., b'}'] | [b'[', inner @ .., b']']
            if inner.trim_ascii().is_empty())
}
