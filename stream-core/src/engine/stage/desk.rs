//! What a stage is at work on.

use std::cell::Cell;
use std::collections::VecDeque;

use super::Shown;
use crate::engine::queue::{Queued, Waiting};
use crate::sse::Frame;
use crate::wire::{Fate, Outgoing, Part};

/// The frames that a stage has not stepped through. It has a desk only while it is at work: between two reads the thread keeps the
/// desk for whichever stage is next.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) input: VecDeque<Outgoing>,
    pub(super) input_bytes: usize,
    pub(super) under_way: Option<UnderWay>,
    /// What the hook that is called now is shown.
    pub(super) shown: Option<Shown>,
    /// The desk that was given back before it, and how many are behind it.
    next: Option<Box<Self>>,
    behind: usize,
}

/// A frame whose parts are being stepped through.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) queued: Queued,
    /// The place of the part at hand.
    place: usize,
    /// The part at hand and those behind it, where something was put before them.
    rest: VecDeque<Part>,
}

impl UnderWay {
    pub(super) fn new(outgoing: Outgoing) -> Self {
        Self { queued: Queued::new(outgoing.frame, outgoing.parts), place: 0, rest: VecDeque::new() }
    }

    /// The part at hand.
    pub(super) fn part(&mut self) -> Option<&mut Part> {
        if self.place == self.queued.parts.len() {
            self.queued.parts.extend(self.rest.pop_front());
        }
        self.queued.parts.get_mut(self.place)
    }

    /// The part at hand, and its frame.
    pub(super) fn shown(&self) -> Option<(&Part, Option<&Frame>)> {
        let part = self.queued.parts.get(self.place).or(self.rest.front())?;
        Some((part, self.queued.frame.as_ref()))
    }

    /// Goes on behind the part at hand.
    pub(super) fn go_on(&mut self, waiting: Waiting) {
        self.queued.wait(self.place, waiting);
        self.place += 1;
    }

    /// Puts a part before the part at hand.
    pub(super) fn insert(&mut self, part: Part) {
        let rest = self.queued.parts.split_off(self.place);
        rest.into_iter().rev().for_each(|part| self.rest.push_front(part));
        self.queued.parts.push(part);
        self.place += 1;
    }

    /// Takes the part at hand out.
    pub(super) fn remove(&mut self) {
        if self.part().is_some() {
            self.queued.parts.remove(self.place);
        }
    }

    /// The parts behind which it has gone on, and what they wait for.
    pub(super) fn stepped(&mut self) -> impl Iterator<Item = (&mut Part, Option<&mut Waiting>)> {
        self.queued.undecided_mut().take(self.place)
    }

    /// Whether something was said of a block before the part at hand.
    pub(super) fn has_said(&self) -> bool {
        self.queued.parts[..self.place].iter().any(|part| part.key.is_some())
    }

    /// Drops the part at hand and all behind it.
    pub(super) fn cut(mut self) -> Queued {
        self.queued.parts.extend(self.rest);
        self.queued.parts[self.place..].iter_mut().for_each(|part| part.fate = Fate::Dropped);
        self.queued
    }
}

thread_local! {
    static SPARE: Cell<Option<Box<Desk>>> = const { Cell::new(None) };
}

impl Desk {
    /// A desk with nothing on it.
    pub(super) fn lent() -> Box<Self> {
        let spare = SPARE.try_with(|spare| {
            let mut desk = spare.take()?;
            spare.set(desk.next.take());
            Some(desk)
        });
        spare.ok().flatten().unwrap_or_default()
    }

    /// Gives back a desk with nothing on it.
    pub(super) fn give_back(mut self: Box<Self>) {
        if self.input.capacity() <= MOST {
            let _ = SPARE.try_with(|spare| {
                self.next = spare.take();
                self.behind = self.next.as_ref().map_or(0, |next| next.behind + 1);
                spare.set(if self.behind < MOST { Some(self) } else { self.next });
            });
        }
    }

    /// Takes a frame, which is under way at once if nothing is.
    pub(super) fn push(&mut self, frame: Outgoing) {
        if self.is_empty() {
            self.under_way = Some(UnderWay::new(frame));
        } else {
            self.input_bytes += frame.bytes();
            self.input.push_back(frame);
        }
    }

    /// The frame that is stepped through now.
    pub(super) fn next(&mut self) -> Option<&mut UnderWay> {
        if self.under_way.is_none() {
            let frame = self.input.pop_front()?;
            self.input_bytes -= frame.bytes();
            self.under_way = Some(UnderWay::new(frame));
        }
        self.under_way.as_mut()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.input.is_empty() && self.under_way.is_none() && self.shown.is_none()
    }
}

/// How many desks a thread keeps, and for how many frames each.
const MOST: usize = 16;
