//! The layer, from the outside: over upstreams in memory, and over real connections.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod apis;
mod call_tags;
mod coding;
mod errors;
mod hostile;
mod kit;
mod leaving;
mod over_http;
mod sessions;
mod transport;
