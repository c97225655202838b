//! Chunk logs, replay, snapshots, laws and conformance checks for stream policies.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod conformance;
pub mod cut;
pub mod faults;
#[cfg(any(doc, doctest))]
#[doc = include_str!("../docs/testing-policies.md")]
pub mod guide {}
mod kind;
pub mod laws;
pub mod log;
pub mod logs;
pub mod models;
pub mod mutate;
mod random;
pub mod replay;
pub mod script;
pub mod second_turn;
#[cfg(feature = "server")]
pub mod server;
mod snapshot;
#[cfg(feature = "proptest")]
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
#[doc(hidden)]
pub mod __private {
    pub use crate::snapshot::Hint;
    pub use insta;
}
