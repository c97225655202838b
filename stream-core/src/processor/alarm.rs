//! One timer for all deadlines.

use std::future::Future as _;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep, sleep_until};

/// One timer for all deadlines. The timer may fire early: deadlines mostly move away, and moving the timer each time costs more than an idle tick
/// now and then.
#[derive(Default)]
pub(super) struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    pub(super) fn set(&mut self, deadline: Option<Instant>) {
        match (&mut self.0, deadline) {
            (Some(sleep), Some(at)) if sleep.deadline() > at || sleep.is_elapsed() => {
                sleep.as_mut().reset(at);
            }
            (Some(_), Some(_)) => {}
            (_, None) => self.0 = None,
            (None, Some(at)) => self.0 = Some(Box::pin(sleep_until(at))),
        }
    }

    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        match &mut self.0 {
            Some(sleep) => sleep.as_mut().poll(cx),
            None => Poll::Pending,
        }
    }
}
