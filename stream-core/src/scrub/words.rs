//! The words of the protocols: types, roles, statuses and reasons, without which nobody could read a frame.
//!
//! A word stays whatever a policy looks for. Any other value in the place of a word is searched as every string is.

/// Whether a value is a word of a protocol.
pub(super) fn is_known(word: &str) -> bool {
    let word = word.strip_prefix("response.").unwrap_or(word);
    word.is_empty() || WORDS.binary_search(&word).is_ok()
}

/// The words of all APIs in the order of their bytes; those of Responses' events without `response.`.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "ABORTED", "ALREADY_EXISTS", "BLOCKED_REASON_UNSPECIFIED", "BLOCKLIST", "BLOCK_REASON_UNSPECIFIED", "CANCELLED",
    "DATA_LOSS", "DEADLINE_EXCEEDED", "FAILED_PRECONDITION", "FINISH_REASON_UNSPECIFIED", "IMAGE_OTHER",
    "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION", "IMAGE_SAFETY", "INTERNAL", "INVALID_ARGUMENT", "JAILBREAK",
    "LANGUAGE", "MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "MAX_TOKENS", "MISSING_THOUGHT_SIGNATURE",
    "MODEL_ARMOR", "NOT_FOUND", "NO_IMAGE", "OK", "OTHER", "OUT_OF_RANGE", "PERMISSION_DENIED",
    "PROHIBITED_CONTENT", "RECITATION", "RESOURCE_EXHAUSTED", "SAFETY", "SPII", "STOP", "TOO_MANY_TOOL_CALLS",
    "UNAUTHENTICATED", "UNAVAILABLE", "UNEXPECTED_TOOL_CALL", "UNIMPLEMENTED", "UNKNOWN", "adaptive",
    "advisor_message", "advisor_result", "advisor_tool_result", "allowed_tools", "any", "api_error", "apply_patch",
    "apply_patch_call", "apply_patch_call_operation_diff.delta", "apply_patch_call_operation_diff.done",
    "apply_patch_call_output", "approved", "approximate", "array", "assistant", "audio", "audio.delta",
    "audio.done", "audio.transcript.delta", "audio.transcript.done", "authentication_error", "auto",
    "bash_code_execution_result", "bash_code_execution_tool_result", "billing_error", "blocklist", "boolean",
    "calling", "cancelled", "char_location", "chat.completion", "chat.completion.chunk", "chat.completion.deleted",
    "chat.completion.done", "citations_delta", "click", "code_execution", "code_execution_result",
    "code_execution_tool_result", "code_interpreter", "code_interpreter_call", "code_interpreter_call.completed",
    "code_interpreter_call.in_progress", "code_interpreter_call.interpreting", "code_interpreter_call_code.delta",
    "code_interpreter_call_code.done", "compaction", "compaction_delta", "completed", "completion.chunk",
    "computer_call", "computer_call_output", "computer_screenshot", "computer_use_preview",
    "container_file_citation", "container_reference", "container_upload", "content_block_delta",
    "content_block_location", "content_block_start", "content_block_stop", "content_filter", "content_part.added",
    "content_part.done", "create_file", "created", "custom", "custom_tool_call", "custom_tool_call_input.delta",
    "custom_tool_call_input.done", "custom_tool_call_output", "delete_file", "deleted", "denied", "developer",
    "direct", "disabled", "document", "double_click", "drag", "enabled", "end_turn", "eos", "ephemeral", "error",
    "exec", "exit", "failed", "file", "file_citation", "file_path", "file_search", "file_search_call",
    "file_search_call.completed", "file_search_call.in_progress", "file_search_call.searching", "find",
    "find_in_page", "function", "function_call", "function_call_arguments.delta", "function_call_arguments.done",
    "function_call_output", "general", "generating", "grammar", "image", "image_generation",
    "image_generation_call", "image_generation_call.completed", "image_generation_call.generating",
    "image_generation_call.in_progress", "image_generation_call.partial_image", "image_url", "in_progress",
    "incomplete", "input_audio", "input_file", "input_image", "input_json_delta", "input_text",
    "insufficient_quota", "insufficient_system_resource", "integer", "interpreting", "invalid_prompt",
    "invalid_request_error", "item_reference", "json_object", "json_schema", "keepalive", "keypress", "length",
    "list", "local_shell_call", "local_shell_call_output", "logs", "max_output_tokens", "max_tokens", "mcp",
    "mcp_approval_request", "mcp_approval_response", "mcp_call", "mcp_call.completed", "mcp_call.failed",
    "mcp_call.in_progress", "mcp_call_arguments.delta", "mcp_call_arguments.done", "mcp_list_tools",
    "mcp_list_tools.completed", "mcp_list_tools.failed", "mcp_list_tools.in_progress", "mcp_tool_result",
    "mcp_tool_use", "message", "message_delta", "message_start", "message_stop", "model",
    "model_context_window_exceeded", "model_length", "move", "none", "not_found_error", "null", "number", "object",
    "open_page", "output_audio", "output_item.added", "output_item.done", "output_text",
    "output_text.annotation.added", "output_text.delta", "output_text.done", "overloaded_error", "page_location",
    "pause_turn", "pending", "permission_error", "ping", "policy_error", "program", "program_output",
    "programmatic_tool_calling", "prohibited_content", "python", "queued", "rate_limit_error",
    "rate_limit_exceeded", "reasoning", "reasoning.delta", "reasoning.done", "reasoning.encrypted",
    "reasoning.summary", "reasoning.text", "reasoning_summary.delta", "reasoning_summary.done",
    "reasoning_summary_part.added", "reasoning_summary_part.done", "reasoning_summary_text.delta",
    "reasoning_summary_text.done", "reasoning_text", "reasoning_text.delta", "reasoning_text.done", "recitation",
    "redacted_thinking", "refusal", "refusal.delta", "refusal.done", "request_too_large", "requests", "required",
    "response", "safety", "screenshot", "scroll", "search", "search_result", "search_result_location", "searching",
    "server_error", "server_tool_use", "shell", "shell_call", "shell_call_command.added",
    "shell_call_command.delta", "shell_call_command.done", "shell_call_output", "shell_call_output_content.delta",
    "shell_call_output_content.done", "signature_delta", "spii", "stop", "stop_sequence", "string", "summary_text",
    "system", "text", "text_delta", "text_editor_code_execution_create_result",
    "text_editor_code_execution_tool_result", "text_editor_code_execution_tool_result_error",
    "text_editor_code_execution_view_result", "thinking", "thinking_delta", "timeout_error", "tokens", "tool",
    "tool_calls", "tool_reference", "tool_result", "tool_search", "tool_search_call", "tool_search_output",
    "tool_search_tool_result", "tool_search_tool_search_result", "tool_use", "type", "update_file", "url_citation",
    "user", "wait", "web_fetch_result", "web_fetch_tool_result", "web_search", "web_search_call",
    "web_search_call.completed", "web_search_call.in_progress", "web_search_call.searching", "web_search_preview",
    "web_search_result", "web_search_result_location", "web_search_tool_result", "x_search",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_in_order() {
        assert_eq!(WORDS.iter().zip(&WORDS[1..]).find(|(one, next)| one >= next), None);
    }

    #[test]
    fn words_are_known_with_and_without_their_prefix() {
        assert!(is_known("assistant") && is_known("response.output_text.delta") && is_known(""));
        assert!(!is_known("BLUEBIRD") && !is_known("response.BLUEBIRD"));
    }
}
