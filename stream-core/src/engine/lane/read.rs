//! Reading by shape: a frame of a known shape for which the lane is not armed becomes a delta without a full decode.

use super::run::text_of;
use crate::engine::Engine;
use crate::error::Error;
use crate::wire::Outgoing;

impl Engine {
    /// The next frame, read by its shape or decoded in full.
    pub(in crate::engine) fn next_frame(&mut self) -> Result<Option<Outgoing>, Error> {
        match self.next_by_shape() {
            Some(read) => match read? {
                // The frame waits for its turn.
                None => self.reader.next(),
                read => Ok(read),
            },
            None => self.reader.next(),
        }
    }

    /// The next frame, if the frame before it had text of the same block and the lane knows the shape. A full decode would give the same
    /// delta, and would change nothing in the reader's memory of the block.
    fn next_by_shape(&mut self) -> Option<Result<Option<Outgoing>, Error>> {
        if !self.lane.follows || !self.reader.is_at_border() || self.may_tell_meta() {
            return None;
        }
        let says = self.lane.last?;
        let fit = self.lane.fit(self.reader.rest())?;
        if !fit.grows(self.reader.count()) {
            return None;
        }
        let (raw, event) = (&self.reader.rest()[..fit.len], self.reader.plain_event(fit.len)?);
        let site = self.lane.shapes.first()?.1.site_in(raw, event.data.0)?;
        let delta = says.delta_at(&text_of(raw, 0, fit)?, site);
        let is_clean = self.lane.scrubs && !self.is_found(0, fit);
        let frame = self.reader.take_event(&event);
        let read = self.reader.follow(frame, delta, fit.count);
        self.lane.by_shape = matches!(read, Ok(Some(_)));
        (self.lane.is_first, self.lane.by_clean_shape) = (true, self.lane.by_shape && is_clean);
        self.lane.fitted(1);
        Some(read)
    }
}
