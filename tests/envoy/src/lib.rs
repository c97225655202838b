//! The policies in the real Envoy, with the real Redis: what the tests need to start, ask and stop them.
//!
//! `tests/envoy/run` installs what is needed and runs the tests, which are ignored without it.

mod client;
mod envoy;
mod model;
mod place;
mod processor;
mod program;

pub use client::{Answer, Client, Version};
pub use envoy::Envoy;
pub use model::{Asked, Ending, Gate, Model, Reply};
pub use place::Place;
pub use processor::Processor;
pub use program::{Program, Redis};
