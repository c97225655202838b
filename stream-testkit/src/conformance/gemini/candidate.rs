//! One candidate.

use serde_json::Value;

use crate::partial_args;

use super::super::{
    CallView, ChoiceView, Deviation, Rule,
    json::{brief, filled, list, text},
    report::Log,
};

/// What a candidate has said so far.
#[derive(Debug, Default)]
pub(super) struct Candidate {
    choice: ChoiceView,
    /// The last call still says `willContinue`.
    continues: bool,
    /// What came of the last call's `partialArgs`.
    pieces: Vec<Value>,
    /// Something came that is neither text nor a call.
    other: bool,
}

impl Candidate {
    pub(super) fn finish_reason(&self) -> Option<&str> {
        self.choice.finish.as_deref()
    }

    pub(super) fn chunk(&mut self, index: u64, candidate: &Value, log: &mut Log) {
        let parts = list(&candidate["content"], "parts");
        if !matches!(candidate["content"]["parts"], Value::Null | Value::Array(_)) {
            let found = brief(candidate["content"].get("parts"));
            log.broken(Rule::Shape, format!("expected a list of parts, found {found}"));
        }
        if self.choice.finish.is_some() && parts.iter().any(is_payload) {
            let message = format!("expected no part after the finish of candidate {index}, found one");
            log.deviates(Rule::AfterEnding, Deviation::DeltaAfterFinish, message);
        }
        for part in parts {
            self.part(part, log);
        }
        match &candidate["finishReason"] {
            Value::Null => {}
            Value::String(reason) => {
                if let Some(before) = self.choice.finish.replace(reason.clone()) {
                    let message =
                        format!("expected one finish of candidate {index}, found another: {reason:?}");
                    let same = before == *reason;
                    let excuse = if same { Deviation::FinishRepeated } else { Deviation::FinishChanges };
                    log.deviates(Rule::Ending, excuse, message);
                }
            }
            other => log.broken(Rule::Shape, format!("expected finishReason to be a string, found {other}")),
        }
    }

    pub(super) fn check_end(&self, index: u64, log: &mut Log) {
        let Some(finish) = self.finish_reason() else {
            let message = format!("expected a finishReason for candidate {index}, found none");
            log.deviates(Rule::Ending, Deviation::NoFinishReason, message);
            return;
        };
        if self.continues {
            log.broken(Rule::Pairing, "expected the rest of a call that continues, found the end");
        }
        let ChoiceView { content, reasoning, calls, .. } = &self.choice;
        if finish == "STOP" && !self.other && content.is_empty() && reasoning.is_empty() && calls.is_empty() {
            let message = format!("expected candidate {index} to hold something, found nothing");
            log.broken(Rule::EmptyTurn, message);
        }
    }

    pub(super) fn view(mut self, index: u64) -> ChoiceView {
        // Pieces of a call whose end is missing: that is told already, and a client has them all the same.
        let _ = self.join();
        ChoiceView { index, ..self.choice }
    }

    fn part(&mut self, part: &Value, log: &mut Log) {
        if part["functionCall"].is_object() {
            self.call(&part["functionCall"], log);
            return;
        }
        match &part["text"] {
            Value::Null => self.other |= is_payload(part),
            Value::String(text) if part["thought"] == true => self.choice.reasoning.push_str(text),
            Value::String(text) => self.choice.content.push_str(text),
            other => log.broken(Rule::Shape, format!("expected text to be a string, found {other}")),
        }
        if is_payload(part) && self.continues {
            log.broken(Rule::Pairing, "expected the rest of a call that continues, found another part");
        }
    }

    fn call(&mut self, call: &Value, log: &mut Log) {
        let name = text(call, "name").unwrap_or_default();
        if !matches!(call["args"], Value::Null | Value::Object(_)) {
            log.broken(
                Rule::Arguments,
                format!("expected args to be an object, found {}", brief(call.get("args"))),
            );
        }
        match (name.is_empty(), self.continues) {
            (true, false) => {
                let found = brief(call.get("name"));
                log.broken(Rule::CallIdentity, format!("expected a functionCall with a name, found {found}"));
            }
            (false, true) => {
                log.broken(Rule::Pairing, "expected the rest of a call that continues, found another call");
            }
            _ => {}
        }
        if !name.is_empty() {
            // Whatever is left is the call's before, whose end is missing: that is told already.
            let _ = self.join();
            let id = text(call, "id").unwrap_or_default().to_owned();
            if !id.is_empty() && self.choice.calls.iter().any(|known| known.id == id) {
                log.broken(Rule::CallIdentity, format!("expected an id of its own, found {id:?} again"));
            }
            let arguments = call.get("args").map(Value::to_string).unwrap_or_default();
            let kind = "functionCall".to_owned();
            self.choice.calls.push(CallView { id, name: name.to_owned(), arguments, kind });
        }
        self.pieces.extend_from_slice(list(call, "partialArgs"));
        self.continues = call["willContinue"] == true;
        if !self.continues
            && let Err(misfit) = self.join()
        {
            log.broken(Rule::Arguments, misfit);
        }
    }

    /// Puts the arguments of the last call together, if they came in pieces.
    ///
    /// # Errors
    ///
    /// What is wrong with them.
    fn join(&mut self) -> Result<(), String> {
        let pieces = std::mem::take(&mut self.pieces);
        let Some(open) = self.choice.calls.last_mut().filter(|_| !pieces.is_empty()) else { return Ok(()) };
        let mut args = Value::Null;
        let joined = partial_args::add(&pieces, &mut args);
        match std::mem::replace(&mut open.arguments, args.to_string()).as_str() {
            "" | "{}" => joined,
            both => Err(format!("expected args or partialArgs, found both: {both}")),
        }
    }
}

/// Whether a client has something to show or run. A signature on an empty text is none.
fn is_payload(part: &Value) -> bool {
    let envelope = ["thought", "thoughtSignature"];
    part.as_object().is_some_and(|part| {
        part.iter()
            .any(|(key, value)| !envelope.contains(&key.as_str()) && (filled(value) || key == "functionCall"))
    })
}
