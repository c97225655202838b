//! A progress bar for work that takes long, where a person looks on.

use std::io::{IsTerminal as _, Write as _};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How much of the work is done, on standard error if that is a terminal. Short work shows nothing.
#[derive(Debug)]
pub(crate) struct Progress {
    what: &'static str,
    total: usize,
    done: usize,
    shown: bool,
    next: Option<Instant>,
}

impl Progress {
    /// A bar of work that has this many steps: bytes, or files.
    pub(crate) fn of(total: usize, what: &'static str) -> Self {
        let seen = std::io::stderr().is_terminal();
        Self { what, total, done: 0, shown: false, next: seen.then(|| Instant::now() + PATIENCE) }
    }

    /// Does work whose length is not known, and tells for how long it has been going on.
    pub(crate) fn while_doing<T: Send>(what: &'static str, work: impl FnOnce() -> T + Send) -> T {
        let start = Instant::now();
        let mut progress = Self::of(0, what);
        if progress.next.is_none() {
            return work();
        }
        let (over, told) = mpsc::channel::<()>();
        thread::scope(|scope| {
            let working = scope.spawn(move || {
                let _over = over;
                work()
            });
            // The other end is dropped when the work is over, also by a panic.
            while let Err(mpsc::RecvTimeoutError::Timeout) = told.recv_timeout(PATIENCE) {
                progress.shown = true;
                let _ = write!(std::io::stderr(), "\r\x1b[K{what}, {} s …", start.elapsed().as_secs());
            }
            progress.clear();
            working.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Some steps are done.
    pub(crate) fn step(&mut self, steps: usize) {
        self.done += steps;
        if self.next.is_some_and(|next| Instant::now() >= next) {
            self.next = Some(Instant::now() + EVERY);
            self.show();
        }
    }

    /// Takes the bar away, so that a line can be printed.
    pub(crate) fn clear(&mut self) {
        if std::mem::take(&mut self.shown) {
            // A bar that cannot be drawn is no reason to stop the work.
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }

    fn show(&mut self) {
        self.shown = true;
        let _ = write!(std::io::stderr(), "\r\x1b[K{}", bar(self.what, self.done, self.total));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

fn bar(what: &str, done: usize, total: usize) -> String {
    let share = |of: usize| (done.min(total) * of).checked_div(total).unwrap_or(of);
    let full = share(WIDTH);
    format!("[{}{}] {:>3} % {what}", "█".repeat(full), "░".repeat(WIDTH - full), share(100))
}

/// Work that takes less shows nothing.
const PATIENCE: Duration = Duration::from_millis(400);
const EVERY: Duration = Duration::from_millis(100);
const WIDTH: usize = 30;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_work_gave_is_given_on() {
        assert_eq!(Progress::while_doing("counting", || 1 + 1), 2);
    }

    #[test]
    fn a_bar_tells_the_share_that_is_done() {
        assert_eq!(bar("checked", 0, 4), format!("[{}]   0 % checked", "░".repeat(30)));
        assert_eq!(bar("checked", 2, 4), format!("[{}{}]  50 % checked", "█".repeat(15), "░".repeat(15)));
        assert_eq!(bar("checked", 9, 4), format!("[{}] 100 % checked", "█".repeat(30)));
        assert_eq!(bar("checked", 0, 0), format!("[{}] 100 % checked", "█".repeat(30)));
    }
}
