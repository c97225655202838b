//! The span of one answer.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use opentelemetry::trace::{Span as _, Status};
use opentelemetry::{Array, KeyValue, StringValue, Value};
use opentelemetry_sdk::trace::Span;
use stream_core::{Decision, Error, Policy, Usage};
use stream_http::{Api, Facts};
use stream_policies::observe::Observers;

use super::instruments::Instruments;
use super::watch::{Tally, Watching};
use super::{names, words};
use crate::doors::ClientName;
use crate::serve::Answered;

/// One answer. Clones share its span, which ends with the last of them.
#[derive(Debug, Clone)]
pub(crate) struct Answer(Arc<Mutex<Told>>);

/// What is told of an answer when it is over.
#[derive(Debug)]
struct Told {
    span: Span,
    instruments: Arc<Instruments>,
    start: Instant,
    client: Option<String>,
    status: Option<u16>,
    asked: Option<(Api, Option<String>)>,
    usage: Option<Usage>,
    ended: Option<&'static str>,
    finishes: Vec<&'static str>,
    error: Option<String>,
    decided: i64,
    answered: Option<Answered>,
}

impl Answer {
    pub(super) fn new(span: Span, instruments: Arc<Instruments>) -> Self {
        Self(Arc::new(Mutex::new(Told {
            span,
            instruments,
            start: Instant::now(),
            client: None,
            status: None,
            asked: None,
            usage: None,
            ended: None,
            finishes: Vec::new(),
            error: None,
            decided: 0,
            answered: None,
        })))
    }

    /// The head of the answer is there.
    pub(crate) fn begins(&self, status: u16, client: Option<&ClientName>) {
        let mut told = self.told();
        told.status = Some(status);
        told.client = client.map(ToString::to_string);
    }

    /// The answer is about to be policed.
    pub(crate) fn policed(&self, facts: &Facts) {
        let model = facts.model().map(|model| model.chars().take(MODEL).collect::<String>());
        let client = facts.extensions().get::<ClientName>().map(ToString::to_string);
        let mut told = self.told();
        told.client = client;
        let (operation, _) = words::operation(facts.api());
        let name = model.as_deref().map_or(operation.to_owned(), |model| format!("{operation} {model}"));
        told.span.update_name(name);
        told.asked = Some((facts.api(), model));
    }

    /// What watches the answer.
    pub(crate) fn observer(&self) -> Observers {
        Observers::new().and(Watching(self.clone()))
    }

    /// The last of its policies, which looks at how it ended and does nothing.
    pub(crate) fn policy(&self) -> Box<dyn Policy> {
        Box::new(Tally(self.clone()))
    }

    /// The last byte has left, or the client has gone.
    pub(crate) fn over(&self, answered: Answered) {
        self.told().answered = Some(answered);
    }

    pub(super) fn decided(&self, decision: &Decision) {
        let mut told = self.told();
        told.decided += 1;
        let mut attributes = vec![
            KeyValue::new(names::POLICY, decision.policy.clone()),
            KeyValue::new(names::VERDICT, decision.action.word()),
            KeyValue::new(names::CAUSE, words::cause(decision.cause)),
            KeyValue::new(names::ENFORCED, decision.enforced),
        ];
        let mut labels = told.labels();
        labels.extend_from_slice(&attributes);
        told.instruments.decided(decision, &labels);
        attributes.push(KeyValue::new(names::BYTES, number(decision.bytes)));
        attributes.push(KeyValue::new(names::HELD, number(decision.held.as_millis())));
        told.span.add_event(names::DECISION, attributes);
    }

    pub(super) fn failed(&self, error: &Error) {
        self.told().error = Some(format!("{:?}", error.kind()));
    }

    /// An answer of the upstream is over. Where the gateway runs tools there are several: the last one counts, and the
    /// tokens of all.
    pub(super) fn ended(&self, how: &'static str, finishes: Vec<&'static str>, usage: Option<Usage>) {
        let mut told = self.told();
        told.ended = Some(how);
        told.finishes = finishes;
        if let Some(usage) = usage {
            let before = told.usage.get_or_insert_default();
            let sum = |before: Option<u64>, now: Option<u64>| match (before, now) {
                (Some(before), Some(now)) => Some(before.saturating_add(now)),
                (before, now) => before.or(now),
            };
            before.input = sum(before.input, usage.input);
            before.output = sum(before.output, usage.output);
        }
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    /// What measures and the span have in common.
    fn labels(&self) -> Vec<KeyValue> {
        let mut labels = Vec::new();
        if let Some((api, model)) = &self.asked {
            let (operation, provider) = words::operation(*api);
            labels.push(KeyValue::new(names::OPERATION, operation));
            labels.push(KeyValue::new(names::PROVIDER, provider));
            labels.push(KeyValue::new(names::API, api.name()));
            labels.extend(model.clone().map(|model| KeyValue::new(names::MODEL, model)));
        }
        labels.extend(self.client.clone().map(|client| KeyValue::new(names::CLIENT, client)));
        labels
    }

    /// What went wrong, in a word: the kind of an error, or the status.
    fn wrong(&self) -> Option<String> {
        let status = self.status.filter(|status| *status >= 400).map(|status| status.to_string());
        self.error.clone().or(status)
    }
}

impl Drop for Told {
    fn drop(&mut self) {
        let mut labels = self.labels();
        if let Some(usage) = self.usage {
            self.instruments.used(usage, &labels);
        }
        if let Some(wrong) = self.wrong() {
            labels.push(KeyValue::new(names::ERROR, wrong));
            if self.error.is_some() || self.status.is_some_and(|status| status >= 500) {
                self.span.set_status(Status::error(""));
            }
        }
        let took = self.answered.map_or_else(|| self.start.elapsed(), |answered| answered.took);
        let first_byte = self.answered.and_then(|answered| answered.first_byte);
        if self.asked.is_some() {
            self.instruments.over(took, first_byte, &labels);
        }
        labels.push(KeyValue::new(names::DECIDED, self.decided));
        labels.extend(self.status.map(|status| KeyValue::new(names::STATUS, i64::from(status))));
        if let Some(usage) = self.usage {
            labels.extend(usage.input.map(|tokens| KeyValue::new(names::INPUT_TOKENS, number(tokens))));
            labels.extend(usage.output.map(|tokens| KeyValue::new(names::OUTPUT_TOKENS, number(tokens))));
        }
        labels.extend(self.ended.map(|how| KeyValue::new(names::ENDED, how)));
        if !self.finishes.is_empty() {
            let finishes = self.finishes.iter().copied().map(StringValue::from).collect();
            labels.push(KeyValue::new(names::FINISH_REASONS, Value::Array(Array::String(finishes))));
        }
        if let Some(answered) = self.answered {
            labels.push(KeyValue::new(names::BYTES, number(answered.bytes)));
            labels.push(KeyValue::new(names::STAYED, answered.stayed));
            labels.extend(first_byte.map(|time| KeyValue::new(names::FIRST_BYTE, number(time.as_millis()))));
        }
        self.span.set_attributes(labels);
        self.span.end();
    }
}

fn number(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// How many characters of a model's name are told.
const MODEL: usize = 80;
