//! Responses: the output items go back as input, each call followed by its output.

mod check;
mod fold;

use serde_json::{Value, json};

use super::kept::Signed;
use super::report::Log;
use super::{Api, QUESTION, RESULT};
use super::{answer::Answer, json};

/// OpenAI's Responses.
#[derive(Debug)]
pub(super) struct Responses;

impl Api for Responses {
    fn turns(&self, answer: &Answer) -> Vec<(u64, Value)> {
        let items = match answer {
            Answer::Whole(body) => json::list(body, "output").to_vec(),
            Answer::Events(events) => fold::of_stream(events),
        };
        vec![(0, items.into())]
    }

    fn request(&self, turn: &Value) -> Value {
        let items = turn.as_array().map_or(&[][..], Vec::as_slice);
        let question =
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": QUESTION}]});
        let mut input = vec![question.clone()];
        input.extend_from_slice(items);
        // What the provider ran itself has its output among the items.
        let is_answered = |call: &Value| {
            let output = |item: &&Value| text_ends(item, "_output") && item["call_id"] == call["call_id"];
            items.iter().any(|item| output(&item))
        };
        let answers = items.iter().filter(|item| !is_answered(item)).filter_map(answer).collect::<Vec<_>>();
        input.extend(if answers.is_empty() { vec![question] } else { answers });
        json!({"model": "any", "input": input})
    }

    fn check(&self, request: &Value, log: &mut Log) {
        check::request(request, log);
    }

    fn signed(&self, turn: &Value) -> Vec<Signed> {
        let items = turn.as_array().map_or(&[][..], Vec::as_slice);
        let signed = items.iter().flat_map(|item| {
            let kind = json::text(item, "type");
            // A compaction is encrypted too; only reasoning is also known by its id.
            let id = if kind == "reasoning" { json::text(item, "id") } else { "" };
            let summary = json::list(item, "summary").iter().map(|part| json::text(part, "text")).collect();
            let content = json::text(item, "encrypted_content");
            let (item, id_of) = (format!("a {kind} item"), format!("the id of a {kind} item"));
            [(item, content, Some(summary)), (id_of, id, None)].map(|(what, signature, text)| Signed {
                what,
                signature: signature.to_owned(),
                text,
                on_call: false,
            })
        });
        signed.filter(|signed| !signed.signature.is_empty()).collect()
    }
}

/// The answer to an item that the client has to run; none for others.
fn answer(item: &Value) -> Option<Value> {
    let kind = json::text(item, "type");
    let id = &item["call_id"];
    Some(match kind {
        "function_call" | "custom_tool_call" => {
            json!({"type": format!("{kind}_output"), "call_id": id, "output": RESULT})
        }
        "local_shell_call" => {
            json!({"type": "local_shell_call_output", "id": id, "call_id": id, "output": RESULT})
        }
        "shell_call" => json!({"type": "shell_call_output", "call_id": id, "output": [
            {"stdout": RESULT, "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
        ]}),
        "apply_patch_call" => {
            json!({"type": "apply_patch_call_output", "call_id": id, "status": "completed"})
        }
        "computer_call" => json!({"type": "computer_call_output", "call_id": id, "output": {
            "type": "computer_screenshot", "image_url": "data:image/png;base64,",
        }}),
        "mcp_approval_request" => {
            json!({"type": "mcp_approval_response", "approval_request_id": item["id"], "approve": true})
        }
        _ => return None,
    })
}

fn text_ends(item: &Value, end: &str) -> bool {
    json::text(item, "type").ends_with(end)
}
