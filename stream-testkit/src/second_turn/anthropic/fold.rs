//! From events to content blocks.

use serde_json::{Value, json};

use super::super::json::{append, extend, list, text};

/// The blocks of a stream, as they came.
pub(super) fn of_stream(events: &[Value]) -> Vec<Value> {
    let mut blocks: Vec<Block> = Vec::new();
    for event in events {
        match text(event, "type") {
            "message_start" => {
                let filled = list(&event["message"], "content").iter();
                blocks.extend(filled.map(|block| Block::new(block.clone())));
            }
            "content_block_start" => blocks.push(Block::new(event["content_block"].clone())),
            "content_block_delta" => {
                let at = event["index"].as_u64().and_then(|index| usize::try_from(index).ok());
                if let Some(block) = at.and_then(|at| blocks.get_mut(at)) {
                    block.fold(&event["delta"]);
                }
            }
            _ => {}
        }
    }
    blocks.into_iter().map(Block::close).collect()
}

struct Block {
    value: Value,
    input: String,
}

impl Block {
    fn new(value: Value) -> Self {
        Self { value, input: String::new() }
    }

    fn fold(&mut self, delta: &Value) {
        let value = &mut self.value;
        match text(delta, "type") {
            "text_delta" => append(value, "text", text(delta, "text")),
            "thinking_delta" => append(value, "thinking", text(delta, "thinking")),
            "signature_delta" => append(value, "signature", text(delta, "signature")),
            "compaction_delta" => append(value, "content", text(delta, "content")),
            "input_json_delta" => self.input.push_str(text(delta, "partial_json")),
            "citations_delta" => extend(value, "citations", std::slice::from_ref(&delta["citation"])),
            _ => {}
        }
    }

    fn close(mut self) -> Value {
        if !self.input.is_empty() {
            // What is no JSON stays a string, which no server takes.
            let input = serde_json::from_str(&self.input).unwrap_or_else(|_| json!(self.input));
            self.value["input"] = input;
        }
        self.value
    }
}
