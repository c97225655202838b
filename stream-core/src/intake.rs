//! The intake: bytes become frames, and frames become parts.

use std::collections::VecDeque;

use bytes::Bytes;

use crate::delta::{Delta, DeltaKind, Runs, Slot, Text};
use crate::engine::Config;
use crate::error::{Error, ErrorKind};
use crate::lanes::Lanes;
use crate::sse::{Frame, Framer};
use crate::wire::{self, Decoded, Fate, Lane, Memory, Odd, Outgoing, Part, SharedFormat};

/// Frames and decodes, once it is known how.
#[derive(Debug)]
pub(crate) struct Intake {
    framer: Framer,
    format: Option<SharedFormat>,
    /// The host named the format, and no frame has told yet whether that is right.
    named: bool,
    candidates: Vec<SharedFormat>,
    /// Frames that do not tell the format yet; later all that wait to be read.
    waiting: VecDeque<Frame>,
    waiting_bytes: usize,
    /// Plain comments before the first event. They are the same in every format and keep the client waiting: they
    /// leave at once.
    early: VecDeque<Bytes>,
    held_limit: usize,
    /// Whether somebody looks at what is read. If nobody does, what cannot be read passes as it came.
    looks: bool,
    whole: Option<Bytes>,
    decoded: Decoded,
    lanes: Lanes,
    ended: bool,
    closed: bool,
    end: Option<UpstreamEnd>,
}

/// How the upstream's bytes ended.
#[derive(Debug, Default)]
pub(crate) struct UpstreamEnd {
    /// An error in transport, or silence.
    pub(crate) error: Option<Error>,
    /// The last event had no border and could not be read: it was dropped.
    pub(crate) tail_dropped: bool,
}

impl Intake {
    pub(crate) fn new(config: &Config, looks: bool) -> Self {
        let mut candidates = config.formats.clone();
        candidates.extend(wire::built_in());
        Self {
            framer: Framer::new(config.limits.frame),
            format: config.format.clone(),
            named: config.format.is_some(),
            candidates,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            early: VecDeque::new(),
            held_limit: config.limits.held,
            looks,
            whole: None,
            decoded: Decoded { memory: Memory { is_on: looks, ..Memory::default() }, ..Decoded::new() },
            lanes: Lanes::new(config.limits.held),
            ended: false,
            closed: false,
            end: None,
        }
    }

    /// Reads every frame by itself, where nothing is written.
    pub(crate) fn forget(&mut self) {
        self.decoded.memory.is_on = false;
    }

    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if self.is_open() {
            self.framer.push(bytes);
        }
    }

    pub(crate) fn push_whole(&mut self, body: Bytes) {
        self.whole = Some(body);
        self.end(None);
    }

    pub(crate) fn end(&mut self, error: Option<Error>) {
        if self.is_open() {
            self.ended = true;
            self.end = Some(UpstreamEnd { error, tail_dropped: false });
        }
    }

    /// Takes nothing more, and gives nothing more.
    pub(crate) fn close(&mut self) {
        self.closed = true;
    }

    pub(crate) fn is_open(&self) -> bool {
        !self.ended && !self.closed
    }

    pub(crate) fn format(&self) -> Option<&SharedFormat> {
        self.format.as_ref()
    }

    /// The format; the first candidate's where nothing told.
    pub(crate) fn settled_format(&mut self) -> SharedFormat {
        let first = || self.candidates.first().cloned().unwrap_or_else(wire::fallback);
        self.format.get_or_insert_with(first).clone()
    }

    /// How the upstream ended, once everything it sent has been given out.
    pub(crate) fn take_end(&mut self) -> Option<UpstreamEnd> {
        self.end.take()
    }

    /// A comment that came before the format was known.
    pub(crate) fn take_early(&mut self) -> Option<Bytes> {
        self.early.pop_front()
    }

    /// Id and model, as far as they became known.
    pub(crate) fn take_meta(&mut self) -> (Option<Text>, Option<Text>) {
        (self.decoded.id.take(), self.decoded.model.take())
    }

    /// The next frame that can be read, in the order in which frames go on.
    pub(crate) fn next(&mut self) -> Result<Option<Outgoing>, Error> {
        loop {
            if self.closed {
                return Ok(None);
            }
            if let Some(frame) = self.lanes.next() {
                return Ok(Some(frame));
            }
            match self.next_read()? {
                Some(frame) if self.decoded.lane == Lane::Now => return Ok(Some(frame)),
                Some(frame) => self.lanes.push(frame, self.decoded.lane)?,
                None if self.ended && self.lanes.release_all() => {}
                None => return Ok(None),
            }
        }
    }

    /// The next frame that can be read, in the order in which frames came.
    fn next_read(&mut self) -> Result<Option<Outgoing>, Error> {
        if let Some(body) = self.whole.take() {
            return self.read_whole(body).map(Some);
        }
        loop {
            if self.format.is_some()
                && let Some(frame) = self.waiting.pop_front()
            {
                return self.read(frame);
            }
            let frame = match self.framer.next_frame()? {
                Some(frame) => frame,
                None if self.ended => match self.framer.finish() {
                    Some(tail) => tail,
                    None if self.waiting.is_empty() => return Ok(None),
                    None => {
                        // The stream is over and nothing told the format.
                        self.settled_format();
                        continue;
                    }
                },
                None => return Ok(None),
            };
            self.recognise(&frame)?;
            match &self.format {
                Some(_) if self.waiting.is_empty() => return self.read(frame),
                None if self.waiting.is_empty() && is_filler(&frame) => {
                    self.early.push_back(frame.raw().clone());
                }
                _ => {
                    self.waiting_bytes += frame.raw().len();
                    self.waiting.push_back(frame);
                }
            }
            if self.format.is_none() && self.waiting_bytes > self.held_limit {
                if !self.looks {
                    self.settled_format();
                    continue;
                }
                let message = format!(
                    "expected a frame that tells the format in {} bytes, found none",
                    self.held_limit
                );
                return Err(Error::new(ErrorKind::HeldLimit, message));
            }
        }
    }

    /// Learns the format from the first frame that tells it, or holds the frame against the one that was named.
    fn recognise(&mut self, frame: &Frame) -> Result<(), Error> {
        if self.format.is_some() && (!self.named || !self.looks) {
            return Ok(());
        }
        let view = lenient(frame);
        let view = view.as_ref().unwrap_or(frame);
        match &self.format {
            Some(named) if named.sniff(view) => self.named = false,
            Some(named) => {
                if let Some(other) = self.candidates.iter().find(|format| format.sniff(view)) {
                    let message =
                        format!("expected frames of {}, found one of {}", named.name(), other.name());
                    return Err(Error::new(ErrorKind::WrongFormat, message));
                }
            }
            None => self.format = self.candidates.iter().find(|format| format.sniff(view)).cloned(),
        }
        Ok(())
    }

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

    fn read(&mut self, mut frame: Frame) -> Result<Option<Outgoing>, Error> {
        self.decoded.deltas.clear();
        self.decoded.odd = None;
        self.decoded.lane = Lane::Now;
        let format = self.settled_format();
        if frame.data_bytes().is_some() {
            let read = format.decode(&frame, &mut self.decoded);
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
            let read = view.as_ref().is_some_and(|view| format.decode(view, &mut self.decoded).is_ok());
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

    fn read_whole(&mut self, body: Bytes) -> Result<Outgoing, Error> {
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
        match &self.format {
            None => {
                let known = self.candidates.iter().find(|format| format.sniff_whole(body)).cloned();
                self.format = known.or_else(|| wire::seeming(body).filter(|_| self.looks));
            }
            Some(named) if named.sniff_whole(body) => {}
            Some(named) => {
                if let Some(other) = self.candidates.iter().find(|format| format.sniff_whole(body)) {
                    let (named, other) = (named.name(), other.name());
                    let message = format!("expected a whole response of {named}, found one of {other}");
                    return Err(Error::new(ErrorKind::WrongFormat, message));
                }
            }
        }
        if self.format.is_none() && serde_json::from_slice::<serde::de::IgnoredAny>(body).is_err() {
            let names: Vec<_> = self.candidates.iter().map(|format| format.name()).collect();
            let message = format!("expected a whole response of {}, found something else", names.join(", "));
            return Err(Error::new(ErrorKind::WrongFormat, message));
        }
        let format = self.settled_format();
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

/// Whether a frame is only comments and blank lines, and plain.
fn is_filler(frame: &Frame) -> bool {
    frame.data_bytes().is_none() && frame.odd().is_none() && !frame.is_stray() && frame.is_terminated()
}

/// The frame as a lenient client would read it, if it is no event.
fn lenient(frame: &Frame) -> Option<Frame> {
    frame.lenient_data().map(Frame::whole)
}

/// Bytes that are no event and that nobody understands: they may be anything (rule 9).
fn stray(frame: &Frame) -> Delta {
    Delta::new(
        0,
        Slot::None,
        DeltaKind::Opaque { kind: wire::STRAY.into(), runs: Runs::Unknown, bytes: frame.raw().len() },
    )
}
