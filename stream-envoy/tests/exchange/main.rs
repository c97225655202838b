//! The processor, asked as Envoy asks.

#![allow(clippy::panic, clippy::unwrap_used)]

mod ends;
mod kit;
mod messages;
mod modes;
