//! What is left of a client's limits.

use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::client::Limits;

type Rate<C> = RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<<C as Clock>::Instant>>;

/// What is left of a client's limits. Clones share it.
pub(super) struct Allowance<C: Clock = DefaultClock> {
    limits: Limits,
    requests: Option<Arc<Rate<C>>>,
    streams: Option<Arc<Semaphore>>,
}

/// A place among a client's streams; given back when it is dropped.
#[derive(Debug, Default)]
pub(super) struct Place {
    _permit: Option<OwnedSemaphorePermit>,
}

/// Which limit a request is beyond.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Beyond {
    /// Too many requests in a minute; the next one may come after this time.
    Requests(Duration),
    /// Too many answers under way.
    Streams,
    /// The body is larger than this many bytes.
    Bytes(u32),
}

impl Allowance {
    pub(super) fn new(limits: Limits) -> Self {
        Self::with_clock(limits, DefaultClock::default())
    }
}

impl<C: Clock> Allowance<C> {
    fn with_clock(limits: Limits, clock: C) -> Self {
        let permits = |streams: std::num::NonZeroU32| usize::try_from(streams.get()).unwrap_or(usize::MAX);
        Self {
            limits,
            requests: limits
                .requests_per_minute
                .map(|most| Arc::new(RateLimiter::direct_with_clock(Quota::per_minute(most), clock))),
            streams: limits
                .streams
                .map(|most| Arc::new(Semaphore::new(permits(most).min(Semaphore::MAX_PERMITS)))),
        }
    }

    /// What is left of the limits that are the same in another allowance is what is left there.
    pub(super) fn keep(&mut self, before: &Self) {
        if self.limits.requests_per_minute == before.limits.requests_per_minute {
            self.requests.clone_from(&before.requests);
        }
        if self.limits.streams == before.limits.streams {
            self.streams.clone_from(&before.streams);
        }
    }

    /// The most bytes of a request's body.
    pub(super) fn request_bytes(&self) -> Option<u32> {
        self.limits.request_bytes.map(std::num::NonZeroU32::get)
    }

    /// Takes a request from the limits. `length` is what the request says of its body.
    pub(super) fn take(&self, length: Option<u64>) -> Result<Place, Beyond> {
        if let (Some(most), Some(length)) = (self.request_bytes(), length)
            && length > u64::from(most)
        {
            return Err(Beyond::Bytes(most));
        }
        // A place first: a request that finds none has not been served, and is not counted.
        let permit = match &self.streams {
            Some(streams) => Some(Arc::clone(streams).try_acquire_owned().map_err(|_| Beyond::Streams)?),
            None => None,
        };
        if let Some(requests) = &self.requests {
            let later = requests.check().map_err(|later| later.wait_time_from(requests.clock().now()));
            later.map_err(Beyond::Requests)?;
        }
        Ok(Place { _permit: permit })
    }
}

impl<C: Clock> Clone for Allowance<C> {
    fn clone(&self) -> Self {
        Self { limits: self.limits, requests: self.requests.clone(), streams: self.streams.clone() }
    }
}

impl<C: Clock> std::fmt::Debug for Allowance<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Allowance").field("limits", &self.limits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use governor::clock::FakeRelativeClock;

    use super::*;

    fn most(number: u32) -> Option<NonZeroU32> {
        NonZeroU32::new(number)
    }

    #[test]
    fn a_place_is_given_back_when_it_is_dropped() {
        let allowance = Allowance::new(Limits { streams: most(1), ..Limits::default() });
        let place = allowance.take(None).unwrap();
        assert_eq!(allowance.take(None).unwrap_err(), Beyond::Streams);
        drop(place);
        assert_eq!(allowance.take(None).map(drop), Ok(()));
    }

    #[test]
    fn a_request_beyond_the_rate_is_told_when_to_come_back_and_then_let_in() {
        let clock = FakeRelativeClock::default();
        let limits = Limits { requests_per_minute: most(2), ..Limits::default() };
        let allowance = Allowance::with_clock(limits, clock.clone());
        let take = || allowance.take(None).map(drop);
        assert_eq!((take(), take()), (Ok(()), Ok(())));
        assert_eq!(take(), Err(Beyond::Requests(Duration::from_secs(30))));
        clock.advance(Duration::from_nanos(29_999_999_999));
        assert_eq!(take(), Err(Beyond::Requests(Duration::from_nanos(1))));
        clock.advance(Duration::from_nanos(1));
        assert_eq!(take(), Ok(()));
        assert_eq!(take(), Err(Beyond::Requests(Duration::from_secs(30))));
    }

    #[test]
    fn a_request_that_finds_no_place_is_not_counted() {
        let limits = Limits { streams: most(1), requests_per_minute: most(2), ..Limits::default() };
        let allowance = Allowance::with_clock(limits, FakeRelativeClock::default());
        let place = allowance.take(None).unwrap();
        assert_eq!(allowance.take(None).unwrap_err(), Beyond::Streams);
        drop(place);
        assert_eq!(allowance.take(None).map(drop), Ok(()));
        assert_eq!(allowance.take(None).unwrap_err(), Beyond::Requests(Duration::from_secs(30)));
    }

    /// A place that was taken for a request beyond the rate is not kept.
    #[test]
    fn a_request_beyond_the_rate_takes_no_place() {
        let clock = FakeRelativeClock::default();
        let limits = Limits { streams: most(1), requests_per_minute: most(1), ..Limits::default() };
        let allowance = Allowance::with_clock(limits, clock.clone());
        assert_eq!(allowance.take(None).map(drop), Ok(()));
        assert_eq!(allowance.take(None).unwrap_err(), Beyond::Requests(Duration::from_secs(60)));
        clock.advance(Duration::from_secs(60));
        assert_eq!(allowance.take(None).map(drop), Ok(()));
    }

    #[test]
    fn a_body_that_says_it_is_too_large_is_not_read() {
        let allowance = Allowance::new(Limits { request_bytes: most(10), ..Limits::default() });
        assert_eq!(allowance.take(Some(10)).map(drop), Ok(()));
        assert_eq!(allowance.take(Some(11)).map(drop), Err(Beyond::Bytes(10)));
    }
}
