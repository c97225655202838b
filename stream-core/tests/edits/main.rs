//! The edit matrix: every edit, at every step, in every format, streamed and whole. What comes out is checked by the
//! conformance checker and folded again, and must say exactly what was let through.

// Everything here is a test, its helpers too.
#![allow(clippy::unwrap_used)]

mod aborts;
mod chains;
mod drops;
mod endings;
mod failures;
mod held;
mod inserts;
mod kit;
mod left;
mod limits;
mod odd;
mod policies;
mod rewrites;
mod scripts;
mod turns;
mod verdicts;
mod written;
