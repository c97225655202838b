//! The state of a stream that ends, stage by stage.

use crate::engine::Work;
use crate::engine::reader::UpstreamEnd;
use crate::engine::stage::StageState;
use crate::policy::End;
use crate::state::StreamState;
use crate::wire::{Ending, Traits};

/// The state of a stream that ends. Stages are closed in order, each when it has stepped through its input and all its judges have returned.
#[derive(Debug)]
pub(crate) struct Shutdown {
    /// The next stage to close.
    pub(crate) stage: usize,
    /// A held part was dropped at the end.
    pub(crate) dropped: bool,
    end: End,
    ending: Option<Ending>,
    abrupt: bool,
    /// The stage whose hooks must not be called again.
    dead: Option<usize>,
    aborts: std::ops::Range<usize>,
    asked: bool,
}

impl Shutdown {
    /// Creates the state for the end of the upstream.
    pub(crate) fn natural(upstream: UpstreamEnd, state: &StreamState, traits: Traits) -> Self {
        let UpstreamEnd { error, tail_dropped } = upstream;
        let all_finished =
            !state.finishes.is_empty() && state.finishes.iter().all(|(_, reason)| reason.is_some());
        let finished = state.is_terminal() || all_finished;
        // Behind the end of the answer it does not matter how the connection ends.
        let whole = state.is_terminal() || (all_finished && traits.finish_is_terminal && !tail_dropped);
        let end = match (error.filter(|_| !whole), state.error()) {
            (Some(error), _) => End::Cut(Some(error)),
            (None, Some(error)) => End::Failed(error.clone()),
            (None, None) if finished && !tail_dropped => End::Finished,
            (None, None) => End::Cut(None),
        };
        // A clean end of bytes is the upstream's own: no ending is written unless a part was dropped.
        let ending = match &end {
            End::Cut(Some(_)) => Some(Ending::failure("the upstream broke off")),
            _ => None,
        };
        let dropped = tail_dropped;
        Self { stage: 0, dropped, end, ending, abrupt: false, dead: None, aborts: 0..0, asked: false }
    }

    /// Creates the state for a stage that ended the stream, failed, or cannot take its input. The stages from `first` to before this one are
    /// aborted; earlier stages are closed already.
    pub(crate) fn abrupt(first: usize, stage: usize, alive: bool, end: End, ending: Ending) -> Self {
        let dead = (!alive).then_some(stage);
        let (abrupt, asked) = (true, false);
        Self { stage, dropped: false, end, ending: Some(ending), abrupt, dead, aborts: first..stage, asked }
    }

    /// Creates the state behind the end of all enforced stages: dry runs are closed next, from the first stage on.
    pub(crate) fn over(last: &Self) -> Self {
        Self {
            stage: 0,
            dropped: last.dropped,
            end: last.end.clone(),
            ending: None,
            abrupt: true,
            dead: None,
            aborts: 0..0,
            asked: false,
        }
    }

    pub(crate) fn end(&self) -> &End {
        &self.end
    }

    pub(crate) fn is_abrupt(&self) -> bool {
        self.abrupt
    }

    /// Returns whether hooks of the next stage may be called.
    pub(crate) fn is_alive(&self) -> bool {
        self.dead != Some(self.stage)
    }

    /// Takes the next stage whose `on_abort` is due.
    pub(crate) fn next_abort(&mut self) -> Option<usize> {
        self.aborts.next()
    }

    /// The next hook before the stage can be closed: completions, then `on_end`.
    pub(crate) fn ask(&mut self, stage: &mut StageState) -> Option<Work> {
        if self.asked {
            return None;
        }
        if self.end == End::Finished {
            while let Some(shown) = stage.complete_next() {
                if shown {
                    return Some(Work::Chunk(self.stage));
                }
            }
        } else {
            stage.fold.state.abort_open_blocks();
        }
        self.asked = true;
        (!stage.is_bypassed()).then_some(Work::End(self.stage))
    }

    pub(crate) fn next_stage(&mut self) {
        self.stage += 1;
        self.asked = false;
    }

    /// The ending for the client, where the upstream's own is missing or not enough.
    pub(crate) fn ending(&self) -> Option<Ending> {
        match (&self.ending, &self.end) {
            (Some(ending), _) => Some(ending.clone()),
            // A part was dropped at a cut, and a body that just ends looks like success to clients.
            (None, End::Cut(_)) if self.dropped => Some(Ending::failure("the upstream broke off")),
            _ => None,
        }
    }
}
