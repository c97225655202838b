//! `/live`: the streams that run now and the last few hundred, on one page of the admin side.
//!
//! [`Live`] keeps what the page shows, bounded in every direction; an [observer](Live::observer) of each answer feeds it, and
//! every viewer is sent what has changed, a few times in a second. Names, reasons and sizes are shown; text only with
//! `live_content = true`.

mod events;
mod page;
mod stream;
mod watching;

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use axum::Router;
use axum::routing::get;
use stream_http::Facts;
use tokio::sync::Semaphore;

use self::stream::LiveStream;
use self::watching::Watching;
use crate::exchange::Exchange;

/// What the live page shows. Clones share it.
#[derive(Debug, Clone)]
pub(crate) struct Live(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// Whether text of streams is shown.
    content: bool,
    start: Instant,
    /// Counts changes; a viewer is sent what has a later one than it has seen.
    version: AtomicU64,
    streams: Mutex<Streams>,
    viewers: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Streams {
    running: BTreeMap<u64, LiveStream>,
    over: VecDeque<LiveStream>,
    counts: Counts,
}

/// What was counted since the program started.
#[derive(Debug, Clone, Copy, Default, serde::Serialize)]
struct Counts {
    started: u64,
    running: u64,
    decisions: u64,
    /// Decisions that changed what a client got.
    edits: u64,
    errors: u64,
}

/// What was asked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Asked {
    client: Option<String>,
    api: &'static str,
    model: Option<String>,
    path: String,
}

impl Asked {
    pub(crate) fn of(facts: &Facts, exchange: &Exchange) -> Self {
        Self {
            client: exchange.client().map(|client| client.to_string()),
            api: facts.api().name(),
            model: facts.model().map(str::to_owned),
            path: facts.uri().path().to_owned(),
        }
    }
}

impl Live {
    pub(crate) fn new(content: bool) -> Self {
        Self(Arc::new(Shared {
            content,
            start: Instant::now(),
            version: AtomicU64::new(0),
            streams: Mutex::default(),
            viewers: Arc::new(Semaphore::new(VIEWERS)),
        }))
    }

    /// The routes of the admin side.
    pub(crate) fn routes(&self) -> Router {
        let live = self.clone();
        Router::new()
            .route("/live", get(async || page::response()))
            .route("/live/events", get(move || async move { events::response(live) }))
    }

    /// An observer for one answer, which is on the page from now on.
    pub(crate) fn observer(&self, asked: Asked) -> Watching {
        let mut streams = self.streams();
        streams.counts.started += 1;
        streams.counts.running += 1;
        let number = streams.counts.started;
        // What does not fit is counted, and not shown.
        let shown = streams.running.len() < RUNNING;
        if shown {
            let stream = LiveStream::new(number, asked, self.now(), self.change());
            streams.running.insert(number, stream);
        }
        drop(streams);
        Watching::new(self.clone(), number, shown)
    }

    /// Changes a stream that is shown.
    fn update(&self, number: u64, change: impl FnOnce(&mut LiveStream, u64)) {
        let (now, version) = (self.now(), self.change());
        if let Some(stream) = self.streams().running.get_mut(&number) {
            stream.version = version;
            change(stream, now);
        }
    }

    /// A stream is over.
    fn end(&self, number: u64) {
        let (now, version) = (self.now(), self.change());
        let mut streams = self.streams();
        streams.counts.running -= 1;
        if let Some(mut stream) = streams.running.remove(&number) {
            stream.end(now, version);
            streams.over.push_back(stream);
            if streams.over.len() > OVER {
                streams.over.pop_front();
            }
        }
    }

    fn streams(&self) -> MutexGuard<'_, Streams> {
        self.0.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds since the program started.
    fn now(&self) -> u64 {
        u64::try_from(self.0.start.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn change(&self) -> u64 {
        self.0.version.fetch_add(1, Ordering::Relaxed) + 1
    }
}

/// How many running streams, streams that are over, and viewers there are at most.
const RUNNING: usize = 500;
const OVER: usize = 300;
const VIEWERS: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_does_not_grow_with_the_number_of_streams() {
        let live = Live::new(false);
        let shown = || {
            let streams = live.streams();
            (streams.running.len(), streams.over.len(), streams.counts.running, streams.counts.started)
        };
        let running: Vec<Watching> = (0..5000).map(|_| live.observer(Asked::default())).collect();
        assert_eq!(shown(), (RUNNING, 0, 5000, 5000));
        drop(running);
        assert_eq!(shown(), (0, OVER, 0, 5000));
    }
}
