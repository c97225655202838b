//! What sees an answer: its decisions as they are made, and its end.

use stream_core::{
    Chunk, Context, Decision, End, Error, Needs, Observer, PolicyError, Request, StreamState, SyncPolicy,
};

use super::answer::Answer;
use super::words;

/// Tells of the decisions and the error of an answer.
pub(super) struct Watching(pub(super) Answer);

impl Observer for Watching {
    fn decision(&mut self, decision: &Decision) {
        self.0.decided(decision);
    }

    fn error(&mut self, error: &Error) {
        self.0.failed(error);
    }
}

/// A policy that needs nothing, decides nothing, and tells how the answer ended: its usage and its finish reasons.
pub(super) struct Tally(pub(super) Answer);

impl SyncPolicy for Tally {
    fn name(&self) -> &str {
        "telemetry"
    }

    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().guards(false)
    }

    fn on_chunk(&mut self, _: Chunk, _: &StreamState, _: &mut Context<'_>) -> Result<(), PolicyError> {
        Ok(())
    }

    fn on_end(&mut self, end: End, state: &StreamState, _: &mut Context<'_>) -> Result<(), PolicyError> {
        let finishes = state.choices().filter_map(|choice| state.finish_reason_of(choice));
        let finishes = finishes.map(|reason| words::finish(reason.kind())).collect();
        self.0.ended(words::end(&end), finishes, state.usage());
        Ok(())
    }
}
