//! Whether an exchange has a reason to be polled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Wake, Waker};

use futures::task::AtomicWaker;

/// The waker of one exchange, which remembers that it was woken.
///
/// A gRPC stream is polled again behind each message that it gives. An exchange that has nothing more to do then is not
/// walked through once more.
#[derive(Debug, Default)]
pub(super) struct Wakes {
    is_woken: AtomicBool,
    task: AtomicWaker,
}

impl Wakes {
    /// One that has been woken, as whatever was never polled has.
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { is_woken: AtomicBool::new(true), task: AtomicWaker::new() })
    }

    /// Wakes this task from now on.
    pub(super) fn register(&self, cx: &Context<'_>) {
        self.task.register(cx.waker());
    }

    /// Whether it was woken since this was last asked.
    pub(super) fn take(&self) -> bool {
        self.is_woken.swap(false, Ordering::AcqRel)
    }

    /// The waker.
    pub(super) fn waker(self: &Arc<Self>) -> Waker {
        Arc::clone(self).into()
    }
}

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // The task is woken behind it: whoever is polled for this wake sees it.
        self.is_woken.store(true, Ordering::Release);
        self.task.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_is_remembered_once_and_wakes_the_task() {
        let (task, outer) = (Wakes::new(), Wakes::new());
        assert!(task.take() && outer.take());
        let waker = outer.waker();
        task.register(&Context::from_waker(&waker));
        assert!(!task.take());
        task.waker().wake_by_ref();
        task.waker().wake();
        assert!(task.take() && outer.take());
        assert!(!task.take() && !outer.take());
    }
}
