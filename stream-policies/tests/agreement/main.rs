//! Rule 28: what was judged is what every client reads, over streams that were made to be read in two ways.

#![cfg(feature = "patterns")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test, helpers included")]

mod attacks;
mod findings;
mod fresh;
mod harmless;
mod kit;
mod messages;
mod mutated;
mod recorded;
mod responses;
mod shapes;
mod strict;
