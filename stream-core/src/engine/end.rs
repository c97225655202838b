//! The end of a stream: its stages closed one by one, then the ending.

use super::{Engine, Work};
use crate::engine::shutdown::Shutdown;
use crate::engine::stage::StageState;
use crate::error::Error;
use crate::policy::End;
use crate::record::Action;
use crate::wire::{Ending, Outgoing};

impl Engine {
    /// Makes one move of the shutdown: a hook to call, or the next stage.
    pub(super) fn close(&mut self) -> Option<Work> {
        let shutdown = self.shutdown.as_mut()?;
        let index = shutdown.stage;
        let Some(stage) = self.stages.get_mut(index) else {
            self.done = self.written;
            self.finish();
            return self.done.then_some(Work::Done);
        };
        // Dry runs are closed when all output is written: the client does not wait for them.
        if stage.watching != self.written || stage.is_retired() {
            shutdown.next_stage();
            return None;
        }
        if shutdown.is_alive() {
            if self.tickets.values().any(|pending| pending.key.stage() == index) {
                return Some(Work::Wait);
            }
            if let Some(work) = shutdown.ask(stage) {
                return Some(work);
            }
        }
        let mut out = Vec::new();
        let shutdown = self.shutdown.as_mut()?;
        let finished = *shutdown.end() == End::Finished;
        shutdown.dropped |= self.stages[index].close(finished, shutdown.is_abrupt(), self.now, &mut out);
        shutdown.next_stage();
        self.tickets.retain(|pending| pending.key.stage() != index);
        self.forward(index, out);
        None
    }

    pub(super) fn finish(&mut self) {
        if std::mem::replace(&mut self.written, true) {
            return;
        }
        let Some(shutdown) = self.shutdown.take() else { return };
        self.shutdown = Some(Box::new(Shutdown::over(&shutdown)));
        let Some(writer) = &mut self.writer else { return };
        let first = self.out.bytes.len();
        let ending = shutdown.ending().map(|ending| ending.or(&self.config.shared.ending_words));
        if self.is_whole {
            let empty = Outgoing { frame: None, parts: Vec::new() };
            let body = self.whole.take().map_or(empty, |whole| *whole);
            self.out.push_back(writer.whole(body, ending.as_ref()));
        } else {
            match &ending {
                Some(ending) => writer.end(ending, &mut self.out.bytes),
                None => writer.flush(&mut self.out.bytes),
            }
        }
        let (odd, unplaced) = (writer.normalised(), writer.unplaced());
        self.report_written(first);
        if let Some(odd) = odd {
            self.record(self.first_enforcing(), Action::Normalised, odd.to_string());
        }
        self.record_unplaced(unplaced);
    }

    /// Closes the stream for an error in the input of a stage.
    pub(super) fn close_for(&mut self, stage: usize, error: Error) {
        self.error = Some(Box::new(error.clone()));
        self.report_error();
        let message = match error.origin() {
            crate::error::Origin::Limit => "the answer exceeded a limit",
            _ => "the upstream's answer could not be read",
        };
        self.close_abruptly(stage, true, End::Cut(Some(error)), Ending::failure(message));
    }

    pub(super) fn terminate(&mut self, stage: usize, ending: Ending) {
        self.policies.close(stage);
        let ending = ending.or(&self.config.shared.ending_words);
        self.record(stage, Action::Terminated, ending.message.clone());
        if let Some(decision) = self.stages[stage].decisions.last_mut() {
            decision.ending = Some(Box::new(ending.clone()));
        }
        if self.stages[stage].watching {
            self.retire_watching(stage);
            return;
        }
        self.close_abruptly(stage, false, End::Terminated(ending.clone()), ending);
    }

    pub(super) fn close_abruptly(&mut self, stage: usize, alive: bool, end: End, ending: Ending) {
        self.disarm();
        self.reader.close();
        self.tickets.retain(|pending| pending.key.stage() > stage);
        let first = self.shutdown.as_ref().map_or(0, |shutdown| shutdown.stage);
        self.shutdown = Some(Box::new(Shutdown::abrupt(first, stage, alive, end, ending)));
        self.stages.iter_mut().take(stage + 1).for_each(StageState::cut_input);
    }
}
