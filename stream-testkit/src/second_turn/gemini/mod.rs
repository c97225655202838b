//! Gemini: one content of parts, then one with a `functionResponse` for each `functionCall`.

mod check;
mod fold;

use serde_json::{Value, json};

use super::kept::Signed;
use super::report::Log;
use super::{Api, QUESTION, RESULT};
use super::{answer::Answer, json};

/// Google's `generateContent`.
#[derive(Debug)]
pub(super) struct Gemini;

impl Api for Gemini {
    fn turns(&self, answer: &Answer) -> Vec<(u64, Value)> {
        fold::candidates(answer.objects())
    }

    fn request(&self, turn: &Value) -> Value {
        let results = fold::open_calls(turn).map(|call| {
            let mut response = json!({"name": call["name"], "response": {"output": RESULT}});
            if let Some(id) = call.get("id") {
                response["id"] = id.clone();
            }
            json!({"functionResponse": response})
        });
        let results: Vec<Value> = results.collect();
        let question = json!([{"text": QUESTION}]);
        let next = if results.is_empty() { question.clone() } else { results.into() };
        json!({"contents": [
            {"role": "user", "parts": question},
            turn,
            {"role": "user", "parts": next},
        ]})
    }

    fn check(&self, request: &Value, log: &mut Log) {
        check::request(request, log);
    }

    fn signed(&self, turn: &Value) -> Vec<Signed> {
        let signed = json::list(turn, "parts").iter().map(|part| {
            let on_call = part.get("functionCall").is_some();
            let what = if on_call { "a functionCall" } else { "a part" };
            let signature = json::text(part, "thoughtSignature");
            Signed { what: what.to_owned(), signature: signature.to_owned(), text: None, on_call }
        });
        signed.filter(|signed| signed.on_call || !signed.signature.is_empty()).collect()
    }
}
