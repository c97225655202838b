//! Judges at work.

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

/// A judge at work, for the host to poll: its answer is [`Input::Verdict`](super::Input::Verdict), `None` if nobody waits for
/// it any more.
///
/// The engine drops the judge itself, the moment its verdict can no longer count: what a judge does costs money.
#[must_use = "a judge does nothing unless polled"]
pub struct Judging {
    ticket: Ticket,
    judged: Arc<Mutex<JudgeAtWork>>,
}

/// Keeps a judge at work: when this is dropped, so is the judge.
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

    /// The answer of a judge that does not wait: it is carried out before anything more is read, so that it does not matter
    /// what else was read at once (rule 12). `Pending` leaves the judge to the host.
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
