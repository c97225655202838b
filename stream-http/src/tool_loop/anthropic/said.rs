//! What the model said in a turn, as the blocks that go back to it.

use serde_json::Value;

use super::super::join::{Answered, append};
use super::super::json::{Object, Unreadable, array, has_one_meaning, quote};

/// The content blocks of a turn, in order.
#[derive(Debug, Default)]
pub(super) struct Said(Vec<Block>);

#[derive(Debug, Default)]
struct Block {
    index: Option<u64>,
    block: Object,
    /// Texts that came in pieces, by the member they belong to.
    texts: Vec<(&'static str, String)>,
    /// The input, as far as it came in pieces.
    input: Option<String>,
    citations: Vec<String>,
}

impl Said {
    /// A block of a whole answer.
    pub(super) fn whole(&mut self, block: Object) {
        self.0.push(Block { block, ..Block::default() });
    }

    /// A block opens.
    pub(super) fn start(&mut self, index: u64, block: Object) {
        self.0.push(Block { index: Some(index), block, ..Block::default() });
    }

    /// More of a block.
    pub(super) fn delta(&mut self, index: u64, delta: &Object) {
        let Some(block) = self.0.iter_mut().rev().find(|block| block.index == Some(index)) else { return };
        match delta.text("type").as_deref() {
            Some("text_delta") => block.push("text", delta),
            Some("thinking_delta") => block.push("thinking", delta),
            Some("signature_delta") => block.push("signature", delta),
            Some("input_json_delta") => {
                let more = delta.text("partial_json").unwrap_or_default();
                block.input.get_or_insert_default().push_str(&more);
            }
            Some("citations_delta") => block.citations.extend(delta.get("citation").map(str::to_owned)),
            _ => {}
        }
    }

    /// Whether the turn has text.
    pub(super) fn has_text(&self) -> bool {
        self.0.iter().any(|block| block.block.text("type").as_deref() == Some("text") && !block.is_empty())
    }

    /// The request with the assistant's turn, and the user's with the results.
    pub(super) fn extend(&self, request: &mut Object, answered: &[Answered]) -> Result<(), Unreadable> {
        let blocks: Vec<String> = self.0.iter().filter(|block| !block.is_empty()).map(Block::json).collect();
        let results = answered.iter().map(|call| {
            let id = quote(call.id.as_deref().unwrap_or_default());
            let error = if call.result.is_error { r#","is_error":true"# } else { "" };
            let text = quote(&call.result.text);
            format!(r#"{{"type":"tool_result","tool_use_id":{id},"content":{text}{error}}}"#)
        });
        let message = |role: &str, content: String| format!(r#"{{"role":"{role}","content":{content}}}"#);
        let turn = [message("assistant", array(blocks)), message("user", array(results))];
        append(request, "messages", turn);
        Ok(())
    }
}

impl Block {
    fn push(&mut self, member: &'static str, delta: &Object) {
        let more = delta.text(member).unwrap_or_default();
        match self.texts.iter_mut().find(|(known, _)| *known == member) {
            Some((_, all)) => all.push_str(&more),
            None => {
                let all = self.block.text(member).unwrap_or_default() + &more;
                self.texts.push((member, all));
            }
        }
    }

    /// An empty text would be refused.
    fn is_empty(&self) -> bool {
        let text = self.texts.iter().find(|(member, _)| *member == "text").map(|(_, text)| text.clone());
        self.block.text("type").as_deref() == Some("text")
            && text.or_else(|| self.block.text("text")).is_none_or(|text| text.trim().is_empty())
    }

    fn json(&self) -> String {
        let mut block = self.block.clone();
        for (member, text) in &self.texts {
            block.set(member, quote(text));
        }
        if let Some(input) = self.input.as_ref().filter(|input| !input.trim().is_empty()) {
            let is_object = input.trim_start().starts_with('{') && has_one_meaning(input);
            // The API takes nothing but an object; these are its own words for what is none.
            let given =
                if is_object { input.clone() } else { format!(r#"{{"INVALID_JSON":{}}}"#, quote(input)) };
            block.set("input", given);
        }
        if !self.citations.is_empty() {
            let mut all = block.items("citations");
            all.extend(self.citations.iter().cloned());
            block.set("citations", array(all));
        }
        if block.value("citations") == Value::Null {
            block.remove("citations");
        }
        block.to_string()
    }
}
