//! One choice of a chat stream.

use serde_json::Value;

use super::{
    super::{
        ChoiceView, Deviation, Rule,
        json::{brief, filled, list, text},
        report::Log,
    },
    call::Calls,
};

/// What a choice has said so far.
#[derive(Debug, Default)]
pub(super) struct Choice {
    content: String,
    reasoning: String,
    refusal: String,
    spoken: String,
    pub(super) calls: Calls,
    finish: Option<String>,
    opened: bool,
    /// Something came that is none of the above: audio, images, tools the provider ran.
    other: bool,
}

impl Choice {
    pub(super) fn finish_reason(&self) -> Option<&str> {
        self.finish.as_deref()
    }

    /// Takes an entry of `choices`.
    pub(super) fn chunk(&mut self, index: u64, choice: &Value, log: &mut Log) {
        match &choice["delta"] {
            delta @ Value::Object(_) => self.delta(index, delta, log),
            _ => {
                let found = brief(choice.get("delta"));
                let message = format!("expected a delta, found {found}");
                log.deviates(Rule::Shape, Deviation::NoDelta, message);
            }
        }
        self.copy(choice, log);
        match &choice["finish_reason"] {
            Value::Null => {}
            Value::String(reason) => self.finish(index, reason, log),
            other => {
                let found = brief(Some(other));
                log.broken(Rule::Shape, format!("expected finish_reason to be a string, found {found}"));
            }
        }
    }

    /// Takes a `delta`, or the `message` of a whole answer.
    pub(super) fn delta(&mut self, index: u64, delta: &Value, log: &mut Log) {
        self.role(index, delta, log);
        let before = self.size();
        self.text(delta, log);
        self.reasoning(delta, log);
        match &delta["refusal"] {
            Value::String(refusal) => self.refusal.push_str(refusal),
            Value::Null => {}
            other => {
                let found = brief(Some(other));
                log.broken(Rule::Shape, format!("expected refusal to be a string, found {found}"));
            }
        }
        self.spoken.push_str(text(&delta["audio"], "transcript").unwrap_or_default());
        let calls = self.calls.take(delta, log);
        self.other |= OTHER.iter().any(|key| filled(&delta[*key]));
        if self.finish.is_some() && (self.size() > before || calls) {
            let message = format!("expected no delta after the finish of choice {index}, found one");
            log.deviates(Rule::AfterEnding, Deviation::DeltaAfterFinish, message);
        }
    }

    pub(super) fn finish(&mut self, index: u64, reason: &str, log: &mut Log) {
        if !["stop", "length", "tool_calls", "content_filter", "function_call"].contains(&reason) {
            let message = format!("expected a known finish_reason, found {reason:?}");
            log.deviates(Rule::FinishReason, Deviation::UnknownFinishReason, message);
        }
        if let Some(before) = self.finish.replace(reason.to_owned()) {
            let message = format!("expected one finish of choice {index}, found another: {reason:?}");
            log.push(Rule::Ending, (before == reason).then_some(Deviation::FinishRepeated), message);
        }
    }

    /// What can only be said once the choice is over.
    pub(super) fn check_end(&self, index: u64, log: &mut Log) {
        let Some(finish) = self.finish_reason() else {
            let message = format!("expected a finish_reason for choice {index}, found none");
            log.deviates(Rule::Ending, Deviation::NoFinishReason, message);
            return;
        };
        self.calls.check_end(finish, log);
        let called = !self.calls.is_empty();
        if matches!(finish, "tool_calls" | "function_call") && !called {
            log.broken(Rule::FinishReason, format!("expected calls before {finish:?}, found none"));
        }
        if finish == "stop" && called {
            let message = "expected \"tool_calls\" after calls, found \"stop\"";
            log.deviates(Rule::FinishReason, Deviation::StopWithCalls, message);
        }
        if finish == "stop" && !called && self.size() == 0 && !self.other {
            let message = format!("expected choice {index} to hold something, found nothing");
            log.broken(Rule::EmptyTurn, message);
        }
    }

    pub(super) fn view(self, index: u64) -> ChoiceView {
        let Self { content, reasoning, refusal, spoken, calls, finish, .. } = self;
        ChoiceView { index, content, reasoning, refusal, spoken, calls: calls.into_views(), finish }
    }

    /// The first delta of a choice tells the role.
    fn role(&mut self, index: u64, delta: &Value, log: &mut Log) {
        if !self.opened && text(delta, "role") != Some("assistant") {
            let found = brief(delta.get("role"));
            let message = format!("expected the role \"assistant\" first in choice {index}, found {found}");
            log.deviates(Rule::EventOrder, Deviation::NoRole, message);
        }
        self.opened = true;
    }

    fn text(&mut self, delta: &Value, log: &mut Log) {
        match &delta["content"] {
            Value::Null => {}
            Value::String(content) => self.content.push_str(content),
            Value::Array(parts) => {
                let message = "expected content to be a string, found a list of parts";
                log.deviates(Rule::Shape, Deviation::ContentParts, message);
                for part in parts {
                    self.content.push_str(text(part, "text").unwrap_or_default());
                    for thinking in list(part, "thinking") {
                        self.reasoning.push_str(text(thinking, "text").unwrap_or_default());
                    }
                }
            }
            other => {
                let found = brief(Some(other));
                log.broken(Rule::Shape, format!("expected content to be a string, found {found}"));
            }
        }
    }

    /// Reasoning has three names; where two are there they are copies.
    fn reasoning(&mut self, delta: &Value, log: &mut Log) {
        let long = text(delta, "reasoning_content").filter(|text| !text.is_empty());
        let short = text(delta, "reasoning").filter(|text| !text.is_empty());
        if let (Some(long), Some(short)) = (long, short)
            && long != short
        {
            log.broken(Rule::Copy, "expected reasoning to repeat reasoning_content, found another text");
        }
        let details: String = list(delta, "reasoning_details")
            .iter()
            .filter_map(|detail| text(detail, "text").or_else(|| text(detail, "summary")))
            .collect();
        if let Some(reasoning) = long.or(short) {
            if !details.is_empty() && details != reasoning {
                log.broken(Rule::Copy, "expected reasoning_details to repeat reasoning, found another text");
            }
            self.reasoning.push_str(reasoning);
        } else {
            self.reasoning.push_str(&details);
        }
    }

    /// A cumulative `message` beside the delta repeats all content so far.
    fn copy(&self, choice: &Value, log: &mut Log) {
        let message = choice.get("message").and_then(|message| text(message, "content"));
        if message.is_some_and(|message| message != self.content) {
            let message = "expected message to repeat the content so far, found another text";
            log.deviates(Rule::Copy, Deviation::OtherMessage, message);
        }
    }

    fn size(&self) -> usize {
        self.content.len() + self.reasoning.len() + self.refusal.len() + self.spoken.len()
    }
}

/// Payload that is neither text nor a call.
const OTHER: &[&str] = &["audio", "images", "annotations", "executed_tools", "reasoning_details"];
