//! The four APIs whose streams the kit reads and writes.

use std::fmt;
use std::str::FromStr;

use serde::Deserialize;
use serde_json::value::RawValue;

/// An API, by the shape of its responses.
///
/// The enum is exhaustive on purpose: a test that treats the APIs differently stops compiling when an API is added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum WireKind {
    /// OpenAI's Chat Completions, and the many that copy it.
    OpenAiChat,
    /// OpenAI's Responses.
    OpenAiResponses,
    /// Anthropic's Messages.
    AnthropicMessages,
    /// Google's `streamGenerateContent`.
    Gemini,
}

impl WireKind {
    /// The APIs, in the order of their documentation.
    pub const ALL: [Self; 4] =
        [Self::OpenAiChat, Self::OpenAiResponses, Self::AnthropicMessages, Self::Gemini];

    /// The name that the format of stream-core has: `openai-chat`, `openai-responses`, `anthropic-messages`,
    /// `gemini`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::AnthropicMessages => "anthropic-messages",
            Self::Gemini => "gemini",
        }
    }
}

impl fmt::Display for WireKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for WireKind {
    type Err = UnknownWireKind;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.name() == name)
            .ok_or_else(|| UnknownWireKind { found: name.to_owned() })
    }
}

/// A name that is none of a [`WireKind`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownWireKind {
    found: String,
}

impl fmt::Display for UnknownWireKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = WireKind::ALL.map(WireKind::name).join(", ");
        write!(f, "expected one of {names}, found {:?}", self.found)
    }
}

impl std::error::Error for UnknownWireKind {}

/// An event as the API's servers write it: Gemini's lines end with CR LF, and chat and Gemini do not name their events.
pub(crate) fn sse_event(kind: Option<WireKind>, name: &str, data: &str) -> String {
    let end = if kind == Some(WireKind::Gemini) { "\r\n" } else { "\n" };
    let mut event = String::new();
    if !name.is_empty() && !matches!(kind, Some(WireKind::OpenAiChat | WireKind::Gemini)) {
        event.extend(["event: ", name, end]);
    }
    for line in data.split('\n') {
        event.extend(["data: ", line, end]);
    }
    event.push_str(end);
    event
}

/// The keys of a JSON object that tell whose it is.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Head<'a> {
    #[serde(borrow, default)]
    choices: Option<&'a RawValue>,
    #[serde(borrow, default)]
    object: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "type")]
    event_type: Option<&'a RawValue>,
    #[serde(borrow, default)]
    candidates: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "promptFeedback")]
    prompt_feedback: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "usageMetadata")]
    usage_metadata: Option<&'a RawValue>,
}

impl<'a> Head<'a> {
    /// Reads an object; anything else, and an object with one of these keys twice, tells nothing.
    pub(crate) fn of(json: &'a str) -> Self {
        // serde would read an array as the fields in their order.
        if json.trim_start().starts_with('{') {
            serde_json::from_str(json).unwrap_or_default()
        } else {
            Self::default()
        }
    }

    /// Whose chunk or response this can only be.
    pub(crate) fn kind(&self) -> Option<WireKind> {
        let event = self.event_type();
        if self.choices.is_some() || string(self.object).starts_with("chat.completion") {
            Some(WireKind::OpenAiChat)
        } else if event.starts_with("response.") || string(self.object) == "response" {
            Some(WireKind::OpenAiResponses)
        } else if event.starts_with("message") || event.starts_with("content_block_") {
            Some(WireKind::AnthropicMessages)
        } else if [self.candidates, self.prompt_feedback, self.usage_metadata].iter().any(Option::is_some) {
            Some(WireKind::Gemini)
        } else {
            None
        }
    }

    /// Whether this is a piece of a stream, rather than a response in one piece. Gemini's are the same.
    pub(crate) fn is_piece(&self) -> bool {
        match self.kind() {
            Some(WireKind::OpenAiChat) => {
                string(self.object) == "chat.completion.chunk"
                    || self.choices.is_some_and(|choices| choices.get().contains("\"delta\""))
            }
            Some(WireKind::OpenAiResponses) => self.event_type.is_some(),
            Some(WireKind::AnthropicMessages) => self.event_type() != "message",
            Some(WireKind::Gemini) | None => false,
        }
    }

    /// The `type`, empty if there is none.
    pub(crate) fn event_type(&self) -> &'a str {
        string(self.event_type)
    }

    /// Whether a chat choice says how it finished.
    pub(crate) fn finishes_chat(&self) -> bool {
        #[derive(Deserialize)]
        struct Choice<'a> {
            #[serde(borrow, default)]
            finish_reason: Option<&'a RawValue>,
        }
        self.choices
            .and_then(|choices| serde_json::from_str::<Vec<Choice<'_>>>(choices.get()).ok())
            .is_some_and(|choices| choices.iter().any(|choice| choice.finish_reason.is_some()))
    }
}

/// A JSON string that needs no unescaping, which is all that names of events and objects are.
fn string(value: Option<&RawValue>) -> &str {
    value.and_then(|value| value.get().strip_prefix('"')?.strip_suffix('"')).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back() {
        for kind in WireKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        assert_eq!(
            "openai".parse::<WireKind>().unwrap_err().to_string(),
            "expected one of openai-chat, openai-responses, anthropic-messages, gemini, found \"openai\""
        );
    }

    #[test]
    fn chunks_and_whole_responses_tell_their_api() {
        for (json, kind, piece) in [
            (r#"{"object":"chat.completion.chunk"}"#, Some(WireKind::OpenAiChat), true),
            (r#"{"choices":[{"delta":{}}]}"#, Some(WireKind::OpenAiChat), true),
            (r#"{"choices":[{"message":{}}]}"#, Some(WireKind::OpenAiChat), false),
            (r#"{"type":"response.created","response":{}}"#, Some(WireKind::OpenAiResponses), true),
            (r#"{"object":"response"}"#, Some(WireKind::OpenAiResponses), false),
            (r#"{"type":"content_block_stop","index":0}"#, Some(WireKind::AnthropicMessages), true),
            (r#"{"type":"message","role":"assistant"}"#, Some(WireKind::AnthropicMessages), false),
            (r#"{"candidates":[]}"#, Some(WireKind::Gemini), false),
            (r#"{"type":"ping"}"#, None, false),
            (r#"{"error":{}}"#, None, false),
            ("[1]", None, false),
        ] {
            let head = Head::of(json);
            assert_eq!((head.kind(), head.is_piece()), (kind, piece), "{json}");
        }
    }

    #[test]
    fn a_null_finish_reason_is_none() {
        assert!(Head::of(r#"{"choices":[{"finish_reason":"stop"}]}"#).finishes_chat());
        assert!(!Head::of(r#"{"choices":[{"finish_reason":null}]}"#).finishes_chat());
        assert!(!Head::of(r#"{"choices":[{}]}"#).finishes_chat());
    }
}
