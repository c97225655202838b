//! The tool loop: the proxy runs tools, and the client gets one answer.

#![allow(clippy::unwrap_used)]

mod bounds;
mod endpoint;
mod faults;
mod kit;
mod laws;
mod one_answer;
mod which;
