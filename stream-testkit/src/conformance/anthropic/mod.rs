//! Anthropic Messages.

mod block;
mod message;
mod whole;

use serde_json::Value;

pub(super) use self::whole::check_whole;
use self::{block::Block, message::Message};
use super::{
    Deviation, Ended, Rule, View,
    events::{Event, Payload},
    json::{brief, filled, list, number, text},
    report::Log,
};

/// Follows a Messages stream.
#[derive(Debug, Default)]
pub(super) struct Anthropic {
    message: Message,
    open: Option<Block>,
    phase: Phase,
    error: bool,
}

/// How far the message is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Waiting,
    Blocks,
    /// After `message_delta`.
    Finished,
    /// After `message_stop` or `error`.
    Over,
}

impl Anthropic {
    pub(super) fn event(&mut self, event: &Event, log: &mut Log) {
        let object = match &event.payload {
            Payload::Object(object) => object,
            Payload::Done => {
                log.deviates(Rule::UnknownEvent, Deviation::ForeignDone, "expected no [DONE], found one");
                return;
            }
        };
        let kind = text(object, "type").unwrap_or_default();
        if event.name.as_deref() != Some(kind) {
            let found = event.name.as_deref().unwrap_or("none");
            log.broken(Rule::EventLine, format!("expected the event line {kind:?}, found {found:?}"));
        }
        if self.phase == Phase::Over {
            let message = format!("expected nothing after the ending, found {kind:?}");
            let excuse = (kind == "ping").then_some(Deviation::EventAfterEnding);
            log.push(Rule::AfterEnding, excuse, message);
        }
        self.dispatch(kind, object, log);
    }

    pub(super) fn finish(mut self, log: &mut Log) -> View {
        if self.phase != Phase::Over {
            log.broken(Rule::Ending, "expected message_stop or an error, found the end");
        }
        if let Some(block) = self.open.take() {
            // An unstopped block is reported where the next event came; a strict client has its text all the same.
            self.message.keep(block);
        }
        if self.phase == Phase::Over && !self.error {
            self.message.check_end(log);
        }
        let ended = match self.message.stop_reason() {
            _ if self.error => Ended::Error,
            Some("refusal") => Ended::Refused,
            _ if self.phase == Phase::Over => Ended::Clean,
            _ => Ended::Open,
        };
        self.message.view(ended)
    }

    fn dispatch(&mut self, kind: &str, object: &Value, log: &mut Log) {
        let waiting = self.phase == Phase::Waiting;
        if waiting && !matches!(kind, "message_start" | "ping" | "error") {
            log.broken(Rule::EventOrder, format!("expected message_start first, found {kind:?}"));
        }
        match kind {
            "message_start" => self.message_start(object, log),
            "content_block_start" => self.block_start(object, log),
            "content_block_delta" => self.block_delta(object, log),
            "content_block_stop" => self.block_stop(object, log),
            "message_delta" => self.message_delta(object, log),
            "message_stop" => self.message_stop(log),
            "error" => self.failed(object, log),
            "ping" => {}
            _ => log.broken(Rule::UnknownEvent, format!("expected an event of the format, found {kind:?}")),
        }
    }

    fn message_start(&mut self, object: &Value, log: &mut Log) {
        if self.phase != Phase::Waiting {
            log.broken(Rule::EventOrder, "expected message_start once, found it again");
            return;
        }
        self.phase = Phase::Blocks;
        let message = &object["message"];
        for key in ["id", "model", "role"] {
            if !message[key].is_string() {
                log.broken(Rule::Shape, format!("expected message.{key}, found {}", brief(message.get(key))));
            }
        }
        self.message.usage |= filled(&message["usage"]);
        if filled(&message["content"]) {
            let message = "expected message_start without content, found blocks in it";
            log.deviates(Rule::EventOrder, Deviation::PrefilledMessage, message);
        }
        for content in list(message, "content") {
            let block = Block::open(self.message.blocks(), content, log);
            self.message.admit(&block, log);
            self.message.close(block, log);
        }
        if let Some(reason) = text(message, "stop_reason") {
            self.message.stop(reason);
        }
    }

    fn block_start(&mut self, object: &Value, log: &mut Log) {
        self.in_blocks("content_block_start", log);
        if let Some(open) = self.open.take() {
            let index = open.index;
            log.broken(Rule::Pairing, format!("expected block {index} to stop first, found another start"));
            self.message.keep(open);
        }
        let next = self.message.blocks();
        if number(object, "index") != Some(next) {
            log.broken(
                Rule::Index,
                format!("expected block index {next}, found {}", brief(object.get("index"))),
            );
        }
        let block = Block::open(number(object, "index").unwrap_or(next), &object["content_block"], log);
        self.message.admit(&block, log);
        self.open = Some(block);
    }

    fn block_delta(&mut self, object: &Value, log: &mut Log) {
        self.in_blocks("content_block_delta", log);
        let index = number(object, "index");
        match &mut self.open {
            Some(block) if Some(block.index) == index => block.delta(&object["delta"], log),
            open => {
                let open =
                    open.as_ref().map_or_else(|| "no open block".to_owned(), |block| block.index.to_string());
                let found = brief(object.get("index"));
                log.broken(Rule::Pairing, format!("expected a delta for {open}, found one for {found}"));
            }
        }
    }

    fn block_stop(&mut self, object: &Value, log: &mut Log) {
        self.in_blocks("content_block_stop", log);
        let index = number(object, "index");
        match self.open.take() {
            Some(block) if Some(block.index) == index => self.message.close(block, log),
            open => {
                let wanted = open.as_ref().map_or_else(|| "none".to_owned(), |block| block.index.to_string());
                let found = brief(object.get("index"));
                log.broken(Rule::Pairing, format!("expected the stop of {wanted}, found that of {found}"));
                self.open = open;
            }
        }
    }

    fn in_blocks(&mut self, kind: &str, log: &mut Log) {
        if self.phase == Phase::Finished {
            log.broken(
                Rule::AfterEnding,
                format!("expected message_stop after message_delta, found {kind:?}"),
            );
        }
    }

    fn message_delta(&mut self, object: &Value, log: &mut Log) {
        if self.phase == Phase::Finished {
            log.broken(Rule::Ending, "expected one message_delta, found another");
        }
        if self.phase == Phase::Blocks {
            self.phase = Phase::Finished;
        }
        let reason = text(&object["delta"], "stop_reason");
        if let Some(block) = self.open.take() {
            let message = format!("expected block {} to stop first, found message_delta", block.index);
            let excuse = (reason == Some("max_tokens")).then_some(Deviation::BlockLeftOpen);
            log.push(Rule::Pairing, excuse, message);
            self.message.keep(block);
        }
        match reason {
            Some(reason) => self.message.stop(reason),
            None => {
                let found = brief(object["delta"].get("stop_reason"));
                log.broken(Rule::Ending, format!("expected a stop_reason, found {found}"));
            }
        }
        if !object["usage"]["output_tokens"].is_number() {
            let found = brief(object["usage"].get("output_tokens"));
            log.broken(Rule::Shape, format!("expected usage.output_tokens in message_delta, found {found}"));
        }
        self.message.usage |= filled(&object["usage"]);
    }

    fn message_stop(&mut self, log: &mut Log) {
        if let Some(block) = &self.open {
            log.broken(
                Rule::Pairing,
                format!("expected block {} to stop first, found message_stop", block.index),
            );
        }
        match self.phase {
            Phase::Finished | Phase::Over | Phase::Waiting => {}
            Phase::Blocks => {
                let message = "expected message_delta before message_stop, found none";
                let excuse = self.message.stop_reason().map(|_| Deviation::PrefilledMessage);
                log.push(Rule::Ending, excuse, message.to_owned());
            }
        }
        self.phase = Phase::Over;
    }

    fn failed(&mut self, object: &Value, log: &mut Log) {
        for key in ["type", "message"] {
            if !object["error"][key].is_string() {
                log.broken(
                    Rule::Shape,
                    format!("expected error.{key}, found {}", brief(object["error"].get(key))),
                );
            }
        }
        self.error = true;
        self.phase = Phase::Over;
    }
}
