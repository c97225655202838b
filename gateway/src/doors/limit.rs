//! What is left of a client's limits.

use std::sync::Arc;
use std::time::Duration;

use governor::clock::{Clock as _, DefaultClock};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::client::Limits;

/// What is left of a client's limits. Clones share it.
#[derive(Clone)]
pub(super) struct Allowance {
    limits: Limits,
    requests: Option<Arc<DefaultDirectRateLimiter>>,
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
        let permits = |streams: std::num::NonZeroU32| usize::try_from(streams.get()).unwrap_or(usize::MAX);
        Self {
            limits,
            requests: limits
                .requests_per_minute
                .map(|most| Arc::new(RateLimiter::direct(Quota::per_minute(most)))),
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
            requests
                .check()
                .map_err(|later| Beyond::Requests(later.wait_time_from(DefaultClock::default().now())))?;
        }
        Ok(Place { _permit: permit })
    }
}

impl std::fmt::Debug for Allowance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Allowance").field("limits", &self.limits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

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
        assert!(allowance.take(None).is_ok());
    }

    #[test]
    fn a_request_beyond_the_rate_is_told_when_to_come_back() {
        let allowance = Allowance::new(Limits { requests_per_minute: most(2), ..Limits::default() });
        assert!(allowance.take(None).is_ok());
        assert!(allowance.take(None).is_ok());
        let Err(Beyond::Requests(wait)) = allowance.take(None) else { panic!("expected a limit") };
        assert!(Duration::from_secs(29) < wait && wait <= Duration::from_secs(30), "{wait:?}");
    }

    #[test]
    fn a_request_that_finds_no_place_is_not_counted() {
        let limits = Limits { streams: most(1), requests_per_minute: most(2), ..Limits::default() };
        let allowance = Allowance::new(limits);
        let place = allowance.take(None).unwrap();
        assert_eq!(allowance.take(None).unwrap_err(), Beyond::Streams);
        drop(place);
        assert!(allowance.take(None).is_ok());
    }

    #[test]
    fn a_body_that_says_it_is_too_large_is_not_read() {
        let allowance = Allowance::new(Limits { request_bytes: most(10), ..Limits::default() });
        assert!(allowance.take(Some(10)).is_ok());
        assert_eq!(allowance.take(Some(11)).unwrap_err(), Beyond::Bytes(10));
    }
}
