//! Which turn of a conversation a request is, and whether the API's server would take it.

use serde_json::Value;
use stream_testkit::conformance::Format;
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
    let (messages, format) = match kind {
        WireKind::OpenAiChat => (&request["messages"], Format::OpenAiChat),
        WireKind::OpenAiResponses => (&request["input"], Format::OpenAiResponses),
        WireKind::AnthropicMessages => (&request["messages"], Format::AnthropicMessages),
        WireKind::Gemini => (&request["contents"], Format::Gemini),
    };
    let from_user = |message: &Value| message["role"] == "user" || message["role"] == "system";
    if messages.as_array().is_none_or(|messages| messages.iter().all(from_user)) {
        return Turn::First;
    }
    if body.windows(CANARY.len()).any(|window| window == CANARY) {
        return Turn::Refused("what was dropped came back".to_owned());
    }
    let report = second_turn::check_request(format, request);
    if report.is_clean() { Turn::Second } else { Turn::Refused(report.to_string().trim().to_owned()) }
}
