//! One output item.

use serde_json::Value;

use super::{
    super::{
        CallView, Rule,
        json::{brief, filled, number, text},
        report::Log,
    },
    family::Slot,
    piece::Piece,
};

/// An item, with what its deltas said.
#[derive(Debug, Default)]
pub(super) struct Item {
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) call_id: String,
    pub(super) name: String,
    pub(super) content: Vec<Piece>,
    pub(super) summary: Vec<Piece>,
    pub(super) commands: Vec<Piece>,
    pub(super) payload: Piece,
    /// The item as its `done` showed it.
    pub(super) done: Option<Value>,
}

impl Item {
    pub(super) fn open(item: &Value, log: &mut Log) -> Self {
        let string = |key: &str| text(item, key).unwrap_or_default().to_owned();
        let mut opened = Self { kind: string("type"), id: string("id"), ..Self::default() };
        if opened.kind.is_empty() {
            log.broken(Rule::Shape, format!("expected an item type, found {}", brief(item.get("type"))));
        }
        opened.call_id = string("call_id");
        opened.name = string("name");
        let named = matches!(opened.kind.as_str(), "function_call" | "custom_tool_call");
        for (key, value) in [("call_id", &opened.call_id), ("name", &opened.name)] {
            if named && value.is_empty() {
                let (kind, found) = (&opened.kind, brief(item.get(key)));
                log.broken(
                    Rule::CallIdentity,
                    format!("expected a {kind} to open with {key}, found {found}"),
                );
            }
        }
        opened.payload.text = payload(item).unwrap_or_default().to_owned();
        opened
    }

    /// The pieces of a slot.
    pub(super) fn pieces(&mut self, slot: Slot) -> &mut [Piece] {
        match slot {
            Slot::Content(_) => &mut self.content,
            Slot::Summary => &mut self.summary,
            Slot::Command => &mut self.commands,
            Slot::Payload(_) => std::slice::from_mut(&mut self.payload),
        }
    }

    /// A part is added at its index.
    pub(super) fn add(&mut self, slot: Slot, event: &Value, log: &mut Log) {
        let key = slot.index_key().unwrap_or_default();
        let piece = match slot {
            Slot::Command => Piece::new("", text(event, "command").unwrap_or_default()),
            _ => Piece::new(text(&event["part"], "type").unwrap_or_default(), part_text(&event["part"])),
        };
        let pieces = match slot {
            Slot::Summary => &mut self.summary,
            Slot::Command => &mut self.commands,
            Slot::Content(_) | Slot::Payload(_) => &mut self.content,
        };
        let next = pieces.len() as u64;
        if number(event, key) != Some(next) {
            log.broken(Rule::Index, format!("expected {key} {next}, found {}", brief(event.get(key))));
        }
        pieces.push(piece);
    }

    /// Whether the client is asked to run it.
    pub(super) fn is_call(&self) -> bool {
        CALLS.contains(&self.kind.as_str())
    }

    /// Whether it holds something a client can show or run.
    pub(super) fn is_filled(&self) -> bool {
        let texts = || self.content.iter().chain(&self.summary);
        !matches!(self.kind.as_str(), "message" | "reasoning") || texts().any(|piece| !piece.text.is_empty())
    }

    pub(super) fn call(&self) -> CallView {
        let action = || {
            let done = self.done.as_ref()?;
            ["action", "operation", "arguments"].iter().map(|key| &done[*key]).find(|value| filled(value))
        };
        let arguments = match self.kind.as_str() {
            "function_call" | "custom_tool_call" => self.payload.text.clone(),
            _ => match action() {
                Some(Value::String(text)) => text.clone(),
                Some(value) => value.to_string(),
                None => String::new(),
            },
        };
        let name = if self.name.is_empty() { self.kind.clone() } else { self.name.clone() };
        CallView { id: self.call_id.clone(), name, arguments, kind: self.kind.clone() }
    }
}

/// The text of a part, whatever its type.
pub(super) fn part_text(part: &Value) -> &str {
    text(part, "text").or_else(|| text(part, "refusal")).unwrap_or_default()
}

/// The payload that a copy of an item has, if it is of a kind that streams one.
pub(super) fn payload(item: &Value) -> Option<&str> {
    match text(item, "type")? {
        "function_call" | "mcp_call" => text(item, "arguments"),
        "custom_tool_call" => text(item, "input"),
        "code_interpreter_call" => text(item, "code"),
        "apply_patch_call" => text(&item["operation"], "diff"),
        _ => None,
    }
}

/// The items that a client runs.
const CALLS: &[&str] = &[
    "function_call",
    "custom_tool_call",
    "shell_call",
    "local_shell_call",
    "apply_patch_call",
    "computer_call",
    "mcp_approval_request",
];
