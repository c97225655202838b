//! What a stage is at work on.

use std::cell::Cell;
use std::collections::VecDeque;

use super::Shown;
use crate::engine::queue::Queued;
use crate::wire::{Outgoing, Part};

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
    pub(super) rest: VecDeque<Part>,
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

    pub(super) fn is_empty(&self) -> bool {
        self.input.is_empty() && self.under_way.is_none() && self.shown.is_none()
    }
}

/// How many desks a thread keeps, and for how many frames each.
const MOST: usize = 16;
