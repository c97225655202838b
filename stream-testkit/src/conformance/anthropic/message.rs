//! The message that the blocks make up.

use super::{
    super::{
        CallView, ChoiceView, Deviation, Ended, Rule, View,
        json::{filled, is_whole, quote},
        report::Log,
    },
    block::Block,
};

/// What the message holds so far.
#[derive(Debug, Default)]
pub(super) struct Message {
    choice: ChoiceView,
    blocks: u64,
    /// Name and input of every tool block, whoever runs it.
    inputs: Vec<(String, String)>,
    /// Blocks that hold something.
    filled: usize,
    /// The event that stopped the last thinking, if it has no signature.
    unsigned: Option<usize>,
    pub(super) usage: bool,
}

impl Message {
    /// How many blocks have started.
    pub(super) fn blocks(&self) -> u64 {
        self.blocks
    }

    pub(super) fn stop_reason(&self) -> Option<&str> {
        self.choice.finish.as_deref()
    }

    pub(super) fn stop(&mut self, reason: &str) {
        self.choice.finish = Some(reason.to_owned());
    }

    /// A block starts.
    pub(super) fn admit(&mut self, block: &Block, log: &mut Log) {
        if !self.choice.calls.is_empty() && !block.is_call() {
            let message =
                format!("expected nothing but tool_use after a tool_use, found a {:?} block", block.kind);
            let excuse = (block.kind == "server_tool_use").then_some(Deviation::ServerToolAfterToolUse);
            log.push(Rule::AfterToolUse, excuse, message);
        }
        if block.is_call() && self.choice.calls.iter().any(|call| call.id == block.id) {
            log.broken(Rule::CallIdentity, format!("expected an id of its own, found {:?} again", block.id));
        }
        self.blocks += 1;
    }

    /// A block stopped.
    pub(super) fn close(&mut self, block: Block, log: &mut Log) {
        if block.takes_input() && !block.text.is_empty() && filled(&block.input) {
            let name = &block.name;
            log.broken(
                Rule::Copy,
                format!("expected the input of {name:?} at its start or in deltas, found both"),
            );
        }
        if block.kind == "text" && block.text.is_empty() {
            let message = format!("expected text in block {}, found none", block.index);
            log.deviates(Rule::EmptyBlock, Deviation::EmptyTextBlock, message);
        }
        if block.kind == "thinking" {
            self.unsigned = (!block.signed).then_some(log.event);
        }
        if block.kind == "thinking" && !block.signed {
            let message =
                format!("expected a signature of the thinking in block {}, found none", block.index);
            log.deviates(Rule::Signature, Deviation::UnsignedThinking, message);
        }
        self.keep(block);
    }

    /// What a client has of a block, stopped or not.
    pub(super) fn keep(&mut self, block: Block) {
        self.filled += usize::from(block.kind != "text" || !block.text.is_empty());
        if block.takes_input() {
            self.inputs.push((block.name.clone(), block.arguments()));
        }
        match block.kind.as_str() {
            "text" => self.choice.content.push_str(&block.text),
            "thinking" => self.choice.reasoning.push_str(&block.text),
            "tool_use" => {
                let arguments = block.arguments();
                self.choice.calls.push(CallView {
                    id: block.id,
                    name: block.name,
                    arguments,
                    kind: block.kind,
                });
            }
            _ => {}
        }
    }

    /// What can only be said once the message is over.
    pub(super) fn check_end(&self, log: &mut Log) {
        let Some(reason) = self.stop_reason() else { return };
        if !REASONS.contains(&reason) {
            log.broken(Rule::FinishReason, format!("expected a known stop_reason, found {reason:?}"));
        }
        let calls = &self.choice.calls;
        if reason == "tool_use" && calls.is_empty() {
            log.broken(Rule::FinishReason, "expected a tool_use block before \"tool_use\", found none");
        }
        if reason == "end_turn" && !calls.is_empty() {
            log.broken(
                Rule::FinishReason,
                "expected \"tool_use\" after a tool_use block, found \"end_turn\"",
            );
        }
        let cut = matches!(reason, "max_tokens" | "refusal" | "model_context_window_exceeded");
        for (name, input) in &self.inputs[..self.inputs.len().saturating_sub(usize::from(cut))] {
            if !is_whole(input) {
                let found = quote(input);
                let message = format!("expected the input of {name:?} to be one JSON value, found {found}");
                log.broken(Rule::Arguments, message);
            }
        }
        // A refused turn is not sent again: the thought that it cut off needs no signature.
        if let Some(event) = self.unsigned.filter(|_| reason == "refusal") {
            log.forgive(event, Deviation::UnsignedThinking);
        }
        if reason == "end_turn" && self.filled == 0 {
            log.broken(Rule::EmptyTurn, "expected a block that holds something, found none");
        }
    }

    pub(super) fn view(self, ended: Ended) -> View {
        View { choices: vec![self.choice], ended, usage: self.usage }
    }
}

const REASONS: &[&str] = &[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "pause_turn",
    "refusal",
    "compaction",
    "model_context_window_exceeded",
];
