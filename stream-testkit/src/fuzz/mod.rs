//! Fuzz bodies: what holds for any bytes at all.
//!
//! A body takes bytes and panics where a promise is broken. The targets in `fuzz/` hand it what libFuzzer finds; a test
//! hands it the seeds in `fuzz/seeds`. The first line of the bytes is the [`Plan`] (how the rest is cut and edited); the
//! rest is the stream, or the text.
//!
//! | body | what holds |
//! |---|---|
//! | `framer` | frames do not depend on the cut, their raw spans are the input, other parsers read the same events |
//! | `decode` | blocks do not depend on the cut; a valid stream is read as the independent checker reads it |
//! | `whole` | a whole answer says the same as its stream |
//! | `edits` | any edit of any stream gives bytes that decode again, the same ones in any cut; without an edit, the input |
//! | `lane` | bytes, records and steps are the same with the lane and without |
//! | `text_calls` | calls in text do not depend on the cut, and every byte is reported once |
//! | `agreement` | behind a gate, every client model reads only calls that were released |

#![allow(clippy::panic, reason = "a body panics where a promise is broken")]

mod agreement;
mod decode;
mod drive;
mod edits;
mod framer;
mod lane;
mod plan;
mod seeds;
#[cfg(test)]
mod tests;
mod text_calls;
mod whole;

pub use agreement::agreement;
pub use decode::decode;
pub use edits::edits;
pub use framer::framer;
pub use lane::lane;
pub use plan::{Plan, split};
pub use seeds::each_seed;
pub use text_calls::text_calls;
pub use whole::whole;
