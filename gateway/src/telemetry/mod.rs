//! Telemetry: a span for each answer, with an event for each decision, and counts over all of them, sent to a collector
//! over OTLP under the names of OpenTelemetry's conventions for generative AI.
//!
//! Text of a stream is never part of it: neither what a model or a tool wrote, nor the message of an error, nor a policy's
//! reason, which may quote either. What leaves is names from the configuration, words from lists of the program's own,
//! the model that was asked for, and numbers.

#[cfg(feature = "otel")]
mod answer;
#[cfg(feature = "otel")]
mod export;
#[cfg(feature = "otel")]
mod instruments;
#[cfg(feature = "otel")]
mod names;
#[cfg(not(feature = "otel"))]
mod off;
#[cfg(feature = "otel")]
mod parent;
#[cfg(feature = "otel")]
mod watch;
#[cfg(feature = "otel")]
mod words;

#[cfg(feature = "otel")]
pub(crate) use self::{
    answer::Answer,
    export::{Collector, Telemetry},
};
#[cfg(not(feature = "otel"))]
pub(crate) use off::{Answer, Collector, Telemetry};
