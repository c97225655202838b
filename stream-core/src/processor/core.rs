//! A processor that waits for its upstream alone.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures::{FutureExt as _, Stream};
use tokio::time::Instant;

use super::alarm::Alarm;
use super::aside::Aside;
use super::handle::{Handle, Outcome};
use super::outlet::Outlet;
use crate::engine::{Engine, Failure, Input, Output};
use crate::error::BoxError;

/// The engine of a stream, its upstream, timer, judges and commands.
pub(super) struct Core {
    pub(super) alarm: Alarm,
    pub(super) aside: Aside,
    pub(super) upstream: Option<Pin<Box<dyn Upstream>>>,
    pub(super) engine: Engine,
    pub(super) outlet: Arc<Outlet>,
    pub(super) handle: Handle,
    pub(super) start: Instant,
    pub(super) keep_alive: Option<Duration>,
    /// Frames have passed by the lane since the time of the engine was last set.
    pub(super) passed: bool,
    /// The engine may have work before the next read.
    pub(super) works: bool,
}

/// The result of polling a core.
pub(super) enum Next {
    /// Bytes for the client.
    Bytes(Bytes),
    /// A hook or a judge may have to wait.
    Waits,
    /// The stream is over.
    Over,
}

impl Core {
    /// Polls the upstream, and does the work that cannot wait. While bytes are ready, no future is made and no lock is taken; frames of the lane do
    /// not even need the clock.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Next> {
        if self.handle.has_commands() && self.aside.poll(&self.handle, cx) {
            self.take_input(None);
        }
        loop {
            if self.works
                && let Some(next) = self.work()
            {
                return Poll::Ready(next);
            }
            let input = match &mut self.upstream {
                Some(upstream) => upstream.as_mut().poll_read(cx),
                None => Poll::Pending,
            };
            match input {
                Poll::Ready(Input::Bytes(bytes)) if self.engine.is_armed() => {
                    if let Some(bytes) = self.pass(bytes) {
                        return Poll::Ready(Next::Bytes(bytes));
                    }
                }
                Poll::Ready(input) => self.take_input(Some(input)),
                Poll::Pending => {
                    if std::mem::take(&mut self.passed) {
                        self.engine.passed_until(self.start.elapsed());
                    }
                    self.alarm.set(self.engine.deadline().map(|after| self.start + after));
                    if self.aside.poll(&self.handle, cx) {
                        self.take_input(None);
                    } else if self.alarm.poll(cx).is_ready() {
                        self.take_input(Some(Input::Time));
                    } else {
                        return Poll::Pending;
                    }
                }
            }
        }
    }

    /// Acts on the outputs of the engine until one may have to wait. `None` if the engine needs input.
    fn work(&mut self) -> Option<Next> {
        loop {
            match self.engine.poll() {
                Output::Bytes(bytes) => return Some(Next::Bytes(bytes)),
                Output::Judge(judging) => {
                    self.aside.judge(judging);
                    return Some(Next::Waits);
                }
                Output::Hook(hook) if hook.waits() => {
                    hook.later();
                    return Some(Next::Waits);
                }
                Output::Hook(mut hook) => {
                    if !hook.is_reading() {
                        // The engine reads no more: the connection can be closed.
                        self.upstream = None;
                    }
                    let returned = hook.call().now_or_never().unwrap_or(Err(Failure::TimedOut));
                    hook.commit(returned, self.start.elapsed());
                    self.engine.decisions();
                }
                Output::Wait { .. } => {
                    if !self.engine.is_reading() {
                        self.upstream = None;
                    }
                    self.works = false;
                    return None;
                }
                Output::Done => {
                    self.upstream = None;
                    self.finish();
                    return Some(Next::Over);
                }
            }
        }
    }

    /// Tries the lane with a read. Returns the read if all of it passes unchanged.
    fn pass(&mut self, bytes: Bytes) -> Option<Bytes> {
        if self.engine.looks_by_the_lane() {
            self.engine.set_time(self.start.elapsed());
        }
        let passed = self.engine.pass(bytes);
        self.passed |= passed.is_some();
        if passed.is_none() {
            self.take_input(None);
        }
        passed
    }

    /// Gives an input to the engine, and those of judges and of the host.
    pub(super) fn take_input(&mut self, input: Option<Input>) {
        self.works = true;
        let now = self.start.elapsed();
        if std::mem::take(&mut self.passed) {
            self.engine.passed_until(now);
        }
        self.engine.set_time(now);
        if let Some(input) = input {
            self.engine.handle(input, now);
        }
        for input in self.aside.take() {
            self.engine.handle(input, now);
        }
        self.engine.decisions();
    }

    /// Sets the outcome, for the host.
    pub(super) fn finish(&mut self) {
        self.engine.decisions();
        self.handle.finish(Outcome {
            error: self.engine.error().cloned(),
            format: self.engine.format().map(|format| format.name()),
            usage: self.engine.state().and_then(crate::state::StreamState::usage),
        });
    }
}

/// An upstream, whatever its types of bytes and errors are.
pub(super) trait Upstream: Send {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Input>;
}

impl<S, B, E> Upstream for S
where
    S: Stream<Item = Result<B, E>> + Send,
    B: Into<Bytes>,
    E: Into<BoxError>,
{
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Input> {
        self.poll_next(cx).map(|next| match next {
            Some(Ok(bytes)) => Input::Bytes(bytes.into()),
            Some(Err(error)) => Input::Broken(error.into()),
            None => Input::End,
        })
    }
}
