//! Words for what is not a number: each from a list, none from a stream.

use stream_core::{Cause, End, FinishKind};
use stream_http::Api;

/// The operation that an API stands for, and whose API it is.
pub(super) fn operation(api: Api) -> (&'static str, &'static str) {
    match api {
        Api::OpenAiChat | Api::OpenAiResponses => ("chat", "openai"),
        Api::AnthropicMessages => ("chat", "anthropic"),
        Api::Gemini => ("generate_content", "gcp.gemini"),
        _ => ("chat", "_OTHER"),
    }
}

/// The word for a finish reason; the provider's own is not told.
pub(super) fn finish(kind: FinishKind) -> &'static str {
    match kind {
        FinishKind::Stop => "stop",
        FinishKind::ToolCalls => "tool_calls",
        FinishKind::Length => "length",
        FinishKind::Filter => "content_filter",
        FinishKind::Refusal => "refusal",
        FinishKind::Pause => "pause",
        FinishKind::Error => "error",
        _ => "other",
    }
}

pub(super) fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Verdict => "verdict",
        Cause::Deadline => "deadline",
        Cause::StreamEnded => "stream_ended",
        Cause::PolicyFailed => "policy_failed",
        Cause::Host => "host",
        Cause::Wire => "wire",
        _ => "other",
    }
}

/// How the stream ended as the last policy saw it.
pub(super) fn end(end: &End) -> &'static str {
    match end {
        End::Finished => "finished",
        End::Cut(_) => "cut",
        End::Failed(_) => "failed",
        End::Terminated(_) => "terminated",
        _ => "other",
    }
}
