//! What becomes known of a request while it is answered.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use stream_core::{Decision, Observer};
use stream_http::tool_loop::Run;
use stream_http::{Api, Facts};

use crate::doors::ClientName;
use crate::telemetry::Answer;

/// A request and its answer: an extension of the request. Clones share what is known.
#[derive(Debug, Clone, Default)]
pub(crate) struct Exchange {
    known: Arc<Mutex<Known>>,
    /// What telemetry tells of the answer, where there is telemetry.
    pub(crate) answer: Option<Answer>,
}

/// What is known.
#[derive(Debug, Default)]
pub(crate) struct Known {
    /// The client, once the doors have let the request in.
    pub(crate) client: Option<ClientName>,
    /// The API and the model, once the answer is policed.
    pub(crate) api: Option<Api>,
    pub(crate) model: Option<String>,
    /// What policies decided, the first [`MOST`] of them.
    pub(crate) decisions: Vec<Decision>,
    /// How many there were.
    pub(crate) decided: usize,
    /// The calls that the gateway ran, the first [`MOST`] of them.
    pub(crate) runs: Vec<Run>,
    /// How many there were.
    pub(crate) ran: usize,
    /// How often the upstream was asked: the tool loop asks several times.
    turns: usize,
}

impl Exchange {
    /// An exchange of which telemetry tells, where there is telemetry.
    pub(crate) fn new(answer: Option<Answer>) -> Self {
        Self { known: Arc::default(), answer }
    }

    /// What is known now.
    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The client, if one is known.
    pub(crate) fn client(&self) -> Option<ClientName> {
        self.known().client.clone()
    }

    /// An answer is about to be policed.
    pub(crate) fn policed(&self, facts: &Facts) {
        if let Some(answer) = &self.answer {
            answer.policed(facts);
        }
        let mut known = self.known();
        known.api = Some(facts.api());
        known.model = facts.model().map(str::to_owned);
    }

    /// The upstream is asked: the number of its answer, from 1.
    pub(crate) fn next_turn(&self) -> usize {
        let mut known = self.known();
        known.turns += 1;
        known.turns
    }

    /// A call was run.
    pub(crate) fn ran(&self, run: &Run) {
        let mut known = self.known();
        known.ran += 1;
        if known.runs.len() < MOST {
            known.runs.push(run.clone());
        }
    }

    /// Notes the decisions of an answer.
    pub(crate) fn observer(&self) -> Noting {
        Noting(self.clone())
    }
}

/// Notes the decisions of an answer.
#[derive(Debug)]
pub(crate) struct Noting(Exchange);

impl Observer for Noting {
    fn decision(&mut self, decision: &Decision) {
        let mut known = self.0.known();
        known.decided += 1;
        if known.decisions.len() < MOST {
            known.decisions.push(decision.clone());
        }
    }
}

/// How many decisions of one answer are kept, and how many runs.
const MOST: usize = 64;
