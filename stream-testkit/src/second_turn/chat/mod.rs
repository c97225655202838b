//! Chat Completions: one message, then a `tool` message for each call.

mod check;
mod fold;

use serde_json::{Value, json};

use super::kept::Signed;
use super::report::Log;
use super::{Api, QUESTION, RESULT};
use super::{answer::Answer, json};

/// OpenAI's Chat Completions, and what imitates it.
#[derive(Debug)]
pub(super) struct Chat;

impl Api for Chat {
    fn turns(&self, answer: &Answer) -> Vec<(u64, Value)> {
        match answer {
            Answer::Whole(body) => {
                let choices = json::list(body, "choices").iter();
                choices.map(|choice| (index(choice), fold::of_whole(&choice["message"]))).collect()
            }
            Answer::Events(chunks) => fold::of_stream(chunks),
        }
    }

    fn request(&self, turn: &Value) -> Value {
        let question = json!({"role": "user", "content": QUESTION});
        let mut messages = vec![question.clone(), turn.clone()];
        for call in json::list(turn, "tool_calls") {
            messages.push(json!({"role": "tool", "tool_call_id": call["id"], "content": RESULT}));
        }
        if let Some(call) = turn.get("function_call") {
            messages.push(json!({"role": "function", "name": call["name"], "content": RESULT}));
        }
        if messages.len() == 2 {
            messages.push(question);
        }
        json!({"model": "any", "messages": messages})
    }

    fn check(&self, request: &Value, log: &mut Log) {
        check::request(request, log);
    }

    fn signed(&self, turn: &Value) -> Vec<Signed> {
        let mut signed = Vec::new();
        let mut push = |what: &str, signature: &Value| {
            if let Some(signature) = signature.as_str().filter(|signature| !signature.is_empty()) {
                let (what, signature) = (what.to_owned(), signature.to_owned());
                signed.push(Signed { what, signature, text: None, on_call: false });
            }
        };
        for detail in json::list(turn, "reasoning_details") {
            push("reasoning_details", &detail["signature"]);
            push("reasoning_details", &detail["data"]);
        }
        push("reasoning_opaque", &turn["reasoning_opaque"]);
        for call in json::list(turn, "tool_calls") {
            let signature = call["extra_content"]["google"]["thought_signature"].as_str().unwrap_or_default();
            let what = "a tool call".to_owned();
            signed.push(Signed { what, signature: signature.to_owned(), text: None, on_call: true });
        }
        signed
    }
}

fn index(choice: &Value) -> u64 {
    choice["index"].as_u64().unwrap_or_default()
}
