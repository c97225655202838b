//! Strategies for [`proptest`](mod@proptest): streams of every format, and the cuts they come in.
//!
//! What they make shrinks: to fewer items, shorter texts, coarser fragments, and the plainest cut.
//!
//! ```
//! use proptest::prelude::*;
//! use stream_testkit::strategies;
//!
//! proptest!(|(log in strategies::logs(), cut in strategies::cuts())| {
//!     let pieces: Vec<_> = cut.apply(&log).into_iter().flat_map(|(_, bytes)| bytes).collect();
//!     prop_assert_eq!(pieces, log.bytes().to_vec());
//! });
//! ```

mod cuts;
mod scripts;
mod values;

use proptest::prelude::*;

pub use self::cuts::cuts;
pub use self::scripts::{broken_off_scripts, scripts};
pub use self::values::{arguments, names, texts};
use crate::{ChunkLog, WireKind};

/// Any format.
pub fn kinds() -> impl Strategy<Value = WireKind> {
    prop::sample::select(WireKind::ALL.to_vec())
}

/// Streams of any format that come to their end.
pub fn logs() -> impl Strategy<Value = ChunkLog> {
    (scripts(), kinds()).prop_map(|(script, kind)| script.to_log(kind))
}

/// Streams of any format that break off or report an error.
pub fn broken_off_logs() -> impl Strategy<Value = ChunkLog> {
    (broken_off_scripts(), kinds()).prop_map(|(script, kind)| script.to_log(kind))
}
