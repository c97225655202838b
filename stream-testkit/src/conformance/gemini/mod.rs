//! Gemini.

mod candidate;

use std::collections::BTreeMap;

use serde_json::Value;

use self::candidate::Candidate;
use super::{
    Ended, Rule, View,
    events::{Event, Payload},
    json::{brief, filled, list, text},
    report::Log,
};

/// Follows a Gemini stream.
#[derive(Debug, Default)]
pub(super) struct Gemini {
    candidates: BTreeMap<u64, Candidate>,
    blocked: bool,
    error: bool,
    usage: bool,
}

impl Gemini {
    pub(super) fn event(&mut self, event: &Event, log: &mut Log) {
        if let Some(name) = &event.name {
            log.broken(Rule::EventLine, format!("expected no event line, found {name:?}"));
        }
        match &event.payload {
            Payload::Done => log.broken(Rule::UnknownEvent, "expected no [DONE], found one"),
            Payload::Object(chunk) => self.chunk(chunk, log),
        }
    }

    /// Takes a chunk, or a whole answer: they have the same shape.
    pub(super) fn chunk(&mut self, chunk: &Value, log: &mut Log) {
        if self.error || self.blocked {
            log.broken(Rule::AfterEnding, "expected nothing after the ending, found a chunk");
        }
        if filled(&chunk["error"]) {
            self.error = true;
            if !chunk["error"]["message"].is_string() {
                let found = brief(chunk.get("error"));
                log.broken(Rule::Shape, format!("expected an error with a message, found {found}"));
            }
            return;
        }
        self.usage |= filled(&chunk["usageMetadata"]);
        self.blocked |= text(&chunk["promptFeedback"], "blockReason").is_some();
        let known = ["candidates", "promptFeedback", "usageMetadata"];
        if known.iter().all(|key| chunk.get(key).is_none()) {
            log.broken(Rule::Shape, "expected candidates, promptFeedback or usageMetadata, found none");
        }
        if !matches!(chunk["candidates"], Value::Null | Value::Array(_)) {
            log.broken(
                Rule::Shape,
                format!("expected a list of candidates, found {}", brief(chunk.get("candidates"))),
            );
        }
        for candidate in list(chunk, "candidates") {
            // Protobuf leaves out an index of 0.
            let index = match &candidate["index"] {
                Value::Null => 0,
                index => index.as_u64().unwrap_or_else(|| {
                    log.broken(Rule::Index, format!("expected a candidate index, found {index}"));
                    0
                }),
            };
            self.candidates.entry(index).or_default().chunk(index, candidate, log);
        }
    }

    pub(super) fn finish(self, log: &mut Log) -> View {
        if !self.error && !self.blocked {
            if self.candidates.is_empty() {
                log.broken(Rule::Ending, "expected a candidate or a block reason, found neither");
            }
            for (index, candidate) in &self.candidates {
                candidate.check_end(*index, log);
            }
        }
        let ended = self.ended();
        let choices = self.candidates.into_iter().map(|(index, candidate)| candidate.view(index)).collect();
        View { choices, ended, usage: self.usage }
    }

    fn ended(&self) -> Ended {
        let finishes = || self.candidates.values().map(Candidate::finish_reason);
        if self.error {
            Ended::Error
        } else if self.blocked || finishes().flatten().any(|reason| REFUSALS.contains(&reason)) {
            Ended::Refused
        } else if !self.candidates.is_empty() && finishes().all(|reason| reason.is_some()) {
            Ended::Clean
        } else {
            Ended::Open
        }
    }
}

/// Checks a whole answer.
pub(super) fn check_whole(body: &Value, log: &mut Log) -> View {
    let mut gemini = Gemini::default();
    gemini.chunk(body, log);
    gemini.finish(log)
}

const REFUSALS: &[&str] =
    &["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE"];
