//! The edit matrix: every edit, at every step, in every format, streamed and whole. What comes out is checked by the
//! conformance checker and folded again, and must say exactly what was let through.

mod drops;
mod endings;
mod inserts;
mod kit;
mod left;
mod policies;
mod rewrites;
mod scripts;
