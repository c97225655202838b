//! Families of events that stream one text: `<name>.delta` and `<name>.done`.

/// Where the text of a family lives in its item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// The part at `content_index`, of this type.
    Content(&'static str),
    /// The part at `summary_index`.
    Summary,
    /// The command at `command_index`.
    Command,
    /// The one text of an item of this type.
    Payload(&'static str),
}

impl Slot {
    /// The key of the index, if there are several.
    pub(super) fn index_key(self) -> Option<&'static str> {
        match self {
            Self::Content(_) => Some("content_index"),
            Self::Summary => Some("summary_index"),
            Self::Command => Some("command_index"),
            Self::Payload(_) => None,
        }
    }
}

/// A family of events.
#[derive(Debug)]
pub(super) struct Family {
    pub(super) name: &'static str,
    pub(super) slot: Slot,
    /// Where `done` has the whole text.
    pub(super) whole: &'static str,
}

impl Family {
    /// The family of an event type, and whether it is a delta.
    pub(super) fn of(kind: &str) -> Option<(&'static Self, bool)> {
        let (name, delta) = match kind.strip_suffix(".delta") {
            Some(name) => (name, true),
            None => (kind.strip_suffix(".done")?, false),
        };
        Some((FAMILIES.iter().find(|family| family.name == name)?, delta))
    }
}

/// The families whose text is checked. Others belong to tools that the provider runs.
const FAMILIES: &[Family] = &[
    family("response.output_text", Slot::Content("output_text"), "text"),
    family("response.refusal", Slot::Content("refusal"), "refusal"),
    family("response.reasoning_text", Slot::Content("reasoning_text"), "text"),
    family("response.reasoning_summary_text", Slot::Summary, "text"),
    family("response.shell_call_command", Slot::Command, "command"),
    family("response.function_call_arguments", Slot::Payload("function_call"), "arguments"),
    family("response.custom_tool_call_input", Slot::Payload("custom_tool_call"), "input"),
    family("response.mcp_call_arguments", Slot::Payload("mcp_call"), "arguments"),
    family("response.code_interpreter_call_code", Slot::Payload("code_interpreter_call"), "code"),
    family("response.apply_patch_call_operation_diff", Slot::Payload("apply_patch_call"), "diff"),
];

const fn family(name: &'static str, slot: Slot, whole: &'static str) -> Family {
    Family { name, slot, whole }
}
