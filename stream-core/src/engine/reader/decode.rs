//! Frames and whole bodies become parts.

use bytes::Bytes;

use super::recognise::first;
use super::{FrameReader, lenient};
use crate::delta::{Delta, DeltaKind, Runs, Slot};
use crate::error::Error;
use crate::spare;
use crate::sse::Frame;
use crate::wire::{self, DecodeError, Due, Fate, Odd, Outgoing, Part};

impl FrameReader {
    /// Reads a frame that has other strings now. What was odd about it beside the frames before it, which have been seen,
    /// still is.
    pub(crate) fn read_again(
        &mut self,
        frame: Frame,
        odd: Option<Odd>,
        whole: bool,
    ) -> Result<Outgoing, Error> {
        if whole {
            self.decoded.deltas.clear();
            return self.read_whole(frame.raw().clone());
        }
        let remembers = std::mem::take(&mut self.decoded.memory.is_on);
        let read = self.read(frame);
        self.decoded.memory.is_on = remembers;
        let mut outgoing = read?.unwrap_or(Outgoing { frame: None, parts: Vec::new() });
        if let Some(frame) = &mut outgoing.frame {
            frame.mark(odd);
        }
        Ok(outgoing)
    }

    pub(super) fn read(&mut self, mut frame: Frame) -> Result<Option<Outgoing>, Error> {
        self.decoded.deltas.clear();
        spare::lend(&spare::DELTAS, &mut self.decoded.deltas);
        self.decoded.odd = None;
        self.decoded.due = Due::Now;
        if frame.data_bytes().is_some() {
            let read = self.decode(&frame);
            self.hold_against_format(&frame, read.as_ref().copied())?;
            match read {
                Ok(()) => {}
                Err(_) if !self.looks && (frame.is_terminated() || !self.is_broken()) => {
                    self.decoded.deltas.clear();
                    self.decoded.deltas.push(stray(&frame));
                }
                // A tail without its border that cannot be read was cut off (rule 9).
                Err(_) if !frame.is_terminated() => {
                    self.end.get_or_insert_default().tail_dropped = true;
                    return self.next_read();
                }
                Err(error) => return Err(error.into()),
            }
            if frame.is_stray() {
                self.decoded.deltas.push(stray(&frame));
            }
        } else if frame.is_stray() {
            let view = lenient(&frame);
            let mut read = false;
            if let Some(view) = &view {
                let decoded = self.decode(view);
                self.hold_against_format(view, decoded.as_ref().copied())?;
                read = decoded.is_ok();
            }
            if !read && !frame.is_terminated() && (self.looks || self.is_broken()) {
                self.end.get_or_insert_default().tail_dropped = true;
                return self.next_read();
            }
            if !read {
                self.decoded.deltas.clear();
            }
            if !read || !frame.is_lenient() {
                self.decoded.deltas.push(stray(&frame));
            }
        } else if frame.is_terminated() || frame.is_comment() || !(self.looks || self.is_broken()) {
            self.decoded.deltas.push(Delta::stream(DeltaKind::Comment));
        } else {
            // An `event:` line whose data never came: a client would take it for the next event's.
            self.end.get_or_insert_default().tail_dropped = true;
            return self.next_read();
        }
        self.decoded.wants_meta = self.decoded.id.is_none() && self.decoded.wants_meta;
        frame.mark(self.decoded.odd);
        Ok(Some(self.outgoing(frame)))
    }

    fn decode(&mut self, frame: &Frame) -> Result<(), DecodeError> {
        let Self { format, settings, decoded, .. } = self;
        format.get_or_insert_with(|| first(settings)).decode(frame, decoded)
    }

    pub(super) fn read_whole(&mut self, body: Bytes) -> Result<Outgoing, Error> {
        match self.decode_whole(&body) {
            Err(_) if !self.looks => {
                self.decoded.deltas.clear();
                self.settled_format();
            }
            read => read?,
        }
        let mut frame = Frame::whole(body);
        frame.mark(self.decoded.odd);
        Ok(self.outgoing(frame))
    }

    fn decode_whole(&mut self, body: &Bytes) -> Result<(), Error> {
        let format = self.recognise_whole(body)?;
        Ok(format.decode_whole(body, &mut self.decoded)?)
    }

    /// Whether the bytes ended with an error, so that the client gets an ending behind what came.
    fn is_broken(&self) -> bool {
        self.end.as_ref().is_some_and(|end| end.error.is_some())
    }

    fn outgoing(&mut self, frame: Frame) -> Outgoing {
        let parts = self.decoded.deltas.drain(..);
        let parts = parts.map(|delta| Part { delta, key: None, fate: Fate::Kept }).collect();
        Outgoing { frame: Some(frame), parts }
    }
}

/// Bytes that are no event and that nobody understands: they may be anything (rule 9).
fn stray(frame: &Frame) -> Delta {
    Delta::new(
        0,
        Slot::None,
        DeltaKind::Opaque { kind: wire::STRAY.into(), runs: Runs::Unknown, bytes: frame.raw().len() },
    )
}
