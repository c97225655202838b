//! The loop.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, Stream, StreamExt as _};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::StreamProcessor;
use super::handle::{Handle, Outcome};
use super::outlet::Outlet;
use crate::engine::{Engine, Failure, Input, Judging, Output};
use crate::limits::Limits;
use crate::wire::Ending;

/// What the loop works on.
pub(crate) struct Drive {
    pub(crate) engine: Engine,
    pub(crate) limits: Limits,
    pub(crate) outlet: Arc<Outlet>,
    pub(crate) handle: Handle,
}

impl Drive {
    /// The processor that runs the loop over an upstream.
    pub(crate) fn start<S, B, E>(self, upstream: S) -> StreamProcessor
    where
        S: Stream<Item = Result<B, E>> + Send + 'static,
        B: Into<Bytes> + Send + 'static,
        E: fmt::Display + Send + 'static,
    {
        let (outlet, handle) = (Arc::clone(&self.outlet), self.handle.clone());
        StreamProcessor { run: Box::pin(run(self, upstream)), outlet, handle, over: false }
    }

    async fn finish(mut self) {
        self.outlet.hand_over().await;
        self.engine.decisions();
        self.handle.finish(Outcome {
            error: self.engine.error().cloned(),
            format: self.engine.format().map(|format| format.name()),
            usage: self.engine.state().and_then(crate::state::StreamState::usage),
        });
    }
}

/// Runs a stream to its end.
async fn run<S, B, E>(mut drive: Drive, upstream: S)
where
    S: Stream<Item = Result<B, E>>,
    B: Into<Bytes>,
    E: fmt::Display,
{
    let start = Instant::now();
    let mut upstream = Some(Box::pin(upstream));
    let mut aside = Aside::default();
    let mut alarm = Alarm::default();
    let Drive { engine, limits, outlet, handle } = &mut drive;
    loop {
        match engine.poll() {
            Output::Bytes(bytes) => {
                outlet.put(bytes);
                continue;
            }
            Output::Judge(judging) => {
                aside.judges.push(judging);
                continue;
            }
            Output::Hook(mut hook) => {
                if !hook.is_reading() {
                    // Nothing of it is of use any more: the upstream is cancelled now, not when the client has read on.
                    upstream = None;
                }
                // Before any wait: what may leave leaves now.
                outlet.hand_over().await;
                let watch = Watch {
                    limit: hook.time_limit(),
                    keep_alive: limits.keep_alive,
                    ping: hook.keep_alive(),
                    outlet,
                    handle,
                };
                match watch.over(hook.call(), &mut aside).await {
                    Ok(returned) => hook.commit(returned, start.elapsed()),
                    Err(ending) => engine.handle(Input::Stop(ending), start.elapsed()),
                }
            }
            Output::Done => break,
            Output::Wait { until, reads } => {
                if !engine.is_reading() {
                    upstream = None;
                }
                outlet.hand_over().await;
                let source = upstream.as_mut().filter(|_| reads);
                let deadline = until.map(|after| start + after);
                let input = match wait(source, &mut aside, handle, &mut alarm, deadline).await {
                    Event::Bytes(bytes) => Some(Input::Bytes(bytes.into())),
                    Event::Broken(error) => Some(Input::Broken(error.to_string())),
                    Event::Ended => Some(Input::End),
                    Event::Aside => None,
                    Event::Alarm => Some(Input::Time),
                };
                if let Some(input) = input {
                    engine.handle(input, start.elapsed());
                }
            }
        }
        // Verdicts and commands that came meanwhile.
        for input in aside.came.drain(..) {
            engine.handle(input, start.elapsed());
        }
        engine.decisions();
    }
    drop(upstream);
    drive.finish().await;
}

/// What comes beside the upstream: verdicts, and commands of the host.
#[derive(Default)]
struct Aside {
    judges: FuturesUnordered<Judging>,
    came: Vec<Input>,
}

impl Aside {
    /// Polls all of it; true if anything came.
    fn poll(&mut self, handle: &Handle, cx: &mut std::task::Context<'_>) -> bool {
        while let Poll::Ready(Some(judged)) = self.judges.poll_next_unpin(cx) {
            self.came.extend(judged.map(|(ticket, verdict)| Input::Verdict(ticket, verdict)));
        }
        self.came.append(&mut handle.commands(cx.waker()));
        !self.came.is_empty()
    }

    /// Takes the host's word that the stream is to end.
    fn take_stop(&mut self) -> Option<Ending> {
        let at = self.came.iter().position(|input| matches!(input, Input::Stop(_)))?;
        match self.came.remove(at) {
            Input::Stop(ending) => Some(ending),
            _ => None,
        }
    }
}

/// Watches over a hook: its time, keep-alives, judges and the host beside it.
struct Watch<'a> {
    limit: Duration,
    keep_alive: Option<Duration>,
    ping: Option<Bytes>,
    outlet: &'a Outlet,
    handle: &'a Handle,
}

impl Watch<'_> {
    /// What the hook returned, or that it took too long; an error if the host ended the stream meanwhile.
    async fn over(
        &self,
        hook: impl Future<Output = Result<(), Failure>>,
        aside: &mut Aside,
    ) -> Result<Result<(), Failure>, Ending> {
        let mut hook = pin!(hook);
        // Nearly every hook is ready at once: no timer is made for it.
        if let Some(returned) = hook.as_mut().now_or_never() {
            return Ok(returned);
        }
        let mut limit = pin!(sleep(self.limit));
        let every = self.keep_alive.filter(|_| self.ping.is_some());
        let mut quiet = pin!(sleep(every.unwrap_or(Duration::MAX)));
        poll_fn(|cx| {
            if let Poll::Ready(returned) = hook.as_mut().poll(cx) {
                return Poll::Ready(Ok(returned));
            }
            aside.poll(self.handle, cx);
            if let Some(ending) = aside.take_stop() {
                return Poll::Ready(Err(ending));
            }
            if limit.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Ok(Err(Failure::TimedOut)));
            }
            while let (Some(every), Some(ping)) = (every, &self.ping)
                && quiet.as_mut().poll(cx).is_ready()
            {
                self.outlet.put(ping.clone());
                quiet.as_mut().reset(Instant::now() + every);
            }
            Poll::Pending
        })
        .await
    }
}

/// What the loop was woken by.
enum Event<B, E> {
    Bytes(B),
    Broken(E),
    Ended,
    Aside,
    Alarm,
}

async fn wait<S, B, E>(
    mut source: Option<&mut Pin<Box<S>>>,
    aside: &mut Aside,
    handle: &Handle,
    alarm: &mut Alarm,
    deadline: Option<Instant>,
) -> Event<B, E>
where
    S: Stream<Item = Result<B, E>>,
{
    alarm.set(deadline);
    poll_fn(|cx| {
        // Verdicts first: they free what is held before more comes in.
        if aside.poll(handle, cx) {
            return Poll::Ready(Event::Aside);
        }
        if let Some(source) = &mut source
            && let Poll::Ready(next) = source.as_mut().poll_next(cx)
        {
            return Poll::Ready(match next {
                Some(Ok(bytes)) => Event::Bytes(bytes),
                Some(Err(error)) => Event::Broken(error),
                None => Event::Ended,
            });
        }
        if alarm.poll(cx) { Poll::Ready(Event::Alarm) } else { Poll::Pending }
    })
    .await
}

/// One timer for all deadlines. It may go off early: deadlines mostly move away, and moving it each time costs more
/// than an idle tick now and then.
#[derive(Default)]
struct Alarm(Option<Pin<Box<Sleep>>>);

impl Alarm {
    fn set(&mut self, deadline: Option<Instant>) {
        match (&mut self.0, deadline) {
            (Some(sleep), Some(at)) if sleep.deadline() > at || sleep.is_elapsed() => {
                sleep.as_mut().reset(at);
            }
            (Some(_), Some(_)) => {}
            (_, None) => self.0 = None,
            (None, Some(at)) => self.0 = Some(Box::pin(sleep_until(at))),
        }
    }

    fn poll(&mut self, cx: &mut std::task::Context<'_>) -> bool {
        self.0.as_mut().is_some_and(|sleep| sleep.as_mut().poll(cx).is_ready())
    }
}
