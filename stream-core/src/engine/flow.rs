//! Frames on their way: from the reader through the stages to the writer.

use std::sync::Arc;

use super::lane::Lane;
use super::{Engine, Work};
use crate::engine::shutdown::Shutdown;
use crate::engine::stage::{Advance, StageState};
use crate::error::{Error, ErrorKind};
use crate::policy::{Attention, End};
use crate::record::Action;
use crate::spare;
use crate::text_calls::{Searched, TextCalls};
use crate::wire::{Outgoing, WriterOptions};

impl Engine {
    pub(super) fn next_work(&mut self) -> Work {
        self.settle();
        loop {
            if self.done {
                return Work::Done;
            }
            if let Some(stage) = self.shutdown.as_mut().and_then(|shutdown| shutdown.next_abort()) {
                self.abort_watching(stage);
                return Work::Abort(stage);
            }
            if let Some(work) = self.step() {
                match work {
                    Work::Chunk(stage) if self.pay(stage) => continue,
                    work => return work,
                }
            }
            if self.shutdown.is_some() {
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
                let limit = self.config.shared.limits.held;
                let message = format!("expected at most {limit} bytes held back, found more");
                self.close_for(0, Error::new(ErrorKind::HeldLimit, message));
                continue;
            }
            if self.glide() {
                continue;
            }
            let next = self.next_frame();
            while let Some(comment) = self.reader.take_early() {
                if !self.is_found_in(&comment) {
                    self.out.push_back(comment);
                }
            }
            match next {
                Ok(Some(frame)) => self.take(frame),
                Ok(None) if !self.reader.is_open() && self.end_text_calls() => {}
                Ok(None) => {
                    let Some(end) = self.reader.take_end() else { return Work::Wait };
                    self.ensure_stages();
                    self.disarm();
                    let state = &self.stages[self.first_enforcing()].fold.state;
                    let traits = self.reader.settled_format().traits();
                    self.shutdown = Some(Box::new(Shutdown::natural(end, state, traits)));
                    if let Some(End::Cut(Some(error))) = self.shutdown.as_deref().map(Shutdown::end) {
                        self.error = Some(Box::new(error.clone()));
                    }
                }
                Err(error) => {
                    self.ensure_stages();
                    self.close_for(0, error);
                }
            }
        }
    }

    pub(super) fn take(&mut self, mut frame: Outgoing) {
        self.ensure_stages();
        self.disarm();
        let (id, model) = self.reader.take_meta();
        if id.is_some() || model.is_some() {
            for stage in &mut self.stages {
                stage.fold.meta(id.clone(), model.clone());
            }
        }
        if let (Some(observer), Some(frame)) = (&mut self.observer, &frame.frame) {
            observer.input(frame.raw());
        }
        let strings = match self.scrub(&mut frame) {
            Ok(strings) => strings,
            Err(error) => return self.close_for(0, error),
        };
        if let Some(format) = self.reader.format().filter(|_| self.lane.is_on) {
            self.lane.saw(&frame, &**format, strings);
        }
        match &mut self.text_calls {
            Some(text_calls) => {
                let frames = text_calls.push(frame, self.now);
                self.deliver(0, frames);
            }
            None => self.deliver_one(0, frame),
        }
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
        let format = self.reader.settled_format();
        let several = self.config.request.asked_choices().is_some_and(|choices| choices > 1);
        let options = WriterOptions { normalise: self.looks, several, ..self.config.shared.writer.clone() };
        self.writer = Some(format.writer(&options));
        let looks = self.specs.iter().any(|spec| spec.needs.guards && spec.needs.calls != Attention::Nothing);
        self.text_calls = TextCalls::of(&self.config, looks, format.traits()).map(Box::new);
        let sets_apart = self.writer.as_ref().is_some_and(|writer| writer.sets_apart());
        self.joined_calls = (several && looks && sets_apart && !self.is_whole).then(Box::default);
        self.stages.reserve_exact(self.specs.len());
        for (number, spec) in self.specs.iter().enumerate() {
            let number = u8::try_from(number).unwrap_or(u8::MAX);
            let (name, needs) = (Arc::clone(&spec.name), &spec.needs);
            let format = Arc::clone(&format);
            let mut stage =
                StageState::new(number, name, needs, spec.on_failure, format, &self.config.shared);
            stage.watching = spec.watching;
            stage.blind = !self.looks && !spec.watching;
            stage.hands_on = usize::from(number) + 1 < self.specs.len() && !self.is_whole;
            stage.text_calls =
                self.text_calls.as_ref().map_or(Searched::Nothing, |text_calls| text_calls.searched());
            // What it does not look at may still say a call again: copies are held against all of the text.
            match stage.text_calls {
                _ if needs.is_nothing() => {}
                Searched::Nothing => {}
                Searched::Content => stage.fold.keep_content(),
                Searched::AllText => stage.fold.keep_text(),
            }
            self.stages.push(stage);
        }
        let watches = self.specs.iter().any(|spec| spec.watching);
        let may_glide = self.config.lane && self.text_calls.is_none() && !format.holes().is_empty();
        self.lane = Lane::new(may_glide && !watches && !self.is_whole, self.scrubs());
        self.record_early();
    }

    /// Makes one step in the last stage that has input.
    pub(super) fn step(&mut self) -> Option<Work> {
        loop {
            let index = self.stages.iter().rposition(|stage| !stage.is_drained())?;
            if self.stages[index].is_shown() {
                return Some(Work::Chunk(index));
            }
            let mut out = Vec::new();
            match self.stages[index].advance(self.now, &mut out) {
                Ok(Advance::Leaves(frame)) => self.forward_one(index, frame),
                Ok(Advance::Hook) => return Some(Work::Chunk(index)),
                Ok(Advance::Queued | Advance::Idle) => self.forward(index, out),
                Err(error) if self.stages[index].watching => {
                    self.record(index, Action::Failed, error.to_string());
                    self.retire_watching(index);
                }
                Err(error) => {
                    self.close_for(index, error);
                    return None;
                }
            }
        }
    }

    /// Passes on what a stage let go.
    pub(super) fn forward(&mut self, stage: usize, frames: impl IntoIterator<Item = Outgoing>) {
        if !self.stages[stage].watching {
            self.deliver(stage + 1, frames);
        }
    }

    /// Passes on the one frame that a stage let go.
    fn forward_one(&mut self, stage: usize, frame: Outgoing) {
        if !self.stages[stage].watching {
            self.deliver_one(stage + 1, frame);
        }
    }

    /// As [`deliver`](Self::deliver), of one frame, which is moved only once.
    fn deliver_one(&mut self, first: usize, frame: Outgoing) {
        match self.stages.get_mut(first) {
            Some(stage) if !stage.watching => stage.push(frame),
            None if self.text_calls.is_none() && !self.is_whole => {
                // What stages tell each other is not for the writer.
                if !frame.is_completion() {
                    self.write(std::iter::once(frame));
                }
            }
            _ => self.deliver(first, std::iter::once(frame)),
        }
    }

    /// Gives frames to the first of the stages from `first` on that enforces, or to the writer. Those before it that
    /// only watch see them too.
    fn deliver(&mut self, first: usize, frames: impl IntoIterator<Item = Outgoing>) {
        let mut frames = frames.into_iter().peekable();
        if frames.peek().is_none() {
            return;
        }
        let (watching, behind) = {
            let behind = &mut self.stages[first..];
            let next = behind.iter().position(|stage| !stage.watching).unwrap_or(behind.len());
            behind.split_at_mut(next)
        };
        let frames = frames.inspect(|frame| {
            watching
                .iter_mut()
                .filter(|stage| !stage.is_retired())
                .for_each(|stage| stage.push(frame.clone()));
        });
        if let Some(stage) = behind.first_mut() {
            frames.for_each(|frame| stage.push(frame));
            return;
        }
        // What stages tell each other is not for the writer.
        let text_calls = &mut self.text_calls;
        let mut frames = frames.filter(|frame| !frame.is_completion()).map(|frame| match text_calls {
            Some(text_calls) => text_calls.join(frame),
            None => frame,
        });
        if self.is_whole {
            let whole = frames.next();
            frames.for_each(drop);
            self.whole = whole.map(Box::new).or_else(|| self.whole.take());
        } else {
            let frames: Vec<Outgoing> = frames.collect();
            self.write(frames);
        }
    }

    /// Gives frames to the writer.
    fn write(&mut self, frames: impl IntoIterator<Item = Outgoing>) {
        let mut normalised = Vec::new();
        let mut ending = None;
        let mut ambiguous = None;
        spare::lend(&spare::OUTPUT, &mut self.out);
        let first = self.out.bytes.len();
        for mut frame in frames {
            if !self.joined.is_empty() {
                ending = self.without_joined(&mut frame);
            }
            ambiguous = self.without_joined_calls(&frame).err();
            let goes_on = ending.is_none() && ambiguous.is_none();
            let Some(writer) = self.writer.as_mut().filter(|_| goes_on) else { break };
            let raw = frame.frame.as_ref().filter(|_| self.lane.is_on).map(|frame| frame.raw().clone());
            let written = self.out.bytes.len();
            writer.frame(frame, &mut self.out.bytes);
            self.lane.wrote(raw.as_ref(), &self.out.bytes[written..]);
            normalised.extend(writer.normalised());
        }
        let unplaced = self.writer.as_mut().map_or(0, |writer| writer.unplaced());
        self.report_written(first);
        for odd in normalised {
            self.record(self.first_enforcing(), Action::Normalised, odd.to_string());
        }
        self.record_unplaced(unplaced);
        if let Some((stage, ending)) = ending {
            self.terminate(stage, ending);
        } else if let Some(error) = ambiguous {
            self.close_for(self.first_enforcing(), error);
        }
    }
}
