//! Frames of blocks that take turns, put into the order of their blocks (rule 28).

use std::collections::VecDeque;

use crate::error::{Error, ErrorKind};
use crate::wire::{Due, Outgoing};

/// The frames that are ready, and the frames that wait for the end of an earlier block.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    ready: VecDeque<Outgoing>,
    waiting: VecDeque<Vec<Outgoing>>,
    /// The number of the first waiting lane.
    first: u64,
    bytes: usize,
}

impl Turns {
    /// Returns whether no frame is ready or waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.waiting.is_empty()
    }

    pub(crate) fn next(&mut self) -> Option<Outgoing> {
        self.ready.pop_front()
    }

    /// Adds a frame; at most `limit` bytes may wait.
    pub(crate) fn push(&mut self, frame: Outgoing, lane: Due, limit: usize) -> Result<(), Error> {
        match lane {
            Due::Now => self.ready.push_back(frame),
            Due::Opens => {
                self.waiting.push_back(Vec::new());
                return self.wait(frame, self.waiting.len() - 1, limit);
            }
            Due::In(number) => {
                let at = number.saturating_sub(self.first);
                return self.wait(frame, usize::try_from(at).unwrap_or(usize::MAX), limit);
            }
            Due::Then(lanes) => {
                self.ready.push_back(frame);
                (0..lanes).for_each(|_| self.release());
            }
            Due::Last => {
                self.release_all();
                self.ready.push_back(frame);
            }
            Due::After(odd) => {
                let waited = self.waiting.front_mut().and_then(|lane| lane.first_mut());
                if let Some(first) = waited.and_then(|waited| waited.frame.as_mut()) {
                    first.mark(odd);
                }
                self.release();
                self.ready.push_back(frame);
            }
        }
        Ok(())
    }

    /// Releases all waiting frames. Returns whether there were any.
    pub(crate) fn release_all(&mut self) -> bool {
        let any = !self.waiting.is_empty();
        while !self.waiting.is_empty() {
            self.release();
        }
        any
    }

    fn release(&mut self) {
        if let Some(lane) = self.waiting.pop_front() {
            self.first += 1;
            self.bytes = self.bytes.saturating_sub(lane.iter().map(Outgoing::bytes).sum());
            self.ready.extend(lane);
        }
    }

    fn wait(&mut self, frame: Outgoing, at: usize, limit: usize) -> Result<(), Error> {
        self.bytes += frame.bytes();
        if self.bytes > limit {
            let message = format!(
                "expected the end of a block before {limit} bytes of the blocks behind it, found none"
            );
            return Err(Error::new(ErrorKind::HeldLimit, message));
        }
        match self.waiting.get_mut(at) {
            Some(lane) => lane.push(frame),
            None => self.ready.push_back(frame),
        }
        Ok(())
    }
}
