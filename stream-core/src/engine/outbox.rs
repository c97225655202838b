//! Output that waits for the host.

use bytes::Bytes;

use crate::spare::Buffer;

/// Bytes for the client, in order. Writers append to them.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    pub(crate) bytes: Vec<Bytes>,
    /// The number of those that the host has taken.
    taken: usize,
}

impl Outbox {
    pub(crate) const fn new() -> Self {
        Self { bytes: Vec::new(), taken: 0 }
    }

    pub(crate) fn push_back(&mut self, bytes: Bytes) {
        self.bytes.push(bytes);
    }

    pub(crate) fn pop_front(&mut self) -> Option<Bytes> {
        let bytes = std::mem::take(self.bytes.get_mut(self.taken)?);
        self.taken += 1;
        if self.taken == self.bytes.len() {
            self.bytes.clear();
            self.taken = 0;
        }
        Some(bytes)
    }
}

impl Extend<Bytes> for Outbox {
    fn extend<T: IntoIterator<Item = Bytes>>(&mut self, bytes: T) {
        self.bytes.extend(bytes);
    }
}

impl Buffer for Outbox {
    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn room(&self) -> usize {
        self.bytes.capacity()
    }

    fn make_room(&mut self) {
        self.bytes.reserve_exact(1);
    }
}
