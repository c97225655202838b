//! The queue of a stage: frames in order; "held" is a mark on a part (rules 11 and 12).

mod queued;
mod settle;

use std::collections::VecDeque;

use crate::block::BlockKey;
use crate::delta::DeltaKind;
use crate::engine::accounts::Accounts;
use crate::few::Few;
use crate::wire::{Fate, Outgoing, Part, SharedFormat};
pub(crate) use queued::{Mark, Queued, Waiting, inserted_call, inserted_text};
pub(crate) use settle::{edited, replace_body};
use settle::{settle, take_back};

/// For each choice in which an annotation waits for the next payload: the steps and blocks of the payload since.
type Ahead = Few<Vec<(u64, Option<BlockKey>)>>;

/// The frames that a stage has stepped through, in order within each choice. A frame of several choices or of none waits for all frames before it,
/// and all frames behind it wait for it.
#[derive(Debug)]
pub(crate) struct Queue {
    format: SharedFormat,
    lanes: Few<VecDeque<Queued>>,
    /// The frames from the first one that is not of one choice on.
    behind: VecDeque<Queued>,
    bytes: usize,
    arrivals: u64,
    ahead: Ahead,
}

impl Queue {
    pub(crate) fn new(format: SharedFormat) -> Self {
        Self {
            format,
            lanes: Few::default(),
            behind: VecDeque::new(),
            bytes: 0,
            arrivals: 0,
            ahead: Few::default(),
        }
    }

    /// Returns whether no frame waits, and no annotation of the choice waits for its next payload.
    pub(crate) fn is_idle(&self, choice: u32) -> bool {
        self.lanes.is_empty() && self.behind.is_empty() && self.ahead.get(choice).is_none()
    }

    /// The bytes of the waiting frames.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn push(&mut self, mut frame: Queued) {
        frame.arrival = self.arrivals;
        self.arrivals += 1;
        self.bytes += frame.bytes();
        match frame.choice() {
            Some(choice) if self.behind.is_empty() => self.lanes.or_default(choice).push_back(frame),
            _ => self.behind.push_back(frame),
        }
    }

    /// Takes a frame. A frame that waits for nothing, where no other waits, is returned at once; else every frame whose turn it is goes to `out`.
    pub(crate) fn pass(
        &mut self,
        mut frame: Queued,
        accounts: &mut Accounts,
        out: &mut Vec<Outgoing>,
    ) -> Option<Outgoing> {
        let is_first = self.lanes.is_empty() && self.behind.is_empty();
        if is_first && settle(&mut frame, accounts, &self.format, &self.ahead) {
            self.arrivals += 1;
            return Some(frame.leave());
        }
        self.push(frame);
        if !is_first {
            self.release(accounts, out);
        }
        None
    }

    /// Notes the next payload of a choice, to which annotations that waited for it now belong; without a key, that no payload follows.
    pub(crate) fn payload_came(&mut self, choice: u32, seq: u64, key: Option<BlockKey>) {
        if let Some(waiting) = self.ahead.get_mut(choice) {
            waiting.push((seq, key));
        }
    }

    /// Notes an annotation that waits for the next payload of its choice.
    pub(crate) fn waits_ahead(&mut self, choice: u32) {
        self.ahead.or_default(choice);
    }

    /// Notes that no payload follows in any choice.
    pub(crate) fn no_more(&mut self, seq: u64) {
        for waiting in self.ahead.values_mut() {
            waiting.push((seq, None));
        }
    }

    /// Counts frames that passed without the queue.
    pub(crate) fn passed(&mut self, frames: usize) {
        self.arrivals += frames as u64;
    }

    /// Moves every frame whose turn it is to `out`.
    pub(crate) fn release(&mut self, accounts: &mut Accounts, out: &mut Vec<Outgoing>) {
        let released = out.len();
        loop {
            let mut waits;
            loop {
                // Of the frames that may pass, the one that was read first passes first: frames that were held together and are
                // released together keep their order across choices.
                let mut next: Option<(u64, u32)> = None;
                waits = false;
                for (choice, lane) in self.lanes.iter_mut() {
                    let Some(frame) = lane.front_mut() else { continue };
                    if !settle(frame, accounts, &self.format, &self.ahead) {
                        waits = true;
                    } else if next.is_none_or(|(first, _)| frame.arrival < first) {
                        next = Some((frame.arrival, choice));
                    }
                }
                let Some((_, choice)) = next else { break };
                out.extend(self.lanes.get_mut(choice).and_then(VecDeque::pop_front).map(Queued::leave));
            }
            if waits {
                break;
            }
            self.lanes = Few::default();
            let Some(frame) = self.behind.front_mut() else { break };
            if !settle(frame, accounts, &self.format, &self.ahead) {
                break;
            }
            out.extend(self.behind.pop_front().map(Queued::leave));
            while let Some(choice) = self.behind.front().and_then(Queued::choice) {
                let lane = self.lanes.or_default(choice);
                lane.extend(self.behind.pop_front());
            }
        }
        self.bytes -= out[released..].iter().map(Outgoing::bytes).sum::<usize>();
    }

    /// Drops sent payload that waits behind held parts: when these are cut off, nothing follows them.
    pub(crate) fn abandon(&mut self, accounts: &mut Accounts) {
        for (part, waiting) in self.frames_mut().flat_map(Queued::undecided_mut) {
            take_back(part, waiting, accounts);
        }
    }

    /// Drops sent payload of a choice that waits behind a block; `last` are the parts of the frame under way.
    pub(crate) fn cut_behind<'a>(
        &'a mut self,
        key: BlockKey,
        choice: u32,
        last: impl Iterator<Item = (&'a mut Part, Option<&'a mut Waiting>)>,
        accounts: &mut Accounts,
    ) {
        let lane = self.lanes.get_mut(choice).into_iter().flatten();
        let parts = lane.chain(self.behind.iter_mut()).flat_map(Queued::undecided_mut).chain(last);
        // Copies of the block may follow much later.
        let is_payload = |part: &Part| part.delta.choice == Some(choice) && part.delta.kind.is_payload();
        let waiting: Vec<_> = parts.filter(|(part, _)| is_payload(part)).collect();
        let block = waiting.iter().rposition(|(part, _)| part.key == Some(key));
        for (part, waiting) in waiting.into_iter().skip(block.map_or(0, |block| block + 1)) {
            take_back(part, waiting, accounts);
        }
    }

    /// Drops the annotations whose payload never followed. Returns whether there were any.
    pub(crate) fn drop_ahead(&mut self, accounts: &Accounts) -> bool {
        let mut any = false;
        let ahead = std::mem::take(&mut self.ahead);
        for (part, waiting) in self.frames_mut().flat_map(Queued::undecided_mut) {
            let Some(waiting) = waiting else { continue };
            let came = match (waiting.mark, part.key) {
                (Mark::RidesAhead { seq }, _) => {
                    let came = ahead.get(part.delta.choice.unwrap_or(0));
                    came.is_some_and(|came| came.last().is_some_and(|(at, _)| *at > seq))
                }
                (Mark::Rides, Some(key)) => accounts.get(key).is_some_and(|account| account.payload > 0),
                _ => true,
            };
            if !came {
                part.fate = Fate::Dropped;
                waiting.mark = Mark::Decided;
                any = true;
            }
        }
        self.ahead = ahead;
        any
    }

    /// The number of the next frame.
    pub(crate) fn next_arrival(&self) -> u64 {
        self.arrivals
    }

    /// Removes the frames behind this one, as if they had not been read.
    pub(crate) fn forget_after(&mut self, arrival: u64) {
        let queues = self.lanes.values_mut().chain([&mut self.behind]);
        queues.for_each(|queue| queue.retain(|frame| frame.arrival <= arrival));
        let left = self.lanes.values().chain([&self.behind]).flatten();
        self.bytes = left.map(Queued::bytes).sum();
    }

    /// Drops finishes, terminal markers and errors, so that an ending can take their place.
    pub(crate) fn drop_endings(&mut self) {
        for part in self.frames_mut().flat_map(|frame| frame.parts.iter_mut()) {
            let kind = &part.delta.kind;
            if matches!(kind, DeltaKind::Finish(_) | DeltaKind::Terminal | DeltaKind::Error(_)) {
                part.fate = Fate::Dropped;
            }
        }
    }

    /// The frames that wait, choice by choice.
    fn frames_mut(&mut self) -> impl Iterator<Item = &mut Queued> {
        self.lanes.values_mut().flatten().chain(&mut self.behind)
    }
}
