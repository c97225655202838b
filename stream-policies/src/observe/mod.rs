//! Sinks for the decisions of policies: in memory, to a closure, as `tracing` events, as metrics.
//!
//! A stream has one [`Observer`](stream_core::Observer); [`Observers`] joins several. None of these keeps text of a stream: a
//! [`Decision`](stream_core::Decision) has the policy, the block, the action, the reason, the number of bytes and the time for which they were held.
//!
//! | observer | what it does |
//! |---|---|
//! | [`Recorder`] | keeps the last decisions of many streams in memory, bounded |
//! | [`Decisions`] | hands every decision to a closure: the host's own sink |
//! | [`Traced`] | `tracing` events (feature `tracing`) |
//! | [`Metrics`] | counters that a host can export: decisions by policy and action, held bytes and their growth, time held |
//!
//! ```
//! use stream_core::{Passthrough, StreamProcessor};
//! use stream_policies::observe::{Decisions, Metrics, Observers, Recorder};
//!
//! // Once, at start.
//! let (recorder, metrics) = (Recorder::new(1000), Metrics::new());
//! // For each stream.
//! let observer = Observers::new()
//!     .and(recorder.observer())
//!     .and(metrics.observer())
//!     .and(Decisions::to(|decision| assert!(decision.enforced)));
//! let builder = StreamProcessor::builder().policy(Passthrough).observer(observer);
//! # let _ = builder;
//! assert_eq!(metrics.snapshot().decisions, []);
//! assert_eq!(recorder.decisions(), []);
//! ```

mod decisions;
mod metrics;
mod observers;
mod recorder;
#[cfg(test)]
mod tests;
#[cfg(feature = "tracing")]
mod traced;

pub use decisions::Decisions;
pub use metrics::{Counted, Metrics, MetricsObserver, Snapshot};
pub use observers::Observers;
pub use recorder::{Recorder, RecorderObserver};
#[cfg(feature = "tracing")]
pub use traced::Traced;
