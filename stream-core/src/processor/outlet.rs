//! Bytes that the loop has written and the host has not taken.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;

use bytes::Bytes;

/// The slot between the loop and the stream that polls it. Both are always polled by one task: the lock is never
/// contended.
#[derive(Debug, Default)]
pub(crate) struct Outlet(Mutex<VecDeque<Bytes>>);

impl Outlet {
    pub(crate) fn put(&self, bytes: Bytes) {
        self.lock().push_back(bytes);
    }

    pub(crate) fn take(&self) -> Option<Bytes> {
        self.lock().pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lock().is_empty()
    }

    /// Hands over to the stream that polls the loop. No waker is needed: the loop is polled again as soon as the
    /// outlet is empty and the stream is asked for more. With nothing to hand over, the loop goes on.
    pub(crate) async fn hand_over(&self) {
        if self.is_empty() {
            return;
        }
        let mut handed = false;
        poll_fn(|_| if std::mem::replace(&mut handed, true) { Poll::Ready(()) } else { Poll::Pending }).await;
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Bytes>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
