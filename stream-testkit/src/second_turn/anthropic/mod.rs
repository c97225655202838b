//! Anthropic Messages: the content blocks, then one user message with a `tool_result` for each `tool_use`.

mod check;
mod fold;

use serde_json::{Value, json};

use super::kept::Signed;
use super::report::Log;
use super::{Api, QUESTION, RESULT};
use super::{answer::Answer, json};

/// Anthropic's Messages.
#[derive(Debug)]
pub(super) struct Anthropic;

impl Api for Anthropic {
    fn turns(&self, answer: &Answer) -> Vec<(u64, Value)> {
        let blocks = match answer {
            Answer::Whole(body) => json::list(body, "content").to_vec(),
            Answer::Events(events) => fold::of_stream(events),
        };
        vec![(0, blocks.into())]
    }

    fn request(&self, turn: &Value) -> Value {
        let blocks = turn.as_array().map_or(&[][..], Vec::as_slice);
        let calls = blocks.iter().filter(|block| block["type"] == "tool_use");
        let results = calls
            .map(|call| json!({"type": "tool_result", "tool_use_id": call["id"], "content": RESULT}))
            .collect::<Vec<_>>();
        let question = json!([{"type": "text", "text": QUESTION}]);
        let next = if results.is_empty() { question.clone() } else { results.into() };
        json!({"model": "any", "max_tokens": 1024, "messages": [
            {"role": "user", "content": question},
            {"role": "assistant", "content": turn},
            {"role": "user", "content": next},
        ]})
    }

    fn check(&self, request: &Value, log: &mut Log) {
        check::request(request, log);
    }

    fn signed(&self, turn: &Value) -> Vec<Signed> {
        let blocks = turn.as_array().map_or(&[][..], Vec::as_slice);
        let signed = |what: &str, signature: &str, text: Option<&str>| Signed {
            what: what.to_owned(),
            signature: signature.to_owned(),
            text: text.map(str::to_owned),
            on_call: false,
        };
        let all = blocks.iter().filter_map(|block| match json::text(block, "type") {
            "thinking" => {
                let text = json::text(block, "thinking");
                Some(signed("thinking", json::text(block, "signature"), Some(text)))
            }
            "redacted_thinking" => Some(signed("redacted_thinking", json::text(block, "data"), None)),
            _ => None,
        });
        all.filter(|signed| !signed.signature.is_empty()).collect()
    }
}
