//! Remembered verdicts.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use stream_core::{CallFlavor, PolicyError, Verdict};
use tokio::time::Instant;

use super::{CompletedCall, Cost, Judge};

/// Remembers the verdicts of another judge by name and arguments, byte for byte.
///
/// Only for a judge that looks at nothing else: not at the model, the id or the time. Share one between streams with an
/// [`Arc`](std::sync::Arc). Failures are not remembered, and neither are calls with more than 16 KiB of arguments.
///
/// | bound | default |
/// |---|---|
/// | how many verdicts are kept; the oldest goes first | given |
/// | [how long](Self::no_longer_than) one is kept | 5 minutes |
pub struct Cached<J> {
    judge: J,
    bound: usize,
    ttl: Duration,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    verdicts: HashMap<CacheKey, (Instant, Verdict)>,
    oldest: VecDeque<CacheKey>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct CacheKey {
    name: String,
    arguments: String,
    flavor: CallFlavor,
    opaque: bool,
    server: bool,
    alias: Option<String>,
}

impl<J: Judge> Cached<J> {
    /// Remembers at most `bound` verdicts of a judge.
    #[must_use]
    pub fn new(judge: J, bound: usize) -> Self {
        Self { judge, bound, ttl: Duration::from_secs(300), known: Mutex::default() }
    }

    /// Remembers each no longer than this.
    #[must_use]
    pub fn no_longer_than(mut self, time: Duration) -> Self {
        self.ttl = time;
        self
    }

    fn recall(&self, key: &CacheKey) -> Option<Verdict> {
        let known = self.known();
        let (at, verdict) = known.verdicts.get(key)?;
        (at.elapsed() < self.ttl).then(|| verdict.clone())
    }

    fn remember(&self, key: CacheKey, verdict: Verdict) {
        let mut known = self.known();
        if known.verdicts.insert(key.clone(), (Instant::now(), verdict)).is_some() {
            known.oldest.retain(|old| *old != key);
        }
        known.oldest.push_back(key);
        while known.verdicts.len() > self.bound {
            let Some(oldest) = known.oldest.pop_front() else { break };
            known.verdicts.remove(&oldest);
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl<J: Judge> Judge for Cached<J> {
    async fn judge(&self, call: CompletedCall) -> Result<Verdict, PolicyError> {
        if call.arguments().len() > LONGEST {
            return self.judge.judge(call).await;
        }
        let key = CacheKey {
            name: call.name().to_owned(),
            arguments: call.arguments().to_owned(),
            flavor: call.flavor(),
            opaque: call.is_opaque(),
            server: call.is_server_run(),
            alias: call.alias().map(str::to_owned),
        };
        if let Some(verdict) = self.recall(&key) {
            return Ok(verdict);
        }
        let verdict = self.judge.judge(call).await?;
        self.remember(key, verdict.clone());
        Ok(verdict)
    }

    fn cost(&self) -> Cost {
        self.judge.cost()
    }

    fn judges_server_calls(&self) -> bool {
        self.judge.judges_server_calls()
    }
}

impl<J> fmt::Debug for Cached<J> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cached").field("bound", &self.bound).field("ttl", &self.ttl).finish_non_exhaustive()
    }
}

/// Longer arguments are not likely to come again, and a bound in entries should bound memory.
const LONGEST: usize = 16 << 10;
