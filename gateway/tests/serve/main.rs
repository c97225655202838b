//! The real binary on a free port, with a plain HTTP client.

#![allow(clippy::panic, clippy::unwrap_used, clippy::print_stdout)]

mod configured;
mod connections;
mod demo;
mod doors;
mod every_key;
mod faults;
mod http2;
mod judges;
mod kit;
mod reload;
mod running;
mod sessions;
#[cfg(feature = "otel")]
mod telemetry;
mod tls;
mod tool_loop;
