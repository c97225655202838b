//! Which turn of a conversation a request is, and whether the API's server would take it.

use serde_json::Value;
use stream_testkit::{WireKind, second_turn};

use crate::scenario::CANARY;

/// A request, by its turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Turn {
    /// Nothing has been answered yet.
    First,
    /// An answer is sent back, in a request that is as it must be.
    Second,
    /// An answer is sent back, and the server would not take it, or something of it should never have arrived.
    Refused(String),
}

/// Reads a request.
pub(crate) fn read(kind: WireKind, request: &Value, body: &[u8]) -> Turn {
    let messages = &request[match kind {
        WireKind::OpenAiChat | WireKind::AnthropicMessages => "messages",
        WireKind::OpenAiResponses => "input",
        WireKind::Gemini => "contents",
    }];
    let from_user = |message: &Value| message["role"] == "user" || message["role"] == "system";
    if messages.as_array().is_none_or(|messages| messages.iter().all(from_user)) {
        return Turn::First;
    }
    if body.windows(CANARY.len()).any(|window| window == CANARY) {
        return Turn::Refused("what was dropped came back".to_owned());
    }
    let report = match kind {
        WireKind::Gemini => second_turn::check_request(kind, &joined(request)),
        _ => second_turn::check_request(kind, request),
    };
    if report.is_clean() { Turn::Second } else { Turn::Refused(report.to_string().trim().to_owned()) }
}

/// How many results of tools a request has.
pub(crate) fn results(kind: WireKind, request: &Value) -> usize {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    match kind {
        WireKind::OpenAiChat => {
            list(&request["messages"]).iter().filter(|message| message["role"] == "tool").count()
        }
        WireKind::OpenAiResponses => {
            list(&request["input"]).iter().filter(|item| item["type"] == "function_call_output").count()
        }
        WireKind::AnthropicMessages => {
            let blocks = list(&request["messages"]).into_iter().flat_map(|message| list(&message["content"]));
            blocks.filter(|block| block["type"] == "tool_result").count()
        }
        WireKind::Gemini => {
            let parts = list(&request["contents"]).into_iter().flat_map(|content| list(&content["parts"]));
            parts.filter(|part| part.get("functionResponse").is_some()).count()
        }
    }
}

/// A Gemini request with the contents of each turn in one.
///
/// The chats of Google's SDKs keep every chunk of a stream as a content of its own, the empty text of the last one too,
/// and send it all back; Google's servers take what is next to each other for one turn.
fn joined(request: &Value) -> Value {
    let mut turns: Vec<Value> = Vec::new();
    for content in request["contents"].as_array().into_iter().flatten() {
        let is_empty = |part: &Value| part["text"] == "" && part.get("thoughtSignature").is_none();
        let parts = content["parts"].as_array().into_iter().flatten();
        let parts: Vec<Value> = parts.filter(|part| !is_empty(part)).cloned().collect();
        match turns.last_mut().filter(|turn| turn["role"] == content["role"]) {
            Some(turn) => {
                if let Some(all) = turn["parts"].as_array_mut() {
                    all.extend(parts);
                }
            }
            None => turns.push(serde_json::json!({"role": content["role"], "parts": parts})),
        }
    }
    serde_json::json!({"contents": turns})
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn turn(kind: WireKind, request: &Value) -> Turn {
        read(kind, request, request.to_string().as_bytes())
    }

    #[test]
    fn a_question_is_the_first_turn() {
        let question = json!([{"role": "user", "content": "Go on."}]);
        assert_eq!(turn(WireKind::OpenAiChat, &json!({"messages": question})), Turn::First);
        assert_eq!(turn(WireKind::OpenAiResponses, &json!({"input": question})), Turn::First);
        assert_eq!(turn(WireKind::OpenAiResponses, &json!({"input": "Go on."})), Turn::First);
        assert_eq!(turn(WireKind::AnthropicMessages, &json!({"messages": question})), Turn::First);
    }

    #[test]
    fn an_answer_that_no_server_takes_is_refused_with_the_reason() {
        let messages = json!([{"role": "user", "content": "Go on."}, {"role": "assistant", "content": []}]);
        assert_eq!(
            turn(WireKind::AnthropicMessages, &json!({"messages": messages})),
            Turn::Refused("messages[1]: empty-turn: expected content, found none".to_owned())
        );
    }

    #[test]
    fn what_should_never_have_arrived_is_refused() {
        let messages = json!([{"role": "user", "content": "?"}, {"role": "assistant", "content": "canary"}]);
        assert_eq!(
            turn(WireKind::OpenAiChat, &json!({"messages": messages})),
            Turn::Refused("what was dropped came back".to_owned())
        );
    }

    #[test]
    fn contents_of_one_turn_are_joined() {
        let request = json!({"contents": [
            {"role": "user", "parts": [{"text": "Go on."}]},
            {"role": "model", "parts": [{"text": "Let me"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "read_file", "args": {}}}]},
            {"role": "model", "parts": [{"text": ""}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "read_file", "response": {}}}]},
        ]});
        assert_eq!(turn(WireKind::Gemini, &request), Turn::Second);
    }

    #[test]
    fn a_turn_of_nothing_is_still_nothing() {
        let request = json!({"contents": [
            {"role": "user", "parts": [{"text": "Go on."}]},
            {"role": "model", "parts": [{"text": ""}]},
            {"role": "user", "parts": [{"text": "Go on."}]},
        ]});
        assert_eq!(
            turn(WireKind::Gemini, &request),
            Turn::Refused("contents[1]: empty-turn: expected parts, found none".to_owned())
        );
    }
}
