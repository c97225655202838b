//! Typed, borrowed views of a chunk or a whole response.
//!
//! Everything is optional: some server sends `null` for, or leaves out, each field. What carries no payload is
//! kept raw, so that a strange type there is no error.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::wire::Odd;
use crate::{json, spelling};

/// A chunk, or a whole response.
#[derive(Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) object: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) failed_generation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) x_groq: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow)]
    index: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) delta: Option<Body<'a>>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) text: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) logprobs: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) usage: Option<&'a RawValue>,
}

impl Choice<'_> {
    pub(super) fn number(&self) -> u32 {
        self.index.and_then(|raw| integer(raw.get())).and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
    }

    /// Whether the number is a plain one.
    pub(super) fn is_numbered(&self) -> bool {
        self.index.is_some_and(|raw| json::count(raw.get()).is_some())
    }

    /// Whether it has no number at all.
    pub(super) fn has_no_number(&self) -> bool {
        self.index.is_none_or(|raw| raw.get() == "null")
    }

    /// Whether `role` is a role that answers have.
    pub(super) fn has_role(&self) -> bool {
        self.delta.as_ref().is_none_or(Body::has_role)
    }
}

impl Body<'_> {
    /// Whether `role` is a role that answers have.
    pub(super) fn has_role(&self) -> bool {
        matches!(self.role.map_or("null", RawValue::get), "null" | "\"\"" | "\"assistant\"")
    }
}

/// A `delta`, or the `message` of a whole response: the same fields.
#[derive(Default)]
pub(super) struct Body<'a> {
    pub(super) role: Option<&'a RawValue>,
    pub(super) content: Option<Content<'a>>,
    pub(super) reasoning_content: Option<Str<'a>>,
    pub(super) reasoning: Option<Str<'a>>,
    pub(super) reasoning_details: Option<&'a RawValue>,
    pub(super) refusal: Option<Str<'a>>,
    pub(super) tool_calls: Option<&'a RawValue>,
    pub(super) function_call: Option<Function<'a>>,
    pub(super) audio: Option<Audio<'a>>,
    /// One of [`SIGNATURES`] holds something.
    pub(super) signed: bool,
    /// An unknown field holds something a client could show.
    pub(super) notes: bool,
}

impl<'de: 'a, 'a> Deserialize<'de> for Body<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(BodyVisitor)
    }
}

struct BodyVisitor;

impl<'de> Visitor<'de> for BodyVisitor {
    type Value = Body<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a delta or message object")
    }

    // Written out, since a derived view cannot look at the fields it does not know.
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut body = Body::default();
        let mut seen = 0_u16;
        while let Some(key) = map.next_key::<Str<'de>>()? {
            let Some(known) = KNOWN.iter().position(|name| *name == key.0) else {
                spelling::check(&key.0, &KNOWN)?;
                let value = map.next_value::<&RawValue>()?.get();
                if SIGNATURES.contains(&&*key.0) {
                    body.signed |= !is_void(value);
                } else if !SILENT.contains(&&*key.0) {
                    body.notes |= !is_void(value);
                }
                continue;
            };
            if seen & (1 << known) != 0 {
                return Err(A::Error::duplicate_field(KNOWN[known]));
            }
            seen |= 1 << known;
            match KNOWN[known] {
                "role" => body.role = map.next_value()?,
                "content" => body.content = map.next_value()?,
                "reasoning_content" => body.reasoning_content = map.next_value()?,
                "reasoning" => body.reasoning = map.next_value()?,
                "reasoning_details" => body.reasoning_details = map.next_value()?,
                "refusal" => body.refusal = map.next_value()?,
                "tool_calls" => body.tool_calls = map.next_value()?,
                "function_call" => body.function_call = map.next_value()?,
                _ => body.audio = map.next_value()?,
            }
        }
        Ok(body)
    }
}

const KNOWN: [&str; 9] = [
    "content",
    "role",
    "tool_calls",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "refusal",
    "function_call",
    "audio",
];

/// Fields that hold a signature or an encrypted form of the reasoning: needed for the next turn (rule 22), and
/// nothing a client could show.
pub(super) const SIGNATURES: [&str; 3] = ["reasoning_encrypted", "reasoning_opaque", "reasoning_signature"];

/// Unknown fields that hold words about the delta, never output.
const SILENT: [&str; 5] = ["channel", "phase", "name", "token_id", "type"];

/// Content: a string, or a list of parts.
pub(super) enum Content<'a> {
    Text(Cow<'a, str>),
    List(Vec<&'a RawValue>),
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("content as a string or a list of parts")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Content::Text(text.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Content::Text(text.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Content::List(items))
    }
}

/// One part of a content list.
#[derive(Deserialize)]
pub(super) struct ContentPart<'a> {
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) text: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) thinking: Option<Content<'a>>,
}

/// One of `reasoning_details`.
#[derive(Deserialize)]
pub(super) struct Detail<'a> {
    #[serde(borrow)]
    text: Option<Str<'a>>,
    #[serde(borrow)]
    summary: Option<Str<'a>>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
    #[serde(borrow)]
    signature: Option<&'a RawValue>,
}

impl Detail<'_> {
    /// Its text, or its summary where it has none.
    pub(super) fn first(&self) -> &str {
        let text = |text: &Option<Str<'_>>| text.as_ref().is_some_and(|text| !text.0.is_empty());
        let first = if text(&self.text) { &self.text } else { &self.summary };
        first.as_ref().map_or("", |text| &text.0)
    }

    /// A summary beside the text that says something else.
    pub(super) fn second(&self) -> &str {
        self.summary
            .as_ref()
            .map(|summary| &*summary.0)
            .filter(|summary| *summary != self.first())
            .unwrap_or("")
    }

    pub(super) fn is_signed(&self) -> bool {
        [self.data, self.signature].into_iter().flatten().any(|raw| !is_void(raw.get()))
    }
}

#[derive(Deserialize)]
pub(super) struct Call<'a> {
    #[serde(borrow)]
    index: Option<&'a RawValue>,
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) function: Option<Function<'a>>,
    #[serde(borrow)]
    pub(super) custom: Option<Custom<'a>>,
}

impl<'a> Call<'a> {
    pub(super) fn index(&self) -> Option<u64> {
        self.index.and_then(|raw| integer(raw.get()))
    }

    /// What is not plain about the fields of a call, whatever came before it.
    pub(super) fn odd(&self) -> Option<Odd> {
        if self.index.is_some_and(|raw| json::count(raw.get()).is_none()) {
            return Some(Odd::Number);
        }
        // The word that some servers send for no id is a new one to those who go by ids.
        if self.id.is_some_and(|raw| raw.get() == "\"null\"") {
            return Some(Odd::Identity);
        }
        let arguments = self.function.as_ref().and_then(|function| function.arguments);
        let input = self.custom.as_ref().and_then(|custom| custom.input);
        let strings = [self.id, arguments, input].into_iter().flatten().all(|raw| raw.get().starts_with('"'));
        let kind = self.kind.map_or("\"\"", RawValue::get);
        let said = match kind {
            "\"\"" => true,
            "\"function\"" => self.custom.is_none(),
            "\"custom\"" => self.function.is_none(),
            _ => self.function.is_none() && self.custom.is_none(),
        };
        (!strings || !said).then_some(Odd::Type)
    }

    /// The id; some servers send an empty one, or the word `null`, on continuations.
    pub(super) fn id(&self) -> Option<Cow<'a, str>> {
        self.id.map(|raw| text_of(raw.get())).filter(|id| !id.is_empty() && id != "null")
    }
}

#[derive(Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// A call of a custom tool: its input is free text.
#[derive(Deserialize)]
pub(super) struct Custom<'a> {
    #[serde(borrow)]
    pub(super) name: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Audio<'a> {
    #[serde(borrow)]
    pub(super) transcript: Option<Str<'a>>,
    #[serde(borrow)]
    pub(super) data: Option<&'a RawValue>,
}

/// The known fields of an error, none of which can stand there twice.
#[derive(Deserialize)]
pub(super) struct ErrorBody<'a> {
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) code: Option<&'a RawValue>,
    #[serde(borrow, rename = "type")]
    pub(super) kind: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) failed_generation: Option<&'a RawValue>,
}

#[derive(Deserialize)]
pub(super) struct Tokens<'a> {
    #[serde(borrow)]
    pub(super) prompt_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) completion_tokens: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) total_tokens: Option<&'a RawValue>,
}

/// A string, borrowed where it has no escape (a bare `Cow` would always own).
#[derive(Deserialize)]
pub(super) struct Str<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// The string that a raw value is, else the value's JSON: arguments come as objects now and then.
pub(super) fn text_of(raw: &str) -> Cow<'_, str> {
    match serde_json::from_str::<Str<'_>>(raw) {
        Ok(text) => text.0,
        Err(_) => raw.into(),
    }
}

/// A whole number, or a string that spells one.
pub(super) fn integer(raw: &str) -> Option<u64> {
    raw.trim_matches('"').parse().ok()
}

/// Whether a value says nothing a client could show: null, a number, a truth value, an empty string or list, an
/// object of such values.
pub(super) fn is_void(raw: &str) -> bool {
    is_void_to(raw, 3)
}

/// Looks only so deep: an upstream decides how deep its objects go, and each level is read again.
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
