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
}

/// A frame whose parts are being stepped through.
#[derive(Debug)]
pub(super) struct UnderWay {
    pub(super) queued: Queued,
    pub(super) rest: VecDeque<Part>,
}

thread_local! {
    static SPARE: Cell<Vec<Box<Desk>>> = const { Cell::new(Vec::new()) };
}

impl Desk {
    /// A desk with nothing on it.
    pub(super) fn lent() -> Box<Self> {
        let spare = SPARE.try_with(|spare| {
            let mut desks = spare.take();
            let desk = desks.pop();
            spare.set(desks);
            desk
        });
        spare.ok().flatten().unwrap_or_default()
    }

    /// Gives back a desk with nothing on it.
    pub(super) fn give_back(self: Box<Self>) {
        if self.input.capacity() <= MOST {
            let _ = SPARE.try_with(|spare| {
                let mut desks = spare.take();
                if desks.len() < MOST {
                    desks.push(self);
                }
                spare.set(desks);
            });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.input.is_empty() && self.under_way.is_none() && self.shown.is_none()
    }
}

/// How many desks a thread keeps, and for how many frames each.
const MOST: usize = 16;
