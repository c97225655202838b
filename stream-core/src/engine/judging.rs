//! Judges that run.

use std::fmt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use futures::FutureExt as _;

use super::Failure;
use crate::engine::accounts::Ticket;
use crate::policy::{Verdict, VerdictFuture};

/// A judge that runs, for the host to poll. The output of the future becomes [`Input::Verdict`](super::Input::Verdict); `None` if the verdict
/// no longer counts.
///
/// The engine drops the judge itself as soon as its verdict can no longer count, since the work of a judge costs money.
#[must_use = "a judge does nothing unless polled"]
pub struct Judging {
    ticket: Ticket,
    judged: Arc<Mutex<JudgeAtWork>>,
}

/// The engine's hold on a judge: dropping it drops the judge.
#[derive(Debug)]
pub(super) struct Keeps(Arc<Mutex<JudgeAtWork>>);

struct JudgeAtWork {
    judge: Option<VerdictFuture>,
    waker: Option<Waker>,
}

impl Judging {
    pub(super) fn new(ticket: Ticket, judge: VerdictFuture) -> (Self, Keeps) {
        let judged = Arc::new(Mutex::new(JudgeAtWork { judge: Some(judge), waker: None }));
        (Self { ticket, judged: Arc::clone(&judged) }, Keeps(judged))
    }

    /// Polls the judge once. The verdict of a judge that does not wait is carried out before the next frame is read, so that the output does not
    /// depend on the cuts of the reads (rule 12). A `Pending` judge is given to the host.
    pub(super) fn at_once(&mut self) -> Poll<<Self as Future>::Output> {
        self.poll_unpin(&mut Context::from_waker(Waker::noop()))
    }
}

impl Future for Judging {
    type Output = Option<(Ticket, Result<Verdict, Failure>)>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut judged = self.judged.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(judge) = &mut judged.judge else { return Poll::Ready(None) };
        let polled = AssertUnwindSafe(judge).catch_unwind().poll_unpin(cx);
        let answer = match polled {
            Poll::Ready(Ok(verdict)) => verdict.map_err(Failure::Failed),
            Poll::Ready(Err(_)) => Err(Failure::Panicked),
            Poll::Pending => {
                judged.waker = Some(cx.waker().clone());
                return Poll::Pending;
            }
        };
        judged.judge = None;
        Poll::Ready(Some((self.ticket, answer)))
    }
}

impl Drop for Keeps {
    fn drop(&mut self) {
        let mut judged = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (judge, waker) = (judged.judge.take(), judged.waker.take());
        drop(judged);
        drop(judge);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl fmt::Debug for JudgeAtWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JudgeAtWork").field("at_work", &self.judge.is_some()).finish_non_exhaustive()
    }
}

impl fmt::Debug for Judging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judging").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
