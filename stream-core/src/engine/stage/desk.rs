//! The frames that a stage works on.

use std::cell::Cell;
use std::collections::VecDeque;

use super::Shown;
use crate::engine::queue::{Queued, Waiting};
use crate::sse::Frame;
use crate::wire::{Fate, Outgoing, Part};

/// The frames that a stage has not stepped through. A stage has a desk only while it works: between two reads the thread keeps the desk for
/// whichever stage is next.
#[derive(Debug, Default)]
pub(super) struct Desk {
    pub(super) input: VecDeque<Outgoing>,
    pub(super) input_bytes: usize,
    pub(super) under_way: Option<UnderWay>,
    /// The step of the hook that is due.
    pub(super) shown: Option<Shown>,
    /// The desk that was given back before this one, and the number of desks behind it.
    next: Option<Box<Self>>,
    behind: usize,
}

/// The current frame, whose parts are stepped through.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) queued: Queued,
    /// The position of the current part.
    place: usize,
    /// The current part and those behind it, where a part was inserted before them.
    rest: VecDeque<Part>,
}

impl UnderWay {
    pub(super) fn new(outgoing: Outgoing) -> Self {
        Self { queued: Queued::new(outgoing.frame, outgoing.parts), place: 0, rest: VecDeque::new() }
    }

    /// The current part.
    pub(super) fn part(&mut self) -> Option<&mut Part> {
        if self.place == self.queued.parts.len() {
            self.queued.parts.extend(self.rest.pop_front());
        }
        self.queued.parts.get_mut(self.place)
    }

    /// The current part, and its frame.
    pub(super) fn shown(&self) -> Option<(&Part, Option<&Frame>)> {
        let part = self.queued.parts.get(self.place).or(self.rest.front())?;
        Some((part, self.queued.frame.as_ref()))
    }

    /// Moves on behind the current part.
    pub(super) fn go_on(&mut self, waiting: Waiting) {
        self.queued.wait(self.place, waiting);
        self.place += 1;
    }

    /// Inserts a part before the current one.
    pub(super) fn insert(&mut self, part: Part) {
        let rest = self.queued.parts.split_off(self.place);
        rest.into_iter().rev().for_each(|part| self.rest.push_front(part));
        self.queued.parts.push(part);
        self.place += 1;
    }

    /// Removes the current part.
    pub(super) fn remove(&mut self) {
        if self.part().is_some() {
            self.queued.parts.remove(self.place);
        }
    }

    /// The parts before the current one, with their marks.
    pub(super) fn stepped(&mut self) -> impl Iterator<Item = (&mut Part, Option<&mut Waiting>)> {
        self.queued.undecided_mut().take(self.place)
    }

    /// Returns whether a part before the current one belongs to a block.
    pub(super) fn has_said(&self) -> bool {
        self.queued.parts[..self.place].iter().any(|part| part.key.is_some())
    }

    /// Drops the current part and all behind it.
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
    /// Takes an empty desk.
    pub(super) fn lent() -> Box<Self> {
        let spare = SPARE.try_with(|spare| {
            let mut desk = spare.take()?;
            spare.set(desk.next.take());
            Some(desk)
        });
        spare.ok().flatten().unwrap_or_default()
    }

    /// Gives back an empty desk.
    pub(super) fn give_back(mut self: Box<Self>) {
        if self.input.capacity() <= MOST {
            let _ = SPARE.try_with(|spare| {
                self.next = spare.take();
                self.behind = self.next.as_ref().map_or(0, |next| next.behind + 1);
                spare.set(if self.behind < MOST { Some(self) } else { self.next });
            });
        }
    }

    /// Adds a frame, which becomes the current one if there is none.
    pub(super) fn push(&mut self, frame: Outgoing) {
        if self.is_empty() {
            self.under_way = Some(UnderWay::new(frame));
        } else {
            self.input_bytes += frame.bytes();
            self.input.push_back(frame);
        }
    }

    /// The current frame.
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

/// The number of desks that a thread keeps, and of frames that each has room for.
const MOST: usize = 16;
