//! What the model said in a turn, as the parts that go back to it.

use super::super::join::{Answered, append};
use super::super::json::{Object, array, quote};
use super::{is_call, text};

/// The parts of a turn, in order; texts that follow each other are one.
#[derive(Debug, Default)]
pub(super) struct Said {
    parts: Vec<Object>,
    has_text: bool,
}

impl Said {
    pub(super) fn add(&mut self, part: Object) {
        self.has_text |= text(&part).is_some();
        if is_plain(&part) && part.text("text").is_none_or(|text| text.is_empty()) {
            // Finishes often come with one.
            return;
        }
        if is_plain(&part)
            && let Some(last) = self.parts.last_mut()
            && is_plain(last)
            && last.get("thought") == part.get("thought")
        {
            let joined = last.text("text").unwrap_or_default() + &part.text("text").unwrap_or_default();
            last.set("text", quote(&joined));
        } else {
            self.parts.push(part);
        }
    }

    pub(super) fn has_text(&self) -> bool {
        self.has_text
    }

    /// The request with the model's turn, and the user's with the results.
    pub(super) fn extend(&self, request: &mut Object, answered: &[Answered]) {
        let mut calls = answered.iter();
        let mut parts = Vec::new();
        for part in &self.parts {
            let Some(key) = ["functionCall", "function_call"].into_iter().find(|key| part.get(key).is_some())
            else {
                parts.push(part.to_string());
                continue;
            };
            let mut call = part.object(key).unwrap_or_default();
            // A call whose arguments come in pieces has its name in the first part alone.
            if call.some("name").is_none() {
                continue;
            }
            let Some(answered) = calls.next() else { continue };
            for streamed in ["partialArgs", "partial_args", "willContinue", "will_continue"] {
                call.remove(streamed);
            }
            let arguments = answered.arguments.trim();
            if call.get("args").is_none() && !arguments.is_empty() {
                call.set("args", arguments);
            }
            let mut part = part.clone();
            part.set(key, call.to_string());
            parts.push(part.to_string());
        }
        let results = answered.iter().map(|call| {
            let mut response = Object::default();
            if let Some(id) = &call.id {
                response.set("id", quote(id));
            }
            response.set("name", quote(&call.name));
            let key = if call.result.is_error { "error" } else { "output" };
            response.set("response", format!(r#"{{"{key}":{}}}"#, quote(&call.result.text)));
            format!(r#"{{"functionResponse":{response}}}"#)
        });
        let content = |role: &str, parts: String| format!(r#"{{"role":"{role}","parts":{parts}}}"#);
        append(request, "contents", [content("model", array(parts)), content("user", array(results))]);
    }
}

/// Whether a part is text and nothing else: a signature keeps parts apart.
fn is_plain(part: &Object) -> bool {
    !is_call(part)
        && part.text("text").is_some()
        && part.iter().all(|(key, _)| key == "text" || key == "thought")
}
