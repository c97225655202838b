//! Buffers that are empty between two reads: the thread keeps them, and lends them to the stream that is at work.

use std::cell::Cell;
use std::thread::LocalKey;

use crate::delta::Delta;
use crate::engine::outbox::Outbox;

thread_local! {
    pub(crate) static DELTAS: Cell<Vec<Delta>> = const { Cell::new(Vec::new()) };
    pub(crate) static OUTPUT: Cell<Outbox> = const { Cell::new(Outbox::new()) };
}

/// What can be lent.
pub(crate) trait Buffer: Default {
    fn is_empty(&self) -> bool;
    fn room(&self) -> usize;
    fn make_room(&mut self);
}

/// Gives room to a buffer that has none.
pub(crate) fn lend<B: Buffer>(from: &'static LocalKey<Cell<B>>, to: &mut B) {
    if to.room() == 0 {
        // A thread that ends has nothing to lend.
        *to = from.try_with(Cell::take).unwrap_or_default();
        if to.room() == 0 {
            to.make_room();
        }
    }
}

/// Takes back the room of a buffer that is empty.
pub(crate) fn take_back<B: Buffer>(to: &'static LocalKey<Cell<B>>, from: &mut B) {
    if from.is_empty() && from.room() > 0 {
        let spare = std::mem::take(from);
        if spare.room() <= MOST {
            let _ = to.try_with(|to| to.set(spare));
        }
    }
}

impl<T> Buffer for Vec<T> {
    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn room(&self) -> usize {
        self.capacity()
    }

    fn make_room(&mut self) {
        self.reserve_exact(1);
    }
}

/// The room that is kept for the next stream.
const MOST: usize = 16;
