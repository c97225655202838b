//! The loop.

use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::AssertUnwindSafe;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures::stream::FuturesUnordered;
use futures::{FutureExt as _, Stream, StreamExt as _};
use tokio::time::{Instant, Sleep, sleep, sleep_until};

use super::handle::{Command, Handle, Outcome};
use super::outlet::Outlet;
use super::policies::Policies;
use crate::context::Effects;
use crate::engine::{Engine, Failure, Judging, Work};
use crate::ledger::Ticket;
use crate::limits::Limits;
use crate::policy::{PolicyError, Verdict};
use crate::wire::Ending;

/// What the loop works on.
pub(crate) struct Drive {
    pub(crate) engine: Engine,
    pub(crate) policies: Policies,
    pub(crate) limits: Limits,
    pub(crate) outlet: Arc<Outlet>,
    pub(crate) handle: Handle,
}

/// Runs a stream to its end.
pub(crate) async fn run<S, B, E>(mut drive: Drive, upstream: S)
where
    S: Stream<Item = Result<B, E>>,
    B: AsRef<[u8]>,
    E: fmt::Display,
{
    let start = Instant::now();
    let mut upstream = Some(Box::pin(upstream));
    let mut aside = Aside::default();
    let mut alarm = Alarm::default();
    loop {
        let work = drive.engine.poll();
        // Before any wait: what may leave leaves now.
        drive.emit().await;
        if !drive.engine.is_reading() {
            // Nothing of it is of use any more: the upstream is cancelled now, not when the client has read on.
            upstream = None;
        }
        match work {
            Work::Chunk(_) | Work::End(_) => drive.hook(work, start, &mut aside).await,
            Work::Abort(stage) => drive.policies.abort(stage),
            Work::Done => break,
            Work::Wait => {
                let deadline = drive.engine.deadline().map(|after| start + after);
                let wants = drive.engine.wants_input();
                let source = upstream.as_mut().filter(|_| wants);
                match wait(source, &mut aside, &drive.handle, &mut alarm, deadline).await {
                    Event::Bytes(bytes) => drive.engine.push(bytes.as_ref(), start.elapsed()),
                    Event::Broken(error) => drive.engine.end(Some(error.to_string())),
                    Event::Ended => drive.engine.end(None),
                    Event::Aside => drive.engine.set_time(start.elapsed()),
                    Event::Alarm => drive.engine.tick(start.elapsed()),
                }
            }
        }
        drive.apply(&mut aside);
        drive.engine.decisions();
    }
    drop(upstream);
    drive.finish().await;
}

impl Drive {
    /// Hands what was written over to the client.
    async fn emit(&mut self) {
        let mut any = false;
        while let Some(bytes) = self.engine.output() {
            self.outlet.put(bytes);
            any = true;
        }
        if any {
            self.outlet.hand_over().await;
        }
    }

    /// Calls the hook that is due, and carries out what it staged.
    async fn hook(&mut self, work: Work, start: Instant, aside: &mut Aside) {
        let (Work::Chunk(stage) | Work::End(stage)) = work else { return };
        let watch = Watch {
            limit: self.engine.time_limit(stage),
            keep_alive: self.limits.keep_alive,
            ping: self.engine.keep_alive(),
            outlet: &self.outlet,
            handle: &self.handle,
        };
        let (stage, result) = match work {
            Work::Chunk(stage) => {
                let (Some((chunk, state, mut ctx)), Some(policy)) =
                    (self.engine.chunk(stage), self.policies.get(stage))
                else {
                    return;
                };
                let result = watch.over(policy.on_chunk(chunk, state, &mut ctx), aside).await;
                (stage, result.map(|()| ctx.into_effects()))
            }
            Work::End(stage) => {
                self.policies.close(stage);
                let (Some((end, state, mut ctx)), Some(policy)) =
                    (self.engine.ending(stage), self.policies.get(stage))
                else {
                    self.engine.commit(stage, Effects::default());
                    return;
                };
                let result = watch.over(policy.on_end(end, state, &mut ctx), aside).await;
                (stage, result.map(|()| ctx.into_effects()))
            }
            _ => return,
        };
        self.engine.set_time(start.elapsed());
        match result {
            Ok(effects) => {
                let terminates = effects.terminates();
                aside.judges.extend(self.engine.commit(stage, effects).into_iter().map(judge));
                if terminates {
                    self.policies.close(stage);
                }
            }
            Err(Interrupt::Failed(failure)) => {
                self.policies.close(stage);
                self.engine.fail(stage, failure);
            }
            Err(Interrupt::Ended(ending)) => self.engine.stop(ending),
        }
    }

    /// Carries out verdicts and commands that came meanwhile.
    fn apply(&mut self, aside: &mut Aside) {
        for (ticket, verdict) in aside.judged.drain(..) {
            self.engine.verdict(ticket, verdict);
        }
        for command in aside.commands.drain(..) {
            match command {
                Command::End(ending) => self.engine.stop(ending),
                Command::Discard(key) => {
                    self.engine.discard(key, "the host cancelled it");
                }
                Command::DiscardCall(id) => {
                    self.engine.discard_call(&id, "the host cancelled it");
                }
            }
        }
    }

    async fn finish(mut self) {
        self.emit().await;
        self.engine.decisions();
        for stage in 0.. {
            if self.policies.get(stage).is_none() {
                break;
            }
            self.policies.close(stage);
        }
        self.handle.finish(Outcome {
            error: self.engine.error().cloned(),
            format: self.engine.format().map(|format| format.name()),
            usage: self.engine.upstream_state().and_then(crate::state::StreamState::usage),
        });
    }
}

/// What comes beside the upstream: verdicts, and commands of the host.
#[derive(Default)]
struct Aside {
    judges: FuturesUnordered<Pin<Box<dyn Future<Output = Judged> + Send>>>,
    judged: Vec<Judged>,
    commands: Vec<Command>,
}

type Judged = (Ticket, Result<Verdict, Failure>);

impl Aside {
    /// Polls all of it; true if anything came.
    fn poll(&mut self, handle: &Handle, cx: &mut std::task::Context<'_>) -> bool {
        while let Poll::Ready(Some(judged)) = self.judges.poll_next_unpin(cx) {
            self.judged.push(judged);
        }
        self.commands.append(&mut handle.commands(cx.waker()));
        !self.judged.is_empty() || !self.commands.is_empty()
    }
}

fn judge(judging: Judging) -> Pin<Box<dyn Future<Output = Judged> + Send>> {
    let Judging { ticket, future } = judging;
    Box::pin(async move {
        let verdict = match AssertUnwindSafe(future).catch_unwind().await {
            Ok(verdict) => verdict.map_err(Failure::Failed),
            Err(_) => Err(Failure::Panicked),
        };
        (ticket, verdict)
    })
}

/// Why a hook was not waited for any longer.
enum Interrupt {
    Failed(Failure),
    Ended(Ending),
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
    async fn over(
        &self,
        hook: impl Future<Output = Result<(), PolicyError>>,
        aside: &mut Aside,
    ) -> Result<(), Interrupt> {
        let mut hook = pin!(AssertUnwindSafe(hook).catch_unwind());
        // Nearly every hook is ready at once: no timer is made for it.
        if let Some(done) = hook.as_mut().now_or_never() {
            return returned(done);
        }
        let mut limit = pin!(sleep(self.limit));
        let every = self.keep_alive.filter(|_| self.ping.is_some());
        let mut quiet = pin!(sleep(every.unwrap_or(Duration::MAX)));
        poll_fn(|cx| {
            if let Poll::Ready(done) = hook.as_mut().poll(cx) {
                return Poll::Ready(returned(done));
            }
            aside.poll(self.handle, cx);
            if let Some(at) = aside.commands.iter().position(|command| matches!(command, Command::End(_)))
                && let Command::End(ending) = aside.commands.remove(at)
            {
                return Poll::Ready(Err(Interrupt::Ended(ending)));
            }
            if limit.as_mut().poll(cx).is_ready() {
                return Poll::Ready(Err(Interrupt::Failed(Failure::TimedOut)));
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

fn returned(done: std::thread::Result<Result<(), PolicyError>>) -> Result<(), Interrupt> {
    match done {
        Ok(result) => result.map_err(|error| Interrupt::Failed(Failure::Failed(error))),
        Err(_) => Err(Interrupt::Failed(Failure::Panicked)),
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
