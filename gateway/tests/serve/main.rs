//! The real binary on a free port, with a plain HTTP client.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod configured;
mod demo;
mod faults;
mod judges;
mod kit;
mod running;
mod sessions;
