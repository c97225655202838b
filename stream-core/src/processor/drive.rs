//! The loop of a processor while hooks or judges run.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use tokio::time::{Instant, sleep};

use super::aside::Aside;
use super::core::Core;
use super::handle::Handle;
use super::outlet::Outlet;
use crate::engine::{Failure, Input, Output};
use crate::wire::Ending;

/// Works until the upstream is the only thing to wait for. `None` if the stream is over.
pub(super) async fn work(mut core: Box<Core>) -> Option<Box<Core>> {
    loop {
        let Core { engine, outlet, handle, upstream, aside, alarm, start, keep_alive, .. } = &mut *core;
        match engine.poll() {
            Output::Bytes(bytes) => {
                outlet.put(bytes);
                continue;
            }
            Output::Judge(judging) => {
                aside.judge(judging);
                continue;
            }
            Output::Hook(mut hook) => {
                if !hook.is_reading() {
                    // The upstream is cancelled now, not when the client has read on.
                    *upstream = None;
                }
                // Output is handed over before any wait.
                outlet.hand_over().await;
                let watch = Watch {
                    limit: hook.time_limit(),
                    keep_alive: *keep_alive,
                    ping: hook.keep_alive(),
                    outlet,
                    handle,
                };
                match watch.over(hook.call(), aside).await {
                    Ok(returned) => hook.commit(returned, start.elapsed()),
                    Err(ending) => engine.handle(Input::Stop(ending), start.elapsed()),
                }
            }
            Output::Done => break,
            Output::Wait { until, reads } => {
                if !engine.is_reading() {
                    *upstream = None;
                }
                outlet.hand_over().await;
                if aside.is_idle() {
                    core.works = false;
                    return Some(core);
                }
                alarm.set(until.map(|after| *start + after));
                let input = poll_fn(|cx| {
                    // Verdicts first: they release held blocks before more is read.
                    if aside.poll(handle, cx) {
                        return Poll::Ready(None);
                    }
                    if let Some(upstream) = upstream.as_mut().filter(|_| reads)
                        && let Poll::Ready(input) = upstream.as_mut().poll_read(cx)
                    {
                        return Poll::Ready(Some(input));
                    }
                    alarm.poll(cx).map(|()| Some(Input::Time))
                });
                let input = input.await;
                core.take_input(input);
                continue;
            }
        }
        core.take_input(None);
    }
    core.upstream = None;
    core.outlet.hand_over().await;
    core.finish();
    None
}

/// The conditions of a hook that waits: its time limit, keep-alives, judges and commands of the host meanwhile.
struct Watch<'a> {
    limit: Duration,
    keep_alive: Option<Duration>,
    ping: Option<Bytes>,
    outlet: &'a Outlet,
    handle: &'a Handle,
}

impl Watch<'_> {
    /// Returns the result of the hook, or that it exceeded its limit; an error if the host stopped the stream meanwhile.
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
