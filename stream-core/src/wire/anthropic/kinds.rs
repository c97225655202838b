//! The types of events, blocks and deltas: the fields that each of them has, and who runs a block.

use crate::delta::Runs;

/// The events of the format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventKind {
    BlockDelta,
    BlockStart,
    BlockStop,
    MessageStart,
    MessageDelta,
    MessageStop,
    Ping,
    Error,
}

/// The events in the order of [`EventKind`], the most frequent ones first: the type, and the fields beside it.
static EVENTS: [(EventKind, &str, &[&str]); 8] = [
    (EventKind::BlockDelta, "content_block_delta", &["index", "delta"]),
    (EventKind::BlockStart, "content_block_start", &["index", "content_block"]),
    (EventKind::BlockStop, "content_block_stop", &["index"]),
    (EventKind::MessageStart, "message_start", &["message"]),
    (EventKind::MessageDelta, "message_delta", &["delta", "usage", "context_management"]),
    (EventKind::MessageStop, "message_stop", &[]),
    (EventKind::Ping, "ping", &[]),
    (EventKind::Error, "error", &[]),
];

impl EventKind {
    /// The event of this type.
    pub(super) fn named(name: &str) -> Option<Self> {
        EVENTS.iter().find(|(_, word, _)| *word == name).map(|(kind, ..)| *kind)
    }

    /// The type of the event.
    pub(super) fn word(self) -> &'static str {
        EVENTS[self as usize].1
    }

    /// The fields of the event beside its type.
    pub(super) fn own_fields(self) -> &'static [&'static str] {
        EVENTS[self as usize].2
    }

    /// Whether no other API has an event of this type.
    pub(super) fn is_own(self) -> bool {
        !matches!(self, Self::Ping | Self::Error)
    }
}

/// The known fields that a block of this type does not have; `None` where the type is not known.
pub(super) fn foreign_fields(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "text" => &["thinking", "id", "name", "input"],
        "thinking" => &["text", "citations", "id", "name", "input"],
        "tool_use" | "server_tool_use" | "mcp_tool_use" => &["text", "thinking", "citations"],
        "redacted_thinking" => &["text", "thinking", "citations", "id", "name", "input"],
        // Results name no tool.
        _ if is_result(kind) => &["name", "input"],
        _ => return None,
    })
}

/// The party that runs an opaque block.
pub(super) fn runs(kind: &str) -> Runs {
    if SERVER_BLOCKS.contains(&kind) || kind.ends_with("_tool_result") { Runs::Server } else { Runs::Unknown }
}

/// Whether a block is known to be no call, even if it has a `name`: a result, or something that was made.
pub(super) fn is_result(kind: &str) -> bool {
    runs(kind) == Runs::Server && !matches!(kind, "server_tool_use" | "mcp_tool_use")
}

/// The field that a delta of this type has.
pub(super) fn delta_field(kind: &str) -> Option<&'static str> {
    Some(match kind {
        "text_delta" => "text",
        "thinking_delta" => "thinking",
        "input_json_delta" => "partial_json",
        "signature_delta" => "signature",
        "citations_delta" => "citation",
        _ => return None,
    })
}

/// The fields of the deltas of blocks.
pub(super) const DELTA_FIELDS: [&str; 5] = ["text", "thinking", "partial_json", "signature", "citation"];

/// The tools of the API's own that `server_tool_use` can name.
pub(super) const SERVER_TOOLS: &[&str] = &[
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
    "advisor",
];

/// The blocks that are known to give the client nothing to run; results are known by the end of their type.
const SERVER_BLOCKS: &[&str] = &[
    "redacted_thinking",
    "server_tool_use",
    "mcp_tool_use",
    "container_upload",
    "compaction",
    "compaction_delta",
    "search_result",
    "document",
    "image",
];
