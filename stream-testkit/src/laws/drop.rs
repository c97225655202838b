//! A stream may be dropped at any await.

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures::{Stream as _, stream};
use stream_core::{Action, StreamProcessor};
use tokio::runtime;

use super::case::{Breach, Case, did};
use super::spy::{Calls, Spy, breath};
use super::standing::Standing;

/// Drops the stream before each poll (of long streams, at some): what left is a prefix of what leaves undisturbed,
/// `on_abort` was called once unless the policy had come to its end, and it returned.
pub(super) fn check(case: &Case<'_>) -> Result<Standing, Breach> {
    if case.log.is_whole() {
        return Ok(Standing::Vacuous);
    }
    let undisturbed = dropped_after(case, usize::MAX)?;
    let run = case.replay().run();
    let closes_early = did(&run, Action::Terminated) || did(&run, Action::Failed);
    for polls in case.points(undisturbed.polls, POINTS) {
        let dropped = dropped_after(case, polls)?;
        if !undisturbed.bytes.starts_with(&dropped.bytes) {
            return Breach::differ(
                &format!("what leaves undisturbed, when dropped after {polls} polls"),
                &undisturbed.bytes,
                &dropped.bytes,
            );
        }
        let at_work = !dropped.over && dropped.ends == 0 && dropped.polls > 0;
        let expected = match at_work {
            true if !closes_early => 1..=1,
            true => 0..=1,
            // Before the first poll nothing has begun, and whether it is told makes no difference.
            false if dropped.polls == 0 => 0..=1,
            false => 0..=0,
        };
        if !expected.contains(&dropped.aborts) {
            return Breach::new(
                format!("on_abort called {} times when dropped after {polls} polls", expected.end()),
                dropped.aborts.to_string(),
            );
        }
    }
    Ok(Standing::Held)
}

struct Dropped {
    bytes: Vec<u8>,
    polls: usize,
    over: bool,
    ends: usize,
    aborts: usize,
}

/// Polls so many times, then drops. Upstream and hooks are each pending once before they are ready.
fn dropped_after(case: &Case<'_>, polls: usize) -> Result<Dropped, Breach> {
    let runtime = runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
    let Ok(runtime) = runtime else { return Breach::new("a runtime", "none") };
    let calls = Arc::new(Calls::default());
    let spy = (case.factory)().wrap(|policy| Spy { policy, calls: Arc::clone(&calls) });
    let pieces: Vec<Bytes> = case.cut.apply(&case.log).into_iter().map(|(_, bytes)| bytes).collect();
    let upstream = stream::unfold(pieces.into_iter(), |mut pieces| async move {
        let piece = pieces.next()?;
        breath().await;
        Some((Ok::<_, Infallible>(piece), pieces))
    });
    let built = StreamProcessor::builder().config(case.config.clone()).policy(spy).build(upstream);
    let mut processor = match built {
        Ok(processor) => processor,
        Err(error) => return Breach::new("policies that work together", error.to_string()),
    };
    let mut bytes = Vec::new();
    let mut polled = 0;
    let over = runtime.block_on(poll_fn(|cx| {
        while polled < polls {
            polled += 1;
            match Pin::new(&mut processor).poll_next(cx) {
                Poll::Ready(Some(piece)) => bytes.extend_from_slice(&piece),
                Poll::Ready(None) => return Poll::Ready(true),
                Poll::Pending => return Poll::Pending,
            }
        }
        Poll::Ready(false)
    }));
    drop_within(processor, &runtime)?;
    let ends = calls.ends.load(Ordering::Relaxed);
    Ok(Dropped { bytes, polls: polled, over, ends, aborts: calls.aborts.load(Ordering::Relaxed) })
}

/// Drops it on a thread of its own, which is left behind if it does not return.
fn drop_within(processor: StreamProcessor, runtime: &runtime::Runtime) -> Result<(), Breach> {
    let (done, is_done) = mpsc::channel();
    let context = runtime.handle().clone();
    let dropping = std::thread::spawn(move || {
        let _context = context.enter();
        drop(processor);
        // Nobody listens any more when it took too long.
        let _ = done.send(());
    });
    match is_done.recv_timeout(PATIENCE) {
        Ok(()) => Ok(()),
        Err(mpsc::RecvTimeoutError::Timeout) => {
            Breach::new(format!("on_abort to return within {PATIENCE:?}"), "it still runs")
        }
        Err(mpsc::RecvTimeoutError::Disconnected) => {
            let _ = dropping.join();
            Breach::new("no panic when the stream is dropped", "a panic")
        }
    }
}

/// At how many polls the stream is dropped.
const POINTS: usize = 8;
/// How long `on_abort` may take: a thread of the host waits for it.
const PATIENCE: Duration = Duration::from_secs(2);
