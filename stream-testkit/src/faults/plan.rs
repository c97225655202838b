//! What an upstream is going to do, step by step. Faults are edits of it.

use std::collections::VecDeque;
use std::ops::Range;
use std::time::Duration;

use bytes::Bytes;

use super::error::FaultError;
use super::fault::Fault;
use super::garbage::oversized;
use crate::log::frames;
use crate::{ChunkLog, Cut, WireKind};

/// A thing that an upstream does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Waits this long.
    Pause(Duration),
    /// Waits for ever.
    Hang,
    /// Sends bytes, never none.
    Bytes(Bytes),
    /// Breaks.
    Break(FaultError),
}

impl Step {
    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Pause(_) | Self::Hang | Self::Break(_) => 0,
        }
    }
}

/// The steps of an upstream, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Plan {
    pub(super) steps: VecDeque<Step>,
    kind: Option<WireKind>,
    /// A whole response is one event, whatever blank lines it has.
    whole: bool,
}

impl Plan {
    pub(super) fn new(log: &ChunkLog, cut: Cut) -> Self {
        let mut steps = VecDeque::new();
        let mut now = Duration::ZERO;
        for (at, bytes) in cut.apply(log) {
            if at > now {
                steps.push_back(Step::Pause(at - now));
                now = at;
            }
            if !bytes.is_empty() {
                steps.push_back(Step::Bytes(bytes));
            }
        }
        Self { steps, kind: log.kind(), whole: log.is_whole() }
    }

    /// The bytes that would be sent if nobody waited in vain.
    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut all = Vec::new();
        for step in &self.steps {
            if let Step::Bytes(bytes) = step {
                all.extend_from_slice(bytes);
            }
        }
        all
    }

    pub(super) fn fault(&mut self, fault: &Fault) {
        match *fault {
            Fault::End { at } => self.end(at),
            Fault::Break { at } => {
                self.end(at);
                self.steps.push_back(Step::Break(FaultError::new(at)));
            }
            Fault::Stall { at, lasts } => self.insert(at, [Step::Pause(lasts)]),
            Fault::Hang { at } => {
                self.end(at);
                self.steps.push_back(Step::Hang);
            }
            Fault::Repeat { event } => {
                let (body, events) = self.events();
                let span = span(&events, event);
                self.insert(span.end, [Step::Bytes(body.slice(span))]);
            }
            Fault::Swap { one, other } => self.swap(one.min(other), one.max(other)),
            Fault::Garbage { event, ref garbage } => {
                let at = self.border(event);
                self.insert(at, [Step::Bytes(garbage.bytes(self.kind))]);
            }
            Fault::Oversized { event, bytes } => {
                let at = self.border(event);
                self.insert(at, oversized(self.kind, bytes).into_iter().map(Step::Bytes));
            }
        }
    }

    /// Leaves the log's times out; stalls that were put in before go with them.
    pub(super) fn untimed(&mut self) {
        self.steps.retain(|step| !matches!(step, Step::Pause(_)));
    }

    /// Drops everything from this byte on.
    fn end(&mut self, at: usize) {
        let index = self.split(at);
        self.steps.truncate(index);
    }

    fn swap(&mut self, one: usize, other: usize) {
        let (body, events) = self.events();
        let (first, second) = (span(&events, one), span(&events, other));
        if one == other {
            return;
        }
        // All between the two moves with them: it becomes one piece, sent when the first would have been.
        let between = first.end..second.start;
        let order = [second.clone(), between, first.clone()];
        let moved: Vec<u8> = order.into_iter().flat_map(|span| body.slice(span)).collect();
        let from = self.split(first.start);
        let to = self.split(second.end);
        let pauses: Vec<Step> = self.steps.range(from..to).filter(|step| step.len() == 0).cloned().collect();
        self.steps.drain(from..to);
        self.splice(from, pauses.into_iter().chain([Step::Bytes(moved.into())]));
    }

    fn insert(&mut self, at: usize, steps: impl IntoIterator<Item = Step>) {
        let index = self.split(at);
        self.splice(index, steps);
    }

    fn splice(&mut self, index: usize, steps: impl IntoIterator<Item = Step>) {
        let tail = self.steps.split_off(index);
        self.steps.extend(steps);
        self.steps.extend(tail);
    }

    /// The step behind the first `at` bytes: directly behind them, so that a cut there does not wait for what it cuts
    /// off. A piece that goes further is cut in two.
    #[track_caller]
    fn split(&mut self, at: usize) -> usize {
        let mut seen = 0;
        for index in 0..self.steps.len() {
            if seen == at {
                return index;
            }
            let len = self.steps[index].len();
            if seen + len > at
                && let Step::Bytes(bytes) = &mut self.steps[index]
            {
                let head = bytes.split_to(at - seen);
                self.steps.insert(index, Step::Bytes(head));
                return index + 1;
            }
            seen += len;
        }
        assert_eq!(seen, at, "expected a fault within the stream's {seen} bytes, found one at {at}");
        self.steps.len()
    }

    /// The body, and where each of its events is.
    fn events(&self) -> (Bytes, Vec<Range<usize>>) {
        let body = Bytes::from(self.bytes());
        let mut events: Vec<Range<usize>> = Vec::new();
        if self.whole {
            events.push(0..body.len());
        } else {
            for frame in frames(&body) {
                let start = events.last().map_or(0, |last| last.end);
                events.push(start..start + frame.raw().len());
            }
        }
        (body, events)
    }

    /// Where an event starts, or the stream ends.
    #[track_caller]
    fn border(&self, event: usize) -> usize {
        let (body, events) = self.events();
        if event == events.len() { body.len() } else { span(&events, event).start }
    }
}

#[track_caller]
fn span(events: &[Range<usize>], event: usize) -> Range<usize> {
    let count = events.len();
    assert!(event < count, "expected a fault at one of {count} events, found one at {event}");
    events[event].clone()
}

/// Where the events of a log are.
pub(super) fn spans(log: &ChunkLog) -> Vec<Range<usize>> {
    Plan::new(log, Cut::Whole).events().1
}
