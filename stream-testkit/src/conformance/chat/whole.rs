//! A chat answer that is not streamed.

use serde_json::Value;

use super::{
    super::{
        Ended, Rule, View,
        json::{brief, filled, list, text},
        report::Log,
    },
    Chat,
    choice::Choice,
};

/// Checks a whole answer.
pub(in super::super) fn check_whole(body: &Value, log: &mut Log) -> View {
    if filled(&body["error"]) {
        return View { ended: Ended::Error, ..View::default() };
    }
    if text(body, "object") != Some("chat.completion") {
        let found = brief(body.get("object"));
        log.broken(Rule::Envelope, format!("expected object \"chat.completion\", found {found}"));
    }
    let mut chat = Chat { done: true, usage: filled(&body["usage"]), ..Chat::default() };
    if !body["choices"].is_array() {
        log.broken(Rule::Shape, format!("expected a list of choices, found {}", brief(body.get("choices"))));
    }
    for (at, choice) in list(body, "choices").iter().enumerate() {
        let at = at as u64;
        if choice["index"].as_u64() != Some(at) {
            log.broken(
                Rule::Index,
                format!("expected choice index {at}, found {}", brief(choice.get("index"))),
            );
        }
        chat.choices.insert(at, read(at, choice, log));
    }
    chat.finish(log)
}

fn read(index: u64, choice: &Value, log: &mut Log) -> Choice {
    let mut read = Choice::default();
    let mut message = choice["message"].clone();
    if !message.is_object() {
        log.broken(Rule::Shape, format!("expected a message, found {}", brief(choice.get("message"))));
        return read;
    }
    // The calls of a whole answer have no index: they are read apart.
    let calls = message.as_object_mut().and_then(|message| message.remove("tool_calls"));
    read.delta(index, &message, log);
    for call in calls.iter().filter_map(Value::as_array).flatten() {
        read.calls.whole(call, log);
    }
    if let Some(reason) = text(choice, "finish_reason") {
        read.finish(index, reason, log);
    }
    read
}
