//! How a stream is brought to its end, stage by stage.

use crate::engine::Work;
use crate::engine::reader::UpstreamEnd;
use crate::engine::stage::StageState;
use crate::policy::End;
use crate::state::StreamState;
use crate::wire::{Ending, Traits};

/// A stream on its way to the end. Stages are closed in order, each when it has stepped through everything and every
/// decision has come.
#[derive(Debug)]
pub(crate) struct Shutdown {
    /// The stage that is next to be closed.
    pub(crate) stage: usize,
    /// Whether anything that was held has been dropped on the way.
    pub(crate) dropped: bool,
    end: End,
    ending: Option<Ending>,
    abrupt: bool,
    /// The stage whose policy must not be called again.
    dead: Option<usize>,
    aborts: std::ops::Range<usize>,
    asked: bool,
}

impl Shutdown {
    /// The upstream ended by itself.
    pub(crate) fn natural(upstream: UpstreamEnd, state: &StreamState, traits: Traits) -> Self {
        let UpstreamEnd { error, tail_dropped } = upstream;
        let all_finished =
            !state.finishes.is_empty() && state.finishes.iter().all(|(_, reason)| reason.is_some());
        let finished = state.is_terminal() || all_finished;
        // Once everything has been said, it does not matter how the connection ends.
        let whole = state.is_terminal() || (all_finished && traits.finish_is_terminal && !tail_dropped);
        let end = match (error.filter(|_| !whole), state.error()) {
            (Some(error), _) => End::Cut(Some(error)),
            (None, Some(error)) => End::Failed(error.clone()),
            (None, None) if finished && !tail_dropped => End::Finished,
            (None, None) => End::Cut(None),
        };
        // An end of bytes without any reason is the upstream's own, and passes as it came unless something is lost.
        let ending = match &end {
            End::Cut(Some(_)) => Some(Ending::failure("the upstream broke off")),
            _ => None,
        };
        let dropped = tail_dropped;
        Self { stage: 0, dropped, end, ending, abrupt: false, dead: None, aborts: 0..0, asked: false }
    }

    /// A stage ended the stream, or failed, or was given what it cannot take. Stages before it are aborted, from
    /// `first` on: those before were closed already.
    pub(crate) fn abrupt(first: usize, stage: usize, alive: bool, end: End, ending: Ending) -> Self {
        let dead = (!alive).then_some(stage);
        let (abrupt, asked) = (true, false);
        Self { stage, dropped: false, end, ending: Some(ending), abrupt, dead, aborts: first..stage, asked }
    }

    /// All stages that enforce are closed; those that watch are next, from the first on.
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

    /// Whether the policy of the stage that is next may still be called.
    pub(crate) fn is_alive(&self) -> bool {
        self.dead != Some(self.stage)
    }

    /// The next policy whose `on_abort` is to be called.
    pub(crate) fn next_abort(&mut self) -> Option<usize> {
        self.aborts.next()
    }

    /// What is to be called before the stage can be closed: completions, then `on_end`.
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

    /// The ending that the client is to get, if the upstream's own does not do.
    pub(crate) fn ending(&self) -> Option<Ending> {
        match (&self.ending, &self.end) {
            (Some(ending), _) => Some(ending.clone()),
            // Something was lost at a cut, and a body that just ends looks like success to clients.
            (None, End::Cut(_)) if self.dropped => Some(Ending::failure("the upstream broke off")),
            _ => None,
        }
    }
}
