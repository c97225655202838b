//! One content block.

use serde_json::Value;

use super::super::{
    Rule,
    json::{brief, filled, text},
    report::Log,
};

/// A block, with what its deltas said.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) index: u64,
    pub(super) kind: String,
    pub(super) id: String,
    pub(super) name: String,
    /// Text, thinking or partial JSON.
    pub(super) text: String,
    /// The `input` it opened with.
    pub(super) input: Value,
    /// Whether a signature closes its thinking.
    pub(super) signed: bool,
}

impl Block {
    /// Opens a block from a `content_block`.
    pub(super) fn open(index: u64, content: &Value, log: &mut Log) -> Self {
        let kind = text(content, "type").unwrap_or_default().to_owned();
        if kind.is_empty() {
            log.broken(Rule::Shape, format!("expected a block type, found {}", brief(content.get("type"))));
        }
        let block = Self {
            index,
            id: text(content, "id").unwrap_or_default().to_owned(),
            name: text(content, "name").unwrap_or_default().to_owned(),
            text: text(content, if kind == "thinking" { "thinking" } else { "text" })
                .unwrap_or_default()
                .to_owned(),
            input: content["input"].clone(),
            signed: filled(&content["signature"]),
            kind,
        };
        if block.takes_input() {
            block.check_call(content, log);
        }
        block
    }

    /// Whether the client is asked to run it.
    pub(super) fn is_call(&self) -> bool {
        self.kind == "tool_use"
    }

    pub(super) fn takes_input(&self) -> bool {
        matches!(self.kind.as_str(), "tool_use" | "server_tool_use" | "mcp_tool_use")
    }

    pub(super) fn delta(&mut self, delta: &Value, log: &mut Log) {
        let kind = text(delta, "type").unwrap_or_default();
        let Some((_, home, key)) = DELTAS.iter().find(|(known, ..)| *known == kind) else {
            // A kind that is not known yet may fill a block that is not known yet.
            if kind.is_empty() || DELTAS.iter().any(|(_, home, _)| home.contains(&self.kind.as_str())) {
                log.broken(
                    Rule::DeltaType,
                    format!("expected a delta of a {:?} block, found {kind:?}", self.kind),
                );
            }
            return;
        };
        if !home.contains(&self.kind.as_str()) {
            log.broken(
                Rule::DeltaType,
                format!("expected a delta of a {:?} block, found {kind:?}", self.kind),
            );
        }
        match text(delta, key) {
            Some(_) if kind == "signature_delta" => self.sign(log),
            Some(more) => {
                if self.signed && !more.is_empty() {
                    log.broken(Rule::Signature, "expected no thinking after its signature, found some");
                }
                self.text.push_str(more);
            }
            None if matches!(kind, "citations_delta" | "compaction_delta") => {}
            None => {
                log.broken(
                    Rule::Shape,
                    format!("expected {key} in a {kind}, found {}", brief(delta.get(*key))),
                );
            }
        }
    }

    /// A signature is of all thinking before it, so it comes last and once.
    fn sign(&mut self, log: &mut Log) {
        if std::mem::replace(&mut self.signed, true) {
            log.broken(Rule::Signature, "expected one signature, found another");
        }
    }

    /// The arguments: what was streamed, else what the block opened with.
    pub(super) fn arguments(&self) -> String {
        if self.text.is_empty() && filled(&self.input) { self.input.to_string() } else { self.text.clone() }
    }

    fn check_call(&self, content: &Value, log: &mut Log) {
        for (key, value) in [("id", &self.id), ("name", &self.name)] {
            if value.is_empty() {
                let (kind, found) = (&self.kind, brief(content.get(key)));
                log.broken(
                    Rule::CallIdentity,
                    format!("expected a {kind} block to open with {key}, found {found}"),
                );
            }
        }
        if !self.input.is_object() {
            let (kind, found) = (&self.kind, brief(content.get("input")));
            log.broken(
                Rule::Shape,
                format!("expected a {kind} block to open with an input object, found {found}"),
            );
        }
    }
}

/// Each kind of delta, the blocks that take it, and where its payload is.
const DELTAS: &[(&str, &[&str], &str)] = &[
    ("text_delta", &["text"], "text"),
    ("citations_delta", &["text"], "citation"),
    ("thinking_delta", &["thinking"], "thinking"),
    ("signature_delta", &["thinking"], "signature"),
    ("input_json_delta", &["tool_use", "server_tool_use", "mcp_tool_use"], "partial_json"),
    ("compaction_delta", &["compaction"], "content"),
];
