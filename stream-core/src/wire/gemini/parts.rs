//! Parts of a candidate's content, made anew.

use std::borrow::Cow;

use crate::delta::{CallDelta, Channel};
use crate::json::{self, Object};

/// A text part. An empty one is made only to carry a signature.
pub(super) fn text(channel: Channel, text: &str, signature: Option<&str>) -> String {
    let part = Object::new().string("text", text);
    let part = if channel == Channel::Reasoning { part.raw("thought", "true") } else { part };
    signed(part, signature).finish()
}

/// A whole call. Arguments that are no JSON object cannot be said here and become an empty one.
pub(super) fn call(call: &CallDelta, signature: Option<&str>) -> String {
    let arguments = call.arguments.as_deref().filter(|arguments| json::is_object(arguments));
    let mut function = Object::new();
    if let Some(id) = &call.id {
        function = function.string("id", id);
    }
    let name = call.name.as_deref().unwrap_or_default();
    let function = function.string("name", name).raw("args", arguments.unwrap_or("{}"));
    signed(Object::new().raw("functionCall", &function.finish()), signature).finish()
}

/// More of an open call, with other fragments than it came with; the rest of it says whether it goes on.
pub(super) fn fragment(came: Option<&str>, arguments: Option<&str>, signature: Option<&str>) -> String {
    let mut function = Object::new();
    if let Some(arguments) = arguments.filter(|arguments| json::items(arguments).is_some()) {
        function = function.raw("partialArgs", arguments);
    }
    if let Some(goes_on) = came.and_then(|came| json::member(came, "willContinue")) {
        function = function.raw("willContinue", goes_on);
    }
    signed(Object::new().raw("functionCall", &function.finish()), signature).finish()
}

/// One field of a part, without the others.
pub(super) fn field(name: &str, raw: &str, signature: Option<&str>) -> String {
    signed(Object::new().raw(name, raw), signature).finish()
}

/// A part as it came, with a signature that it did not have.
pub(super) fn with_signature(part: &str, signature: &str) -> String {
    let members = json::members(part).unwrap_or_default();
    let kept = members.iter().filter(|(name, _)| name != SIGNATURE);
    let part = kept.fold(Object::new(), |part, (name, value)| part.raw(name, value));
    signed(part, Some(signature)).finish()
}

/// The signature of a part, as raw JSON.
pub(super) fn signature(part: &str) -> Option<&str> {
    json::member(part, SIGNATURE).filter(|raw| !matches!(*raw, "null" | "\"\""))
}

/// The parts of a choice, and how it finishes, on their way into a candidate.
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

    /// Lets the choice end with a refusal.
    pub(super) fn refuse(&mut self, message: &'d str) {
        self.finish = Some(Cow::Borrowed(REFUSED));
        self.message = Some(message);
    }

    /// Whether it says anything.
    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.finish.is_none()
    }

    /// The candidate, where upstream's gives none to build on.
    pub(super) fn candidate(&self) -> String {
        let mut candidate = Object::new();
        if !self.parts.is_empty() {
            candidate = candidate.raw("content", &self.content());
        }
        self.finish(candidate).number("index", u64::from(self.choice)).finish()
    }

    /// The content, where upstream's gives none to build on.
    pub(super) fn content(&self) -> String {
        Object::new().raw("parts", &json::array(&self.parts)).string("role", "model").finish()
    }

    /// Adds how the choice finishes.
    pub(super) fn finish(&self, candidate: Object) -> Object {
        let candidate = match &self.finish {
            Some(reason) => candidate.raw("finishReason", reason),
            None => candidate,
        };
        match self.message {
            Some(message) => candidate.string("finishMessage", message),
            None => candidate,
        }
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

fn signed(part: Object, signature: Option<&str>) -> Object {
    match signature {
        Some(signature) => part.raw(SIGNATURE, signature),
        None => part,
    }
}

const SIGNATURE: &str = "thoughtSignature";

/// The reason that clients know for a filtered answer.
const REFUSED: &str = "\"SAFETY\"";
