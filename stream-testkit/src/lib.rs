//! Chunk logs, replay, snapshots, laws and conformance checks for stream policies.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod conformance;
pub mod cut;
#[cfg(feature = "faults")]
pub mod faults;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzz;
#[cfg(all(any(doc, doctest), feature = "faults", feature = "laws", feature = "snapshots"))]
#[doc = include_str!("../docs/testing-policies.md")]
pub mod guide {}
mod kind;
#[cfg(feature = "laws")]
pub mod laws;
pub mod log;
pub mod logs;
#[cfg(feature = "laws")]
pub mod models;
#[cfg(feature = "laws")]
pub mod mutate;
mod partial_args;
mod random;
pub mod replay;
pub mod script;
pub mod second_turn;
#[cfg(feature = "server")]
pub mod server;
#[cfg(feature = "snapshots")]
mod snapshot;
#[cfg(feature = "strategies")]
pub mod strategies;
pub mod tap;
pub mod transcript;

pub use crate::cut::Cut;
pub use crate::kind::{UnknownWireKind, WireKind};
pub use crate::log::{ChunkLog, Form, LogError};
pub use crate::replay::{Replay, Replayed};
pub use crate::script::{Finish, Fragments, Script};
pub use crate::tap::Tap;
pub use crate::transcript::{Redact, Transcript};

/// Used by the macros.
#[cfg(feature = "snapshots")]
#[doc(hidden)]
pub mod __private {
    pub use crate::snapshot::Hint;
    pub use insta;
}
