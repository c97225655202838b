//! A model that counts with a tool: it asks for the count, and tells what the tool answered.

use serde_json::Value;
use stream_http::Api;
use stream_testkit::{Fragments, Script};

use crate::tools::COUNT;

/// What the model says to a request: a call, or what the call's result was.
pub(super) fn script(api: Api, request: &[u8]) -> Script {
    let script = Script::new().text_fragments(Fragments::Chars(6)).argument_fragments(Fragments::Chars(6));
    let request: Value = serde_json::from_slice(request).unwrap_or_default();
    match result(api, &request) {
        Some(count) => script.text(format!("The letter r stands in strawberry {count} times.")).usage(60, 12),
        None => script
            .text("Let me count.")
            .call("call_count", COUNT, r#"{"word":"strawberry","letter":"r"}"#)
            .usage(40, 20),
    }
}

/// The last result that a request has.
fn result(api: Api, request: &Value) -> Option<String> {
    let last = |list: &Value| list.as_array()?.last().cloned();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match api {
        Api::OpenAiChat => {
            text(&last(&request["messages"]).filter(|message| message["role"] == "tool")?["content"])
        }
        Api::OpenAiResponses => text(&last(&request["input"])?["output"]),
        Api::AnthropicMessages => text(&last(&last(&request["messages"])?["content"])?["content"]),
        Api::Gemini => {
            text(&last(&last(&request["contents"])?["parts"])?["functionResponse"]["response"]["output"])
        }
        _ => None,
    }
}
