//! An upstream made from a log.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

use super::error::FaultError;
use super::fault::Fault;
use super::plan::{Plan, Step};
use crate::{ChunkLog, Cut};

/// A log as a stream of bytes, with its times and with what goes wrong.
///
/// Times count from the first poll. A reader that is late gets what has come meanwhile at once, as from a socket.
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct Upstream {
    plan: Plan,
    /// When the next step is due, as far as it is known, since the start.
    due: Duration,
    start: Option<Instant>,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Upstream {
    /// A log as it was recorded.
    pub fn new(log: &ChunkLog) -> Self {
        Self::cut(log, Cut::Original)
    }

    /// A log with other cuts.
    pub fn cut(log: &ChunkLog, cut: Cut) -> Self {
        Self { plan: Plan::new(log, cut), due: Duration::ZERO, start: None, alarm: None }
    }

    /// Without the log's times: everything is there at once. Stalls that are put in later stay.
    pub fn untimed(mut self) -> Self {
        self.plan.untimed();
        self
    }

    /// With the log's times multiplied: by 0.5 it is twice as fast. Stalls that are put in later stay as they are.
    pub fn scaled(mut self, factor: f64) -> Self {
        for step in &mut self.plan.steps {
            if let Step::Pause(pause) = step {
                *pause = pause.mul_f64(factor);
            }
        }
        self
    }

    /// With a fault, on top of those before.
    ///
    /// # Panics
    ///
    /// When the stream has no such byte or event.
    #[track_caller]
    pub fn fault(mut self, fault: &Fault) -> Self {
        self.plan.fault(fault);
        self
    }

    /// The bytes that the upstream sends, in order.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        self.plan.bytes()
    }
}

impl Stream for Upstream {
    type Item = Result<Bytes, FaultError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(alarm) = &mut self.alarm {
                ready!(alarm.as_mut().poll(cx));
                self.alarm = None;
            }
            match self.plan.steps.pop_front() {
                Some(Step::Bytes(bytes)) => return Poll::Ready(Some(Ok(bytes))),
                Some(Step::Pause(pause)) => {
                    self.due = self.due.saturating_add(pause);
                    let start = *self.start.get_or_insert_with(Instant::now);
                    self.alarm = Some(Box::pin(sleep_until(start + self.due)));
                }
                Some(Step::Break(error)) => {
                    self.plan.steps.clear();
                    return Poll::Ready(Some(Err(error)));
                }
                Some(Step::Hang) => {
                    // It stays: whoever polls again waits again.
                    self.plan.steps.push_front(Step::Hang);
                    return Poll::Pending;
                }
                None => return Poll::Ready(None),
            }
        }
    }
}
