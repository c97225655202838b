//! OpenAI chat completions.

mod call;
mod choice;
mod whole;

use std::collections::BTreeMap;

use serde_json::Value;

use self::choice::Choice;
pub(super) use self::whole::check_whole;
use super::{
    Deviation, Ended, Rule, View,
    events::{Event, Payload},
    json::{brief, filled, list, number, text},
    report::Log,
};

/// Follows a chat stream.
#[derive(Debug, Default)]
pub(super) struct Chat {
    choices: BTreeMap<u64, Choice>,
    chunks: usize,
    id: Option<String>,
    usage: bool,
    done: bool,
    error: bool,
}

impl Chat {
    pub(super) fn event(&mut self, event: &Event, log: &mut Log) {
        if self.done {
            let empty = matches!(&event.payload, Payload::Object(chunk) if list(chunk, "choices").is_empty());
            let message = "expected nothing after [DONE], found an event".to_owned();
            log.push(Rule::AfterEnding, empty.then_some(Deviation::EventAfterEnding), message);
        }
        if let Some(name) = &event.name {
            let message = format!("expected no event line, found {name:?}");
            log.deviates(Rule::EventLine, Deviation::EventLineInChat, message);
        }
        match &event.payload {
            Payload::Done => self.done = true,
            Payload::Object(chunk) => self.chunk(chunk, log),
        }
    }

    pub(super) fn finish(self, log: &mut Log) -> View {
        let ended = self.ended();
        if !self.done && !self.error {
            let message = "expected [DONE], found the end";
            log.deviates(Rule::Ending, Deviation::NoDone, message);
        }
        if self.choices.is_empty() && !self.error {
            log.broken(Rule::EmptyTurn, "expected a choice, found none");
        }
        if !self.error {
            for (index, choice) in &self.choices {
                choice.check_end(*index, log);
            }
        }
        let choices = self.choices.into_iter().map(|(index, choice)| choice.view(index)).collect();
        View { choices, ended, usage: self.usage }
    }

    fn ended(&self) -> Ended {
        let finishes = || self.choices.values().map(Choice::finish_reason);
        if self.error {
            Ended::Error
        } else if finishes().any(|reason| reason == Some("content_filter")) {
            Ended::Refused
        } else if self.done || (!self.choices.is_empty() && finishes().all(|reason| reason.is_some())) {
            Ended::Clean
        } else {
            Ended::Open
        }
    }

    fn chunk(&mut self, chunk: &Value, log: &mut Log) {
        if self.error && !self.done {
            let message = "expected nothing but [DONE] after the error, found a chunk";
            log.deviates(Rule::AfterEnding, Deviation::ChunkAfterError, message);
        }
        self.chunks += 1;
        let error = chunk.get("error").filter(|error| filled(error));
        if let Some(error) = error {
            self.error = true;
            if !error["message"].is_string() {
                log.broken(
                    Rule::Shape,
                    format!("expected an error with a message, found {}", brief(Some(error))),
                );
            }
            if chunk.get("choices").is_none() {
                return;
            }
            let message = "expected the error alone, found it beside choices";
            log.deviates(Rule::Shape, Deviation::ErrorBesideChoices, message);
        }
        self.envelope(chunk, log);
        self.choices(chunk, error.is_some(), log);
        self.usage(chunk, log);
    }

    fn envelope(&mut self, chunk: &Value, log: &mut Log) {
        if text(chunk, "object") != Some("chat.completion.chunk") {
            let found = brief(chunk.get("object"));
            let message = format!("expected object \"chat.completion.chunk\", found {found}");
            log.deviates(Rule::Envelope, Deviation::OtherObject, message);
        }
        let id = text(chunk, "id").unwrap_or_default();
        match &self.id {
            None if id.is_empty() => {
                let found = brief(chunk.get("id"));
                let message = format!("expected an id, found {found}");
                log.deviates(Rule::Envelope, Deviation::ChunkWithoutId, message);
            }
            None => self.id = Some(id.to_owned()),
            Some(first) if first == id => {}
            Some(first) => {
                let message = format!("expected id {first:?}, found {id:?}");
                log.deviates(Rule::Envelope, Deviation::ChunkIdChanges, message);
            }
        }
    }

    fn choices(&mut self, chunk: &Value, error: bool, log: &mut Log) {
        if !chunk["choices"].is_array() {
            let found = brief(chunk.get("choices"));
            let message = format!("expected a list of choices, found {found}");
            log.deviates(Rule::Shape, Deviation::NoChoices, message);
        } else if list(chunk, "choices").is_empty() && !filled(&chunk["usage"]) && !error {
            let message = "expected a choice or usage, found neither";
            log.deviates(Rule::Shape, Deviation::EmptyChoices, message);
        }
        for choice in list(chunk, "choices") {
            let Some(index) = number(choice, "index") else {
                let found = brief(choice.get("index"));
                log.broken(Rule::Index, format!("expected a choice index, found {found}"));
                continue;
            };
            self.choices.entry(index).or_default().chunk(index, choice, log);
        }
    }

    /// Usage comes once, with the last finish or after it.
    fn usage(&mut self, chunk: &Value, log: &mut Log) {
        if !filled(&chunk["usage"]) {
            return;
        }
        if self.usage {
            log.deviates(Rule::EventOrder, Deviation::UsageRepeated, "expected usage once, found it again");
        } else if self.choices.is_empty()
            || self.choices.values().any(|choice| choice.finish_reason().is_none())
        {
            let message = "expected the finish before usage, found usage first";
            log.deviates(Rule::EventOrder, Deviation::UsageBeforeFinish, message);
        }
        self.usage = true;
    }
}
