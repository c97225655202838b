//! Frames on their way: from the intake through the stages to the writer.

use std::sync::Arc;

use super::{Config, Engine, Work};
use crate::closing::Closing;
use crate::error::{Error, ErrorKind};
use crate::policy::{Attention, End};
use crate::record::Action;
use crate::stage::{Advance, StageState};
use crate::text_calls::{Searched, TextCalls};
use crate::wire::{Outgoing, WriterOptions};

impl Engine {
    pub(super) fn next_work(&mut self) -> Work {
        loop {
            if self.done {
                return Work::Done;
            }
            if let Some(stage) = self.closing.as_mut().and_then(Closing::next_abort) {
                self.abort_watching(stage);
                return Work::Abort(stage);
            }
            if let Some(work) = self.step() {
                return work;
            }
            if self.closing.is_some() {
                if let Some(work) = self.close() {
                    return work;
                }
                continue;
            }
            self.relieve_watching();
            if self.is_full() {
                if self.is_judging() {
                    return Work::Wait;
                }
                let limit = self.config.limits.held;
                let message = format!("expected at most {limit} bytes held back, found more");
                self.close_for(0, Error::new(ErrorKind::HeldLimit, message));
                continue;
            }
            let next = self.intake.next();
            while let Some(comment) = self.intake.take_early() {
                if !self.is_found_in(&comment) {
                    self.out.push_back(comment);
                }
            }
            match next {
                Ok(Some(frame)) => self.take(frame),
                Ok(None) if !self.intake.is_open() && self.end_text_calls() => {}
                Ok(None) => {
                    let Some(end) = self.intake.take_end() else { return Work::Wait };
                    self.ensure_stages();
                    let state = &self.stages[self.first_enforcing()].fold.state;
                    let traits = self.intake.settled_format().traits();
                    self.closing = Some(Closing::natural(end, state, traits));
                    if let Some(End::Cut(Some(error))) = self.closing.as_ref().map(Closing::end) {
                        self.error = Some(error.clone());
                    }
                }
                Err(error) => {
                    self.ensure_stages();
                    self.close_for(0, error);
                }
            }
        }
    }

    pub(super) fn take(&mut self, frame: Outgoing) {
        self.ensure_stages();
        let (id, model) = self.intake.take_meta();
        for stage in &mut self.stages {
            stage.fold.meta(id.clone(), model.clone());
        }
        if let (Some(observer), Some(frame)) = (&mut self.observer, &frame.frame) {
            observer.input(frame.raw());
        }
        let frame = match self.scrubbed(frame) {
            Ok(frame) => frame,
            Err(error) => return self.close_for(0, error),
        };
        let frames = match &mut self.text_calls {
            Some(text_calls) => text_calls.push(frame, self.now),
            None => vec![frame],
        };
        self.deliver(0, frames);
    }

    /// No more text comes: delivers the frames that waited to know whether a call begins in them. False if there were
    /// none.
    fn end_text_calls(&mut self) -> bool {
        let Some(text_calls) = &mut self.text_calls else { return false };
        let frames = text_calls.end();
        let any = !frames.is_empty();
        self.deliver(0, frames);
        any
    }

    /// Builds stages and writer once the format is known; a stream that never told has the first format.
    pub(super) fn ensure_stages(&mut self) {
        if !self.stages.is_empty() {
            return;
        }
        let format = self.intake.settled_format();
        let several = self.config.request.asked_choices().is_some_and(|choices| choices > 1);
        let options = WriterOptions { normalise: self.looks, several, ..self.config.writer.clone() };
        self.writer = Some(format.writer(&options));
        let Config { limits, interleaved, .. } = self.config;
        let looks = self.specs.iter().any(|spec| spec.needs.guards && spec.needs.calls != Attention::Nothing);
        self.text_calls = TextCalls::of(&self.config, looks, format.traits());
        for (number, spec) in self.specs.iter().enumerate() {
            let number = u8::try_from(number).unwrap_or(u8::MAX);
            let (name, needs) = (spec.name.as_str(), &spec.needs);
            let format = Arc::clone(&format);
            let mut stage =
                StageState::new(number, name, needs, spec.on_failure, format, limits, interleaved);
            stage.watching = spec.watching;
            stage.blind = !self.looks && !spec.watching;
            stage.hands_on = usize::from(number) + 1 < self.specs.len() && !self.is_whole;
            stage.text_calls = self.text_calls.as_ref().map_or(Searched::Nothing, TextCalls::searched);
            // What it does not look at may still say a call again: copies are held against all of the text.
            match stage.text_calls {
                _ if needs.is_nothing() => {}
                Searched::Nothing => {}
                Searched::Content => stage.fold.keep_content(),
                Searched::AllText => stage.fold.keep_text(),
            }
            self.stages.push(stage);
        }
        self.record_early();
    }

    /// Makes one step in the last stage that has input.
    pub(super) fn step(&mut self) -> Option<Work> {
        loop {
            let index = self.stages.iter().rposition(|stage| !stage.is_drained())?;
            if self.stages[index].shown.is_some() {
                return Some(Work::Chunk(index));
            }
            let mut out = Vec::new();
            match self.stages[index].advance(self.now, &mut out) {
                Ok(advance) => {
                    self.forward(index, out);
                    if advance == Advance::Hook {
                        return Some(Work::Chunk(index));
                    }
                }
                Err(error) if self.stages[index].watching => {
                    self.record(index, Action::Failed, error.to_string());
                    self.retire_watching(index);
                }
                Err(error) => {
                    self.forward(index, out);
                    self.close_for(index, error);
                    return None;
                }
            }
        }
    }

    /// Passes on what a stage let go.
    pub(super) fn forward(&mut self, stage: usize, frames: Vec<Outgoing>) {
        if !self.stages[stage].watching {
            self.deliver(stage + 1, frames);
        }
    }

    /// Gives frames to the first of the stages from `first` on that enforces, or to the writer. Those before it that
    /// only watch see them too.
    fn deliver(&mut self, first: usize, frames: Vec<Outgoing>) {
        let behind = &mut self.stages[first..];
        let next = behind.iter().position(|stage| !stage.watching).unwrap_or(behind.len());
        for stage in behind[..next].iter_mut().filter(|stage| !stage.is_retired()) {
            frames.iter().cloned().for_each(|frame| stage.push(frame));
        }
        if let Some(stage) = behind.get_mut(next) {
            frames.into_iter().for_each(|frame| stage.push(frame));
            return;
        }
        // What stages tell each other is not for the writer.
        let frames = frames.into_iter().filter(|frame| !frame.is_completion());
        let frames: Vec<Outgoing> = match &mut self.text_calls {
            Some(text_calls) => frames.map(|frame| text_calls.join(frame)).collect(),
            None => frames.collect(),
        };
        if self.is_whole {
            self.whole = frames.into_iter().next().or_else(|| self.whole.take());
        } else if let Some(writer) = &mut self.writer {
            let mut normalised = Vec::new();
            for frame in frames {
                writer.frame(frame, &mut self.scratch);
                normalised.extend(writer.normalised());
            }
            let unplaced = writer.unplaced();
            self.put_out();
            for odd in normalised {
                self.record(self.first_enforcing(), Action::Normalised, odd.to_string());
            }
            self.record_unplaced(unplaced);
        }
    }

    /// Puts what was written out for the host to take.
    pub(super) fn put_out(&mut self) {
        if let Some(observer) = &mut self.observer {
            self.scratch.iter().for_each(|bytes| observer.written(bytes));
        }
        self.out.extend(self.scratch.drain(..));
    }
}
