//! The reader: bytes become frames, and frames become parts.

mod decode;
mod recognise;

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::Bytes;

use crate::delta::{Delta, Text};
use crate::engine::turns::Turns;
use crate::engine::{Config, Settings};
use crate::error::{Error, ErrorKind};
use crate::spare;
use crate::sse::{Frame, Framer, PlainEvent};
use crate::wire::{Decoded, Due, Fate, Memory, Outgoing, Part, SharedFormat};

/// Frames and decodes, once it is known how.
#[derive(Debug)]
pub(crate) struct FrameReader {
    framer: Framer,
    /// What was read and not framed yet, behind what the framer has.
    rest: Bytes,
    format: Option<SharedFormat>,
    settings: Arc<Settings>,
    /// What came before the format was known, until it has gone on.
    start: Option<Box<Start>>,
    /// Whether somebody looks at what is read. If nobody does, what cannot be read passes as it came.
    looks: bool,
    whole: Option<Box<Bytes>>,
    decoded: Decoded,
    /// The frames of blocks that take turns, once there are such.
    turns: Option<Box<Turns>>,
    ended: bool,
    closed: bool,
    end: Option<Box<UpstreamEnd>>,
}

/// What came before the format was known.
#[derive(Debug, Default)]
struct Start {
    /// Frames that do not tell the format yet; later all that wait to be read.
    waiting: VecDeque<Frame>,
    bytes: usize,
    /// Plain comments before the first event. They are the same in every format and keep the client waiting: they
    /// leave at once.
    early: VecDeque<Bytes>,
}

/// How the upstream's bytes ended.
#[derive(Debug, Default)]
pub(crate) struct UpstreamEnd {
    /// An error in transport, or silence.
    pub(crate) error: Option<Error>,
    /// The last event had no border and could not be read: it was dropped.
    pub(crate) tail_dropped: bool,
}

impl FrameReader {
    pub(crate) fn new(config: &Config, looks: bool) -> Self {
        let settings = Arc::clone(&config.shared);
        Self {
            framer: Framer::of(config.framing(), settings.limits.frame),
            rest: Bytes::new(),
            format: config.format.clone(),
            settings,
            start: None,
            looks,
            whole: None,
            decoded: Decoded { memory: memory_of(config, looks), ..Decoded::new() },
            turns: None,
            ended: false,
            closed: false,
            end: None,
        }
    }

    /// Reads every frame by itself, where nothing is written.
    pub(crate) fn forget(&mut self) {
        self.decoded.memory.is_on = false;
    }

    pub(crate) fn push(&mut self, bytes: Bytes) {
        if self.is_open() {
            if !self.rest.is_empty() {
                self.framer.push(&self.rest);
            }
            self.rest = bytes;
        }
    }

    /// As [`push`](Self::push), of bytes that are not shared.
    pub(crate) fn push_slice(&mut self, bytes: &[u8]) {
        if self.is_open() {
            self.framer.push(bytes);
        }
    }

    /// There is nothing to do: what is needed only for work is given back. Nothing is framed while the lane is armed.
    pub(crate) fn rest_now(&mut self, is_armed: bool) {
        spare::take_back(&spare::DELTAS, &mut self.decoded.deltas);
        if is_armed {
            self.framer.rest();
        }
    }

    /// Whether what comes next starts a frame, and nothing read before has to go on first.
    pub(crate) fn is_at_border(&self) -> bool {
        let turns_wait = self.turns.as_ref().is_some_and(|turns| !turns.is_empty());
        let waits = self.framer.pending() > 0 || self.has_waiting() || turns_wait;
        !self.closed && !waits && self.format.is_some() && self.whole.is_none()
    }

    /// What was read and not framed yet.
    pub(crate) fn rest(&self) -> &[u8] {
        &self.rest
    }

    /// A slice of what was read and not framed yet.
    pub(crate) fn slice(&self, range: std::ops::Range<usize>) -> Bytes {
        self.rest.slice(range)
    }

    /// Takes the first bytes of what was read.
    pub(crate) fn take(&mut self, len: usize) -> Bytes {
        if len == self.rest.len() { std::mem::take(&mut self.rest) } else { self.rest.split_to(len) }
    }

    /// The plain event with that many bytes which starts what was read.
    pub(crate) fn plain_event(&self, len: usize) -> Option<PlainEvent> {
        self.framer.plain_event(&self.rest).filter(|event| event.len == len)
    }

    /// Takes the plain event that starts what was read.
    pub(crate) fn take_event(&mut self, event: &PlainEvent) -> Frame {
        self.framer.take_event(event, &mut self.rest)
    }

    /// The highest number that counts frames so far, where frames are held against those before.
    pub(crate) fn count(&self) -> Option<u64> {
        self.decoded.memory.count()
    }

    /// Takes note of the number of a frame that was not read in full.
    pub(crate) fn counted(&mut self, number: u64) {
        self.decoded.memory.counted(number);
    }

    /// Whether id and model are not known yet.
    pub(crate) fn wants_meta(&self) -> bool {
        self.decoded.wants_meta
    }

    pub(crate) fn push_whole(&mut self, body: Bytes) {
        self.whole = Some(Box::new(body));
        self.end(None);
    }

    pub(crate) fn end(&mut self, error: Option<Error>) {
        if self.is_open() {
            self.ended = true;
            self.end = Some(Box::new(UpstreamEnd { error, tail_dropped: false }));
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
        let Self { format, settings, .. } = self;
        format.get_or_insert_with(|| recognise::first(settings)).clone()
    }

    /// How the upstream ended, once everything it sent has been given out.
    pub(crate) fn take_end(&mut self) -> Option<UpstreamEnd> {
        self.end.take().map(|end| *end)
    }

    /// A comment that came before the format was known.
    pub(crate) fn take_early(&mut self) -> Option<Bytes> {
        let start = self.start.as_mut()?;
        let early = start.early.pop_front();
        if early.is_none() && start.waiting.is_empty() {
            self.start = None;
        }
        early
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
            if let Some(frame) = self.turns.as_mut().and_then(|turns| turns.next()) {
                return Ok(Some(frame));
            }
            match self.next_read()? {
                Some(frame) if self.decoded.due == Due::Now => return Ok(Some(frame)),
                Some(frame) => self.wait_for_turn(frame)?,
                None if self.ended && self.turns.as_mut().is_some_and(|turns| turns.release_all()) => {}
                None => return Ok(None),
            }
        }
    }

    /// The frame that was read last does not go on now.
    fn wait_for_turn(&mut self, frame: Outgoing) -> Result<(), Error> {
        let turns = self.turns.get_or_insert_default();
        turns.push(frame, self.decoded.due, self.settings.limits.held)
    }

    /// Takes a frame that was cut off what was read, of which is known that it says this and nothing else, as the frame before
    /// it did, and which number it has. `None` if it goes on later.
    pub(crate) fn follow(
        &mut self,
        frame: Frame,
        delta: Delta,
        number: Option<u64>,
    ) -> Result<Option<Outgoing>, Error> {
        let (odd, due) = self.decoded.memory.follow(std::slice::from_ref(&delta), number)?;
        (self.decoded.odd, self.decoded.due) = (odd, due);
        let mut frame = frame;
        frame.mark(odd);
        let parts = vec![Part { delta, key: None, fate: Fate::Kept }];
        let outgoing = Outgoing { frame: Some(frame), parts };
        if due == Due::Now {
            return Ok(Some(outgoing));
        }
        self.wait_for_turn(outgoing)?;
        Ok(None)
    }

    /// Whether frames wait that came before the format was known.
    fn has_waiting(&self) -> bool {
        self.start.as_ref().is_some_and(|start| !start.waiting.is_empty())
    }

    /// The next frame that can be read, in the order in which frames came.
    fn next_read(&mut self) -> Result<Option<Outgoing>, Error> {
        if let Some(body) = self.whole.take() {
            return self.read_whole(*body).map(Some);
        }
        loop {
            if self.format.is_some()
                && let Some(frame) = self.start.as_mut().and_then(|start| start.waiting.pop_front())
            {
                return self.read(frame);
            }
            let frame = match self.framer.next_frame_of(&mut self.rest)? {
                Some(frame) => frame,
                None if self.ended => match self.framer.finish() {
                    Some(tail) => tail,
                    None if !self.has_waiting() => return Ok(None),
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
                Some(_) if !self.has_waiting() => return self.read(frame),
                None if !self.has_waiting() && is_filler(&frame) => {
                    self.start.get_or_insert_default().early.push_back(frame.raw().clone());
                }
                _ => {
                    let start = self.start.get_or_insert_default();
                    start.bytes += frame.raw().len();
                    start.waiting.push_back(frame);
                }
            }
            let (waiting, limit) =
                (self.start.as_ref().map_or(0, |start| start.bytes), self.settings.limits.held);
            if self.format.is_none() && waiting > limit {
                if !self.looks {
                    self.settled_format();
                    continue;
                }
                let message = format!("expected a frame that tells the format in {limit} bytes, found none");
                return Err(Error::new(ErrorKind::HeldLimit, message));
            }
        }
    }
}

fn memory_of(config: &Config, looks: bool) -> Memory {
    Memory { is_on: looks, any_api: looks && config.format.is_none(), ..Memory::default() }
}

/// Whether a frame is only comments and blank lines, and plain.
fn is_filler(frame: &Frame) -> bool {
    frame.data_bytes().is_none() && frame.odd().is_none() && !frame.is_stray() && frame.is_terminated()
}

/// The frame as a lenient client would read it, if it is no event.
fn lenient(frame: &Frame) -> Option<Frame> {
    frame.lenient_data().map(Frame::whole)
}
