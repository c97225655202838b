//! The templates of parts, candidates, responses and errors.

use std::borrow::Cow;

use super::grammar::{KEPT_OF_CANDIDATE, KEPT_OF_CONTENT};
use super::write::GeminiWriter;
use crate::delta::{CallDelta, Channel};
use crate::ending::Ending;
use crate::json::{self, Object};
use crate::wire::document::Value;
use crate::wire::template::{MadeEvent, Raw, object, renewed};
use crate::wire::writer::Templates;

/// A text part; empty only to carry a signature.
pub(super) fn text(channel: Channel, text: &str, signature: Option<&str>) -> String {
    let thought = (channel == Channel::Reasoning).then_some(Raw("true"));
    object! { "text": text, "thought": thought, SIGNATURE: signature.map(Raw) }.finish()
}

/// A whole call. The API has no place for arguments that are no JSON object; they become an empty one.
pub(super) fn call(call: &CallDelta, signature: Option<&str>) -> String {
    let arguments = call.arguments.as_deref().filter(|arguments| json::is_object(arguments));
    let function = object! {
        "id": call.id.as_deref(),
        "name": call.name.as_deref().unwrap_or_default(),
        "args": Raw(arguments.unwrap_or("{}")),
    };
    field("functionCall", &function.finish(), signature)
}

/// More of an open call, with new fragments, and with the upstream's `willContinue`.
pub(super) fn fragment(came: Option<&str>, arguments: Option<&str>, signature: Option<&str>) -> String {
    let function = object! {
        "partialArgs": arguments.filter(|arguments| json::items(arguments).is_some()).map(Raw),
        "willContinue": came.and_then(|came| json::member(came, "willContinue")).map(Raw),
    };
    field("functionCall", &function.finish(), signature)
}

/// One field of a part, without the others.
pub(super) fn field(name: &str, raw: &str, signature: Option<&str>) -> String {
    object! { name: Raw(raw), SIGNATURE: signature.map(Raw) }.finish()
}

/// A part with another signature.
pub(super) fn with_signature(part: &str, signature: &str) -> String {
    let kept = json::map(part, |name, raw| (name != SIGNATURE).then_some(Cow::Borrowed(raw)));
    kept.raw(SIGNATURE, signature).finish()
}

/// The signature of a part, as raw JSON.
pub(super) fn signature(part: &str) -> Option<&str> {
    json::member(part, SIGNATURE).filter(|raw| !matches!(*raw, "null" | "\"\""))
}

/// The draft of a candidate: its parts, and how it finishes.
#[derive(Debug)]
pub(super) struct Draft<'d> {
    pub(super) choice: u32,
    pub(super) parts: Vec<Cow<'d, str>>,
    /// The finish reason, as raw JSON.
    pub(super) finish: Option<Cow<'d, str>>,
    pub(super) message: Option<&'d str>,
}

impl<'d> Draft<'d> {
    pub(super) fn new(choice: u32) -> Self {
        Self { choice, parts: Vec::new(), finish: None, message: None }
    }

    /// A candidate with this part alone.
    pub(super) fn of(choice: u32, part: String) -> Self {
        Self { parts: vec![part.into()], ..Self::new(choice) }
    }

    /// Ends the candidate with a refusal: with the finish reason that clients know for a filtered answer.
    pub(super) fn refuse(&mut self, message: &'d str) {
        self.finish = Some(Cow::Borrowed("\"SAFETY\""));
        self.message = Some(message);
    }

    /// Whether the draft has neither parts nor a finish.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.finish.is_none()
    }

    /// The upstream's candidate, with the parts and the finish of the draft.
    pub(super) fn renewed(&self, came: Value<'_>) -> String {
        let says = !self.parts.is_empty() || came.members().any(|(name, _)| name == "content");
        let content = came.get("content").filter(|content| content.members().next().is_some());
        let parts = (!self.parts.is_empty()).then(|| Raw(json::array(&self.parts)));
        let content = match (content, parts) {
            (None, None) => String::from("{}"),
            (None, Some(_)) => self.content(),
            (Some(content), parts) => {
                renewed(content.raw(), &KEPT_OF_CONTENT, [("parts", object! { "parts": parts })]).finish()
            }
        };
        let content = object! { "content": says.then_some(Raw(content)) };
        let finish = self.finish(Object::new());
        renewed(came.raw(), &KEPT_OF_CANDIDATE, [("content", content), ("finishReason", finish)]).finish()
    }

    /// The candidate, without one of the upstream.
    pub(super) fn candidate(&self) -> String {
        let content = (!self.parts.is_empty()).then(|| Raw(self.content()));
        self.finish(object! { "content": content }).number("index", u64::from(self.choice)).finish()
    }

    /// The content, without one of the upstream.
    fn content(&self) -> String {
        object! { "parts": Raw(json::array(&self.parts)), "role": "model" }.finish()
    }

    /// Adds the finish to the candidate.
    fn finish(&self, candidate: Object) -> Object {
        candidate
            .and(&object! { "finishReason": self.finish.as_deref().map(Raw), "finishMessage": self.message })
    }
}

/// The draft of a choice; a new one where there is none.
pub(super) fn draft<'a, 'd>(drafts: &'a mut Vec<Draft<'d>>, choice: u32) -> &'a mut Draft<'d> {
    let at = drafts.iter().position(|draft| draft.choice == choice).unwrap_or_else(|| {
        drafts.push(Draft::new(choice));
        drafts.len() - 1
    });
    &mut drafts[at]
}

/// A response, with the names and counts of its stream.
pub(super) fn response(drafts: &[Draft<'_>], envelope: &[(&'static str, String)]) -> Object {
    let response = object! { "candidates": Raw(json::array(drafts.iter().map(Draft::candidate))) };
    envelope.iter().fold(response, |response, (name, raw)| response.raw(name, raw))
}

/// Empty content: some clients skip a candidate without content, and take the next for the first.
pub(super) const NO_CONTENT: &str = r#"{"parts":[],"role":"model"}"#;

/// An empty candidate, for clients that go by position.
pub(super) fn no_candidate(number: u64) -> String {
    object! { "index": number, "content": Raw(NO_CONTENT) }.finish()
}

impl Templates for GeminiWriter {
    /// The error body of Google's APIs. SDKs choose their exception by the number; the code of the ending is the reason of an
    /// `ErrorInfo`, since `status` is a closed list.
    fn error(ending: &Ending) -> MadeEvent {
        let domain = ending.error_type().unwrap_or_default();
        let details = ending.code().map(|code| {
            let info = "type.googleapis.com/google.rpc.ErrorInfo";
            Raw(json::array([object! { "@type": info, "reason": code, "domain": domain }.finish()]))
        });
        MadeEvent::unnamed(object! {
            "error": object! {
                "code": 500_u64, "message": ending.message(), "status": "INTERNAL", "details": details,
            },
        })
    }

    fn keep_alive(&self) -> &'static str {
        // An empty line: Google's own SDK fails on comments (rule 23).
        self.state.sink.line_end()
    }
}

const SIGNATURE: &str = "thoughtSignature";
