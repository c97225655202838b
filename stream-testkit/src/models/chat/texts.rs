//! Texts as clients of Chat Completions concatenate them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{list, text};
use crate::models::reading::{Reading, Said};

/// The texts of choices, field by field.
#[derive(Default)]
pub(in crate::models) struct Texts(BTreeMap<(String, &'static str), String>);

impl Texts {
    /// Adds the texts of a delta, or of the message of a whole response.
    pub(in crate::models) fn add(&mut self, choice: &str, delta: &Value) {
        let mut put = |field, text: &str| {
            self.0.entry((choice.to_owned(), field)).or_default().push_str(text);
        };
        match delta.get("content") {
            Some(Value::String(text)) => {
                put("content", text);
                put("content, lists too", text);
            }
            Some(Value::Array(parts)) => {
                for part in parts {
                    put("content, lists too", text(part, "text").unwrap_or_default());
                    put("content, lists alone", text(part, "text").unwrap_or_default());
                    for thought in list(part, "thinking") {
                        put("reasoning in content", text(thought, "text").unwrap_or_default());
                    }
                }
            }
            _ => {}
        }
        for field in ["refusal", "reasoning_content", "reasoning"] {
            put(field, text(delta, field).unwrap_or_default());
        }
        for detail in list(delta, "reasoning_details") {
            put("reasoning_details", text(detail, "text").or(text(detail, "summary")).unwrap_or_default());
        }
        put("audio", delta.pointer("/audio/transcript").and_then(Value::as_str).unwrap_or_default());
    }

    pub(in crate::models) fn tell(self, reading: &mut Reading) {
        for ((_, field), text) in self.0 {
            reading.say(match field {
                "refusal" => Said::Refusal(text),
                "content" | "content, lists too" | "content, lists alone" | "audio" => Said::Content(text),
                _ => Said::Reasoning(text),
            });
        }
    }
}
