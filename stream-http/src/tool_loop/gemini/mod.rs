//! Gemini: parts of one content, `functionResponse` parts.

mod join;
mod request;
mod said;
mod whole;

pub(super) use self::join::Joiner;
pub(super) use self::request::{can_loop, free_choice, offer};
pub(super) use self::whole::{extend_whole, whole};

use super::json::Object;

/// Whether a part is a call.
fn is_call(part: &Object) -> bool {
    part.get("functionCall").or_else(|| part.get("function_call")).is_some()
}

/// The text that a user reads in a part.
fn text(part: &Object) -> Option<String> {
    let is_thought = part.get("thought") == Some("true");
    part.text("text").filter(|text| !is_thought && !text.is_empty())
}

/// What the candidates of an answer hold, one after the other; the first one speaks.
fn candidate(answer: &Object) -> Option<Object> {
    Object::parse(answer.items("candidates").first()?).ok()
}
