//! Strings that no block shows are taken out before the frame is stepped through.

use bytes::Bytes;

use super::Engine;
use super::spec::Spec;
use crate::error::Error;
use crate::record::Action;
use crate::scrub::{Scrubbed, ShownTexts};
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
    pub(super) fn scrub(&mut self, outgoing: &mut Outgoing) -> Result<(), Error> {
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
            let Some(Scrubbed { frame, reason }) = scrubber.frame(frame, &known, &*format, self.is_whole)
            else {
                continue;
            };
            self.record(stage, Action::Edited, reason.unwrap_or_else(|| "a string of a frame".to_owned()));
            if !self.stages[stage].watching && frame.raw().is_empty() {
                *outgoing = Outgoing { frame: None, parts: Vec::new() };
                return Ok(());
            }
            if !self.stages[stage].watching {
                *outgoing = self.reader.read_again(frame, odd, self.is_whole)?;
            }
        }
        Ok(())
    }
}
