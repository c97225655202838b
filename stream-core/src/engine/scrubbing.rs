//! Strings that no block shows are taken out before the frame is stepped through.

use bytes::Bytes;

use super::Engine;
use super::lane::{Gap, Shape};
use super::spec::Spec;
use crate::error::Error;
use crate::record::Action;
use crate::scrub::{Scrubbed, Scrubber, ShownTexts};
use crate::wire::Outgoing;

impl Engine {
    /// Whether a policy wants a comment that comes before the first event to say something else.
    pub(super) fn is_found_in(&mut self, comment: &Bytes) -> bool {
        let found = |spec: &Spec| spec.scrubber.as_ref().is_some_and(|scrubber| scrubber.finds_in(comment));
        let Some(spec) = self.specs.iter_mut().find(|spec| !spec.watching && found(spec)) else {
            return false;
        };
        spec.dropped_early = true;
        true
    }

    /// Records the comments that were taken out before there were stages.
    pub(super) fn record_early(&mut self) {
        for stage in 0..self.specs.len() {
            if std::mem::take(&mut self.specs[stage].dropped_early) {
                self.record(stage, Action::Dropped, "a comment before the first event".to_owned());
            }
        }
    }

    /// Makes a frame what the policies that look at every string want it to be.
    ///
    /// # Errors
    ///
    /// When the frame cannot be read without what was taken out.
    pub(super) fn scrub(&mut self, outgoing: &mut Outgoing) -> Result<FrameStrings, Error> {
        let mut strings = FrameStrings::Clean;
        if self.lane.is_by_clean_shape() {
            return Ok(strings);
        }
        for stage in 0..self.specs.len() {
            if self.specs[stage].scrubber.is_none() || self.stages[stage].is_bypassed() {
                continue;
            }
            let format = self.reader.settled_format();
            let (Some(frame), Some(scrubber)) = (&outgoing.frame, &mut self.specs[stage].scrubber) else {
                continue;
            };
            let odd = frame.odd();
            let known = ShownTexts::of(outgoing.parts.iter().map(|part| &part.delta));
            let (frame, reason) = match scrubber.frame(frame, &known, &*format, self.is_whole) {
                Scrubbed::Clean => continue,
                Scrubbed::Kept => {
                    strings = strings.max(FrameStrings::Kept);
                    continue;
                }
                Scrubbed::Changed { frame, reason } => (frame, reason),
            };
            strings = FrameStrings::Changed;
            self.record(stage, Action::Edited, reason.unwrap_or_else(|| "a string of a frame".to_owned()));
            if !self.stages[stage].watching && frame.raw().is_empty() {
                *outgoing = Outgoing { frame: None, parts: Vec::new() };
                return Ok(strings);
            }
            if !self.stages[stage].watching {
                *outgoing = self.reader.read_again(frame, odd, self.is_whole)?;
            }
        }
        Ok(strings)
    }

    /// Whether policies look at every string.
    pub(super) fn scrubs(&self) -> bool {
        self.scrubbers().next().is_some()
    }

    /// Whether one of these policies would find something in the holes of a frame, whose shape is that of a frame in which none
    /// of them did. The text of a block is the policy's own to look at, unless the frame says the text twice.
    pub(super) fn is_found_in_holes(&self, shape: &Shape, frame: &[u8]) -> bool {
        let finds = |gap: Gap, value: &[u8]| {
            let Ok(value) = std::str::from_utf8(value) else { return true };
            self.scrubbers().any(|scrubber| match gap {
                Gap::Twin | Gap::Word => scrubber.finds_in_string(value),
                Gap::Digits | Gap::Count => scrubber.finds_in_number(value),
                Gap::Text | Gap::Blanks => false,
            })
        };
        !shape.no_hole(frame, finds)
    }

    /// Those of the stages that have not failed.
    fn scrubbers(&self) -> impl Iterator<Item = &Scrubber> {
        let specs = self.specs.iter().zip(&self.stages).filter(|(_, stage)| !stage.is_bypassed());
        specs.filter_map(|(spec, _)| spec.scrubber.as_deref())
    }
}

/// What the policies that look at every string found in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum FrameStrings {
    /// All strings were searched, and nothing was found.
    Clean,
    /// Nothing that has to change.
    Kept,
    /// The frame was written anew.
    Changed,
}
