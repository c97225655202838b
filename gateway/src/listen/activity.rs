//! What is under way on a connection.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};

use super::Connections;

/// What is under way on a connection. Clones share it.
#[derive(Debug, Clone)]
pub(super) struct Activity(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The answers that are not over, each with the time since when the client has not asked for more of what is there.
    answers: BTreeMap<u64, Option<Instant>>,
    /// How many requests have come.
    requests: u64,
    /// Since when no answer is under way.
    quiet: Instant,
}

/// What is to be done with a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    /// The connection goes on.
    Keep,
    /// Nothing was asked for too long: the connection is closed in the protocol's way.
    Close,
    /// The client sends no request, or takes nothing of its answer: the connection is dropped.
    Drop,
}

impl Activity {
    pub(super) fn new() -> Self {
        let state = State { answers: BTreeMap::new(), requests: 0, quiet: Instant::now() };
        Self(Arc::new(Mutex::new(state)))
    }

    /// A request has come; it is under way until what this gives is dropped.
    pub(super) fn begin(&self) -> UnderWay {
        let mut state = self.state();
        state.requests += 1;
        let number = state.requests;
        state.answers.insert(number, None);
        drop(state);
        UnderWay { activity: self.clone(), number }
    }

    /// What is to be done now.
    pub(super) fn care(&self, limits: &Connections) -> Care {
        let state = self.state();
        let waits = |since: &Instant| since.elapsed() >= limits.stalled;
        if state.answers.values().flatten().any(waits) {
            return Care::Drop;
        }
        if !state.answers.is_empty() {
            return Care::Keep;
        }
        let quiet = state.quiet.elapsed();
        match state.requests {
            0 if quiet >= limits.head => Care::Drop,
            0 => Care::Keep,
            _ if quiet >= limits.idle => Care::Close,
            _ => Care::Keep,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request under way.
#[derive(Debug)]
pub(super) struct UnderWay {
    activity: Activity,
    number: u64,
}

impl UnderWay {
    /// Notes whether the client is to take something before it gets more.
    fn waits(&self, since: Option<Instant>) {
        self.activity.state().answers.insert(self.number, since);
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        state.answers.remove(&self.number);
        state.quiet = Instant::now();
    }
}

/// The body of an answer, under way until it is dropped.
#[derive(Debug)]
pub(super) struct Tracked {
    body: Body,
    under_way: UnderWay,
}

impl Tracked {
    pub(super) fn new(body: Body, under_way: UnderWay) -> Self {
        Self { body, under_way }
    }
}

impl HttpBody for Tracked {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        // Whoever gets something and does not ask for more has a client that does not take it.
        self.under_way.waits(frame.is_ready().then(Instant::now));
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const LIMITS: Connections = Connections {
        most: 1,
        head: Duration::from_millis(20),
        body: Duration::from_secs(1),
        idle: Duration::from_millis(60),
        stalled: Duration::from_millis(20),
    };

    #[test]
    fn a_connection_without_a_request_is_dropped_after_the_time_for_a_head() {
        let activity = Activity::new();
        assert_eq!(activity.care(&LIMITS), Care::Keep);
        std::thread::sleep(LIMITS.head);
        assert_eq!(activity.care(&LIMITS), Care::Drop);
        let under_way = activity.begin();
        assert_eq!(activity.care(&LIMITS), Care::Keep);
        drop(under_way);
        assert_eq!(activity.care(&LIMITS), Care::Keep);
        std::thread::sleep(LIMITS.idle);
        assert_eq!(activity.care(&LIMITS), Care::Close);
    }

    #[test]
    fn a_client_that_takes_nothing_is_dropped_and_one_that_waits_is_not() {
        let activity = Activity::new();
        let under_way = activity.begin();
        under_way.waits(Some(Instant::now()));
        std::thread::sleep(LIMITS.stalled);
        assert_eq!(activity.care(&LIMITS), Care::Drop);
        under_way.waits(None);
        assert_eq!(activity.care(&LIMITS), Care::Keep);
    }
}
