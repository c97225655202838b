//! Runs of the lane: consecutive frames that the engine writes as one slice of the read.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::learn::frame_of;
use super::{Fit, Says, Sight};
use crate::block::BlockKey;
use crate::chunk::Body;
use crate::context::Effects;
use crate::engine::stage::PassedText;
use crate::engine::{Engine, Failure};
use crate::policy::{Attention, Ran, Step};
use crate::spare;
use crate::wire::{Fate, Outgoing, Part};

impl Engine {
    /// Whether the lane is armed for the next frames.
    pub(crate) fn is_armed(&self) -> bool {
        !self.lane.sights.is_empty()
    }

    /// Whether the lane calls a hook for each frame.
    #[cfg(feature = "processor")]
    pub(crate) fn looks_by_the_lane(&self) -> bool {
        self.lane.sights.iter().any(|sight| sight.looks)
    }

    /// Takes a read while the engine has no other work. Returns the read if the lane takes all of it; `None` if work is left.
    #[cfg(feature = "processor")]
    pub(crate) fn pass(&mut self, bytes: bytes::Bytes) -> Option<bytes::Bytes> {
        self.next = None;
        self.waiting = false;
        self.reader.push(bytes);
        let len = self.next_run()?;
        // The stages count these frames later, before any other work (`settle`).
        let passed = (len > 0).then(|| self.reader.take(len));
        if self.reader.rest().is_empty() && self.lane.owed.is_empty() {
            return passed;
        }
        self.out.extend(passed);
        None
    }

    /// Writes the next frames by the lane, as far as they fit. Returns whether there were any, or a hook had effects that the general way
    /// has to commit.
    pub(in crate::engine) fn glide(&mut self) -> bool {
        let Some(len) = self.next_run() else { return false };
        self.settle();
        if len > 0 {
            spare::lend(&spare::OUTPUT, &mut self.out);
            self.out.push_back(self.reader.take(len));
        }
        len > 0 || !self.lane.owed.is_empty()
    }

    /// The number of bytes of the next run; `None` if the lane cannot be armed for its first frame.
    fn next_run(&mut self) -> Option<usize> {
        let lane = &mut self.lane;
        let is_text = lane.last.is_some_and(|says| says.channel().is_some());
        if !is_text || !lane.is_plain || !lane.owed.is_empty() || !self.reader.is_at_border() {
            return None;
        }
        if lane.sights.is_empty() {
            let writer = self.writer.as_ref().filter(|writer| writer.is_plain_again())?;
            lane.is_strict = !writer.is_plain();
        }
        let first = self.next_fit(0)?;
        if self.lane.sights.is_empty() && !self.arm() {
            return None;
        }
        Some(self.take_run(first))
    }

    /// The frame at this offset of the read, if the lane knows the shape.
    fn next_fit(&mut self, at: usize) -> Option<Fit> {
        let rest = self.reader.rest().get(at..).filter(|rest| !rest.is_empty())?;
        if self.lane.is_strict { self.lane.fit_again(rest) } else { self.lane.fit(rest) }
    }

    /// Commits the effects of a hook that the lane called. Returns whether there was such a hook of this stage.
    pub(in crate::engine) fn pay(&mut self, stage: usize) -> bool {
        if self.lane.owed.first().is_none_or(|(of, _)| *of != stage) {
            return false;
        }
        match self.lane.owed.remove(0).1 {
            Ok(effects) => self.commit(stage, effects),
            Err(failure) => self.fail(stage, failure),
        }
        true
    }

    /// Disarms the lane, and passes the last frame of the run to the writer, with the text of all frames if the format restates text.
    pub(in crate::engine) fn disarm(&mut self) {
        self.settle();
        let key = self.lane.sights.last().map(|sight| sight.key);
        if self.lane.has_left && !self.joined.is_empty() {
            self.glided(&self.lane_blocks());
        }
        self.lane.sights.clear();
        if !std::mem::take(&mut self.lane.has_left) {
            return;
        }
        let frame = frame_of(&self.lane.raw);
        let (raw, mut said) = (std::mem::take(&mut self.lane.raw), std::mem::take(&mut self.lane.left));
        if said.is_empty() {
            said.extend(self.lane.fit(&raw).and_then(|fit| text_of(&raw, 0, fit)));
        }
        if let (Some(says), Some(writer)) = (&self.lane.last, &mut self.writer) {
            let parts = vec![Part { delta: says.delta(&said), key, fate: Fate::Kept }];
            // The frames are written already: the output is discarded.
            writer.frame(Outgoing { frame, parts }, &mut Vec::new());
            writer.normalised();
        }
        self.lane.raw = raw;
    }

    /// The block of each stage for which the lane is armed.
    fn lane_blocks(&self) -> Vec<BlockKey> {
        self.lane.sights.iter().map(|sight| sight.key).collect()
    }

    /// Whether a hole may have the id or the model of the response while these are still unknown.
    pub(super) fn may_tell_meta(&self) -> bool {
        self.reader.wants_meta() && self.lane.shapes.iter().any(|(_, shape)| shape.has_words())
    }

    /// Arms the lane for text of the last block, if a further frame of that block changes nothing but counts. Returns whether the lane is
    /// armed.
    fn arm(&mut self) -> bool {
        let Some(says) = self.lane.last else { return false };
        let is_plain = self.writer.as_ref().is_some_and(|writer| writer.held() == 0);
        let is_idle = self.observer.is_none() && self.tickets.is_empty() && self.asked.is_empty();
        if !is_plain || !is_idle || self.may_tell_meta() {
            return false;
        }
        self.lane.sights.reserve_exact(self.stages.len());
        for stage in 0..self.stages.len() {
            match self.sight(stage, &says) {
                Some(sight) => self.lane.sights.push(sight),
                None => {
                    self.lane.sights.clear();
                    return false;
                }
            }
        }
        if !self.joined.is_empty() {
            self.glides(&self.lane_blocks());
        }
        true
    }

    /// A stage's view of the block; `None` if the stage has to take the text by the general way.
    fn sight(&mut self, stage: usize, says: &Says) -> Option<Sight> {
        let (key, attention) = self.stages[stage].clear_block(says.choice, says.slot, says.channel()?)?;
        let looks = match attention {
            Attention::Nothing => false,
            Attention::Chunks => !self.policies.may_wait(stage),
            Attention::Completed => return None,
        };
        let is_seen = looks == (attention == Attention::Chunks);
        is_seen.then(|| Sight { key, keeps: self.stages[stage].fold.keeps(key), looks })
    }

    /// Takes frames as long as they fit and every hook only sends its chunk. Returns the number of their bytes.
    fn take_run(&mut self, first: Fit) -> usize {
        let restates = self.reader.format().is_some_and(|format| format.traits().restates);
        let is_seen = restates || self.lane.sights.iter().any(|sight| sight.keeps);
        let limit = self.config.shared.limits.frame;
        let (mut len, mut frames, mut bytes, mut last) = (0, 0, 0, 0);
        let (mut next, mut count) = (Some(first), self.reader.count());
        while let Some(fit) = next.filter(|fit| fit.len <= limit && fit.grows(count)) {
            if self.lane.scrubs && self.is_found(len, fit) {
                break;
            }
            if is_seen && !self.show(len, fit, restates) {
                break;
            }
            last = len;
            count = count.and(fit.count.or(count));
            len += fit.len;
            frames += 1;
            bytes += fit.text.decoded;
            next = self.next_fit(len);
        }
        if frames == 0 {
            return 0;
        }
        count.into_iter().for_each(|count| self.reader.counted(count));
        self.lane.raw.clear();
        self.lane.raw.extend_from_slice(&self.reader.rest()[last..len]);
        let sum = |before: u32, more: usize| u32::try_from(more).ok()?.checked_add(before);
        match (is_seen, sum(self.lane.passed.0, frames), sum(self.lane.passed.1, bytes)) {
            (false, Some(frames), Some(bytes)) => self.lane.passed = (frames, bytes),
            _ => {
                self.settle();
                self.tell_stages(frames, bytes);
            }
        }
        len
    }

    /// Whether a policy that searches every string finds, or may find, a match in the holes of the frame of the first shape at this offset.
    pub(super) fn is_found(&self, at: usize, fit: Fit) -> bool {
        let frame = self.reader.rest().get(at..at + fit.len);
        let shape = self.lane.shapes.first().map(|(_, shape)| shape);
        shape.zip(frame).is_none_or(|(shape, frame)| self.is_found_in_holes(shape, frame))
    }

    /// Passes the counts of the frames that the lane wrote to the stages.
    pub(in crate::engine) fn settle(&mut self) {
        let (frames, bytes) = std::mem::take(&mut self.lane.passed);
        if frames > 0 {
            self.tell_stages(frames as usize, bytes as usize);
        }
    }

    fn tell_stages(&mut self, frames: usize, bytes: usize) {
        for (sight, stage) in self.lane.sights.iter().zip(&mut self.stages) {
            stage.passed(sight.key, frames, bytes, sight.looks, sight.keeps);
        }
        self.lane.fitted(frames);
        self.lane.has_left = true;
    }

    /// Adds the text of a frame to the folds that keep it, and calls the policies that need it. Returns `false` if the frame has to take
    /// the general way: the folds are then as before, and the effects of the hooks that were called are owed.
    fn show(&mut self, at: usize, fit: Fit, restates: bool) -> bool {
        let Self { reader, stages, policies, config, lane, now, .. } = self;
        let Some((says, channel)) = lane.last.as_ref().and_then(|says| Some((says, says.channel()?))) else {
            return false;
        };
        let span = at + fit.start..at + fit.start + fit.text.len;
        let Some(text) = text_of(reader.rest(), at, fit) else { return false };
        let room = |(sight, stage): (&Sight, &crate::engine::stage::StageState)| {
            !sight.keeps || stage.fold.room(sight.key) >= text.len()
        };
        if !lane.sights.iter().zip(&*stages).all(room) {
            return false;
        }
        let mut failed = None;
        for (number, sight) in lane.sights.iter().enumerate().filter(|(_, sight)| sight.keeps) {
            let stage = &mut stages[number];
            stage.fold.state.blocks[sight.key.index()].append(&text, true);
            if !sight.looks {
                continue;
            }
            stage.step_to(sight.key);
            let body = match &text {
                Cow::Borrowed(text) => {
                    Body::short(text).unwrap_or_else(|| Body::Slice(reader.slice(span.clone())))
                }
                Cow::Owned(text) => Body::Text(text.as_str().into()),
            };
            let passed = PassedText { choice: says.choice, channel, fields: says.fields, body };
            let (chunk, mut ctx) = stage.text_hook(sight.key, passed, &config.request, *now);
            let Some(policy) = policies.get(number) else { continue };
            let state = &stage.fold.state;
            let ran =
                catch_unwind(AssertUnwindSafe(|| match policy.run(Step::Chunk(chunk), state, &mut ctx) {
                    Ran::Now(returned) => returned.map_err(Failure::Failed),
                    Ran::Waits(_) => Err(Failure::TimedOut),
                }));
            let returned = ran.unwrap_or(Err(Failure::Panicked)).map(|()| ctx.into_effects());
            if !matches!(&returned, Ok(effects) if effects.only_sent()) {
                failed = Some((number, returned));
                break;
            }
        }
        let Some((last, returned)) = failed else {
            if restates {
                lane.left.push_str(&text);
                for (sight, stage) in lane.sights.iter().zip(stages).filter(|(sight, _)| sight.looks) {
                    stage.accounts.get_mut(sight.key).sent.push_str(&text);
                }
            }
            return true;
        };
        for (number, sight) in lane.sights.iter().enumerate().take(last + 1).filter(|(_, sight)| sight.keeps)
        {
            stages[number].fold.state.blocks[sight.key.index()].retract(text.len());
            if sight.looks {
                stages[number].step_back();
                lane.owed.push((number, Ok(Effects::sent())));
            }
        }
        lane.owed.pop();
        lane.owed.push((last, returned));
        false
    }
}

/// The text of a fitting frame.
pub(super) fn text_of(bytes: &[u8], at: usize, fit: Fit) -> Option<Cow<'_, str>> {
    let (start, end) = (at + fit.start, at + fit.start + fit.text.len);
    if fit.text.is_escaped() {
        return serde_json::from_slice(bytes.get(start - 1..=end)?).ok().map(Cow::Owned);
    }
    std::str::from_utf8(bytes.get(start..end)?).ok().map(Cow::Borrowed)
}
