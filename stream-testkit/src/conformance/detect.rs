//! The API of an answer, from its JSON: read with the checker's own eyes.

use serde_json::Value;
use stream_core::sse::Framer;

use crate::kind::WireKind;

impl WireKind {
    /// The API of a streamed or whole answer: that of the first object that only one API sends.
    #[must_use]
    pub fn detect(bytes: &[u8]) -> Option<Self> {
        if let Ok(body) = serde_json::from_slice::<Value>(bytes) {
            return Self::of(&body);
        }
        let mut framer = Framer::new(usize::MAX);
        framer.push(bytes);
        while let Ok(Some(frame)) = framer.next_frame() {
            let object = frame.data().and_then(|data| serde_json::from_slice(&data).ok());
            if let Some(format) = object.as_ref().and_then(Self::of) {
                return Some(format);
            }
        }
        let tail = framer.finish()?.data()?;
        Self::of(&serde_json::from_slice(&tail).ok()?)
    }

    fn of(object: &Value) -> Option<Self> {
        let has = |key: &str| object.get(key).is_some();
        let kind = object.get("type").and_then(Value::as_str).unwrap_or_default();
        if kind.starts_with("response.") || object["object"] == "response" || has("sequence_number") {
            return Some(Self::OpenAiResponses);
        }
        if kind.starts_with("message") || kind.starts_with("content_block_") {
            return Some(Self::AnthropicMessages);
        }
        if kind == "error" && object["error"]["type"].is_string() {
            return Some(Self::AnthropicMessages);
        }
        if has("choices") {
            return Some(Self::OpenAiChat);
        }
        ["candidates", "promptFeedback", "usageMetadata"].into_iter().any(has).then_some(Self::Gemini)
    }
}
