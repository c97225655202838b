//! A message that is not streamed.

use serde_json::Value;

use super::{
    super::{
        Ended, Rule, View,
        json::{brief, filled, list, text},
        report::Log,
    },
    block::Block,
    message::Message,
};

/// Checks a whole message.
pub(in super::super) fn check_whole(body: &Value, log: &mut Log) -> View {
    if body["type"] == "error" {
        return View { ended: Ended::Error, ..View::default() };
    }
    if body["type"] != "message" {
        log.broken(Rule::Envelope, format!("expected type \"message\", found {}", brief(body.get("type"))));
    }
    if !body["content"].is_array() {
        log.broken(Rule::Shape, format!("expected a list of content, found {}", brief(body.get("content"))));
    }
    let mut message = Message::default();
    message.usage = filled(&body["usage"]);
    for content in list(body, "content") {
        let block = Block::open(message.blocks(), content, log);
        message.admit(&block, log);
        message.close(block, log);
    }
    let Some(reason) = text(body, "stop_reason") else {
        log.broken(Rule::Ending, format!("expected a stop_reason, found {}", brief(body.get("stop_reason"))));
        return message.view(Ended::Open);
    };
    message.stop(reason);
    message.check_end(log);
    message.view(if reason == "refusal" { Ended::Refused } else { Ended::Clean })
}
