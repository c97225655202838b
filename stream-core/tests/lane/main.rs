//! A stream is the same with the lane and without: the bytes that leave, and what every hook sees.
//!
//! Tests that need the recordings are ignored by name.

#![allow(clippy::panic, clippy::unwrap_used)]

mod kit;
mod mutated;
mod same;
mod strings;
mod taken;
mod waiting;
