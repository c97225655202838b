//! The terminal event, and what can be said after it.

use serde_json::Value;

use super::{
    super::{
        ChoiceView, Deviation, Ended, Rule, View,
        json::{brief, filled, is_whole, list, quote, text},
        report::Log,
    },
    Responses, copies,
    item::{Item, part_text, payload},
    piece::Piece,
};

impl Responses {
    /// Takes a terminal event.
    pub(super) fn end(&mut self, kind: &str, object: &Value, log: &mut Log) {
        let name = kind.trim_start_matches("response.");
        self.terminal = Some(name.to_owned());
        if name == "error" {
            // The documented shape is flat; the API sends an object.
            if !object["message"].is_string() && !object["error"]["message"].is_string() {
                log.broken(Rule::Shape, "expected a message in the error, found none");
            }
            return;
        }
        let response = &object["response"];
        self.usage |= filled(&response["usage"]);
        self.filtered = response["incomplete_details"]["reason"] == "content_filter";
        if text(response, "status") != Some(name) {
            let found = brief(response.get("status"));
            log.broken(Rule::Ending, format!("expected status {name:?} in {kind}, found {found}"));
        }
        if name == "failed" {
            if !response["error"]["message"].is_string() {
                let found = brief(response.get("error"));
                log.broken(Rule::Shape, format!("expected an error with a message in {kind}, found {found}"));
            }
            return;
        }
        if name == "incomplete" && !response["incomplete_details"]["reason"].is_string() {
            let found = brief(response.get("incomplete_details"));
            log.broken(Rule::Shape, format!("expected incomplete_details with a reason, found {found}"));
        }
        for (index, item) in self.items.iter().enumerate() {
            if item.done.is_none() {
                let message = format!("expected item {index} to be done before {kind}, found it open");
                let excuse = (item.kind == "mcp_list_tools").then_some(Deviation::ItemNeverDone);
                log.push(Rule::Pairing, excuse, message);
            }
        }
        self.output(kind, response, log);
    }

    /// The output list of the terminal event repeats every item.
    fn output(&mut self, kind: &str, response: &Value, log: &mut Log) {
        let output = list(response, "output");
        if output.is_empty() && !self.items.is_empty() {
            let message = format!("expected {} items in the output of {kind}, found none", self.items.len());
            log.deviates(Rule::Copy, Deviation::NoOutput, message);
            return;
        }
        if output.len() != self.items.len() {
            let (known, found) = (self.items.len(), output.len());
            log.broken(Rule::Copy, format!("expected {known} items in the output of {kind}, found {found}"));
        }
        for (index, copy) in output.iter().enumerate() {
            match self.items.get(index) {
                Some(item) => copies::compare(item, copy, &format!("output[{index}]"), log),
                None => self.items.push(Item::whole(copy, log)),
            }
        }
    }

    pub(in super::super) fn finish(self, log: &mut Log) -> View {
        let ended = match self.terminal.as_deref() {
            None => Ended::Open,
            Some("error" | "failed") => Ended::Error,
            Some(_) if self.filtered => Ended::Refused,
            Some(_) => Ended::Clean,
        };
        match self.terminal.as_deref() {
            None => log.broken(Rule::Ending, "expected a terminal event, found the end"),
            Some("error" | "failed") => {}
            Some(terminal) => self.check_end(terminal, log),
        }
        let mut choice = ChoiceView { finish: self.terminal, ..ChoiceView::default() };
        for item in &self.items {
            choice.reasoning.extend(item.summary.iter().map(|piece| piece.text.as_str()));
            for piece in &item.content {
                let text = match piece.kind.as_str() {
                    "refusal" => &mut choice.refusal,
                    "reasoning_text" => &mut choice.reasoning,
                    _ => &mut choice.content,
                };
                text.push_str(&piece.text);
            }
            choice.calls.extend(item.is_call().then(|| item.call()));
        }
        View { choices: vec![choice], ended, usage: self.usage }
    }

    fn check_end(&self, terminal: &str, log: &mut Log) {
        let calls: Vec<_> = self.items.iter().filter(|item| item.kind == "function_call").collect();
        let cut = usize::from(terminal == "incomplete");
        for call in &calls[..calls.len().saturating_sub(cut)] {
            if !is_whole(&call.payload.text) {
                let (name, found) = (&call.name, quote(&call.payload.text));
                let message =
                    format!("expected the arguments of {name:?} to be one JSON value, found {found}");
                log.broken(Rule::Arguments, message);
            }
        }
        if terminal == "completed" && !self.items.iter().any(Item::is_filled) {
            log.broken(Rule::EmptyTurn, "expected an item that holds something, found none");
        }
    }
}

impl Item {
    /// An item that came at once.
    pub(super) fn whole(item: &Value, log: &mut Log) -> Self {
        let mut opened = Self::open(item, log);
        let piece = |part: &Value| Piece::new(text(part, "type").unwrap_or_default(), part_text(part));
        opened.content = list(item, "content").iter().map(piece).collect();
        opened.summary = list(item, "summary").iter().map(piece).collect();
        opened.payload.text = payload(item).unwrap_or_default().to_owned();
        opened.done = Some(item.clone());
        opened
    }

    /// Whether another call has this one's id. The output of a tool has it too, and may.
    pub(super) fn repeats(&self, other: &Self) -> bool {
        self.is_call() && self.call_id == other.call_id
    }
}
