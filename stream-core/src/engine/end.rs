//! How the engine brings a stream to its end.

use super::{Engine, Work};
use crate::closing::Closing;
use crate::error::Error;
use crate::policy::End;
use crate::record::Action;
use crate::stage::StageState;
use crate::wire::{Ending, Outgoing};

impl Engine {
    /// One move of the closing: a hook to call, or the next stage.
    pub(super) fn close(&mut self) -> Option<Work> {
        let closing = self.closing.as_mut()?;
        let index = closing.stage;
        let Some(stage) = self.stages.get_mut(index) else {
            self.done = self.written;
            self.finish();
            return self.done.then_some(Work::Done);
        };
        // Those that only watch come to their end when all output is there: nobody waits for them.
        if stage.watching != self.written || stage.is_retired() {
            closing.next_stage();
            return None;
        }
        if closing.is_alive() {
            if self.tickets.values().any(|pending| pending.stage == index) {
                return Some(Work::Wait);
            }
            if let Some(work) = closing.ask(stage) {
                return Some(work);
            }
        }
        let mut out = Vec::new();
        let closing = self.closing.as_mut()?;
        let finished = *closing.end() == End::Finished;
        closing.dropped |= self.stages[index].close(finished, closing.is_abrupt(), self.now, &mut out);
        closing.next_stage();
        self.tickets.retain(|pending| pending.stage != index);
        self.forward(index, out);
        None
    }

    pub(super) fn finish(&mut self) {
        if std::mem::replace(&mut self.written, true) {
            return;
        }
        let Some(closing) = self.closing.take() else { return };
        self.closing = Some(Closing::over(&closing));
        let Some(writer) = &mut self.writer else { return };
        let ending = closing.ending();
        if self.is_whole {
            let empty = Outgoing { frame: None, parts: Vec::new() };
            let body = self.whole.take().unwrap_or(empty);
            self.scratch.push(writer.whole(body, ending.as_ref()));
            let (odd, unplaced) = (writer.normalised(), writer.unplaced());
            if let Some(odd) = odd {
                self.record(self.first_enforcing(), Action::Normalised, odd.to_string());
            }
            self.record_unplaced(unplaced);
        } else if let Some(ending) = ending {
            writer.end(&ending, &mut self.scratch);
        }
        self.put_out();
    }

    /// Something was wrong with what a stage was given.
    pub(super) fn close_for(&mut self, stage: usize, error: Error) {
        self.error = Some(error.clone());
        self.report_error();
        let message = match error.origin() {
            crate::error::Origin::Limit => "the answer exceeded a limit",
            _ => "the upstream's answer could not be read",
        };
        self.close_abruptly(stage, true, End::Cut(Some(error)), Ending::error(message));
    }

    pub(super) fn terminate(&mut self, stage: usize, ending: Ending) {
        self.policies.close(stage);
        self.record(stage, Action::Terminated, ending.message.clone());
        if self.stages[stage].watching {
            self.retire_watching(stage);
            return;
        }
        self.close_abruptly(stage, false, End::Terminated(ending.clone()), ending);
    }

    pub(super) fn close_abruptly(&mut self, stage: usize, alive: bool, end: End, ending: Ending) {
        self.intake.close();
        self.tickets.retain(|pending| pending.stage > stage);
        let first = self.closing.as_ref().map_or(0, |closing| closing.stage);
        self.closing = Some(Closing::abrupt(first, stage, alive, end, ending));
        self.stages.iter_mut().take(stage + 1).for_each(StageState::cut_input);
    }
}
