//! Canaries in place of every value of the calls of a stream.

use std::collections::HashSet;

use serde_json::Value;
use stream_testkit::WireKind;

use crate::canaries::{cage, cage_members, rewrite};

/// The stream with its calls in canary letters; `None` if it has none.
pub(crate) fn caged(format: WireKind, body: &[u8]) -> Option<Vec<u8>> {
    let mut calls = Calls::default();
    let body = rewrite(body, |event| match format {
        WireKind::OpenAiChat => calls.chat(event),
        WireKind::OpenAiResponses => calls.responses(event),
        WireKind::AnthropicMessages => calls.anthropic(event),
        WireKind::Gemini => calls.gemini(event),
    });
    (calls.found > 0).then_some(body)
}

#[derive(Default)]
struct Calls {
    found: usize,
    /// The Anthropic blocks that are calls.
    blocks: HashSet<u64>,
}

impl Calls {
    fn chat(&mut self, event: &mut Value) {
        for choice in items(event.get_mut("choices")) {
            for body in ["delta", "message"] {
                let Some(body) = choice.get_mut(body) else { continue };
                for call in items(body.get_mut("tool_calls")) {
                    self.found += 1;
                    cage_members(call, &["id", "function", "custom"]);
                    restore_names(call);
                }
                if let Some(call) = body.get_mut("function_call").filter(|call| call.is_object()) {
                    self.found += 1;
                    cage_members(call, &["name", "arguments"]);
                }
            }
        }
        if let Some(error) = event.get_mut("error") {
            cage_members(error, &["failed_generation"]);
        }
    }

    fn anthropic(&mut self, event: &mut Value) {
        let index = event["index"].as_u64();
        if let Some(block) = event.get_mut("content_block") {
            let is_call = self.anthropic_block(block);
            index.filter(|_| is_call).map(|index| self.blocks.insert(index));
        }
        if index.is_some_and(|index| self.blocks.contains(&index))
            && let Some(delta) = event.get_mut("delta")
        {
            cage_members(delta, &["partial_json"]);
        }
        for block in items(event.get_mut("message").and_then(|message| message.get_mut("content"))) {
            self.anthropic_block(block);
        }
    }

    fn anthropic_block(&mut self, block: &mut Value) -> bool {
        let is_call = block["type"] == "tool_use";
        if is_call {
            self.found += 1;
            cage_members(block, &["id", "name", "input"]);
        }
        is_call
    }

    fn responses(&mut self, event: &mut Value) {
        let kind = event["type"].as_str().unwrap_or_default().to_owned();
        if ["function_call_arguments", "custom_tool_call_input"].iter().any(|name| kind.contains(name)) {
            cage_members(event, &["delta", "arguments", "input", "name"]);
        }
        if let Some(item) = event.get_mut("item") {
            self.responses_item(item);
        }
        for item in items(event.get_mut("response").and_then(|response| response.get_mut("output"))) {
            self.responses_item(item);
        }
    }

    fn responses_item(&mut self, item: &mut Value) {
        if item["type"].as_str().is_some_and(|kind| RUN_BY_CLIENTS.contains(&kind)) {
            self.found += 1;
            cage_members(item, &["call_id", "name", "arguments", "input", "action", "actions", "operation"]);
        }
    }

    fn gemini(&mut self, event: &mut Value) {
        for candidate in items(event.get_mut("candidates")) {
            let content = candidate.get_mut("content");
            for part in items(content.and_then(|content| content.get_mut("parts"))) {
                if let Some(call) = part.get_mut("functionCall") {
                    self.found += 1;
                    cage_members(call, &["id", "name", "args"]);
                    for piece in items(call.get_mut("partialArgs")) {
                        cage_members(piece, &["stringValue"]);
                    }
                }
            }
        }
    }
}

/// The keys within a chat call are the format's own; only what they hold is the call's.
fn restore_names(call: &mut Value) {
    for body in ["function", "custom"] {
        let Some(caged) = call.get_mut(body).and_then(Value::as_object_mut) else { continue };
        for name in ["name", "arguments", "input"] {
            if let Some(value) = caged.remove(&cage(name)) {
                caged.insert(name.to_owned(), value);
            }
        }
    }
    // A signature is envelope (rule 22).
    if let Some(call) = call.as_object_mut() {
        call.remove("extra_content");
    }
}

pub(crate) fn items(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

/// What is a call (rule 7).
const RUN_BY_CLIENTS: [&str; 7] = [
    "function_call",
    "custom_tool_call",
    "shell_call",
    "local_shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
];

#[test]
fn a_call_is_caged_with_all_its_copies() {
    let body = br#"data: {"choices":[{"delta":{"tool_calls":[{"id":"ab","type":"function","function":{"name":"c","arguments":"{\"d\":1}"}}]}}]}

"#;
    let caged = caged(WireKind::OpenAiChat, body).unwrap();
    let expected = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"{\\\"\u{f0064}\\\":\u{f0031}}\",\"name\":\"\u{f0063}\"},\"id\":\"\u{f0061}\u{f0062}\",\"type\":\"function\"}]}}]}\n\n";
    assert_eq!(String::from_utf8(caged).unwrap(), expected);
}
