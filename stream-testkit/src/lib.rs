//! Chunk logs, replay, snapshots, laws and conformance checks for stream policies.

pub mod conformance;
pub mod cut;
mod kind;
pub mod laws;
pub mod log;
mod random;
pub mod replay;
pub mod script;
#[cfg(feature = "proptest")]
pub mod strategies;

pub use crate::cut::Cut;
pub use crate::kind::{UnknownWireKind, WireKind};
pub use crate::log::{ChunkLog, Form, LogError};
pub use crate::replay::{Replay, Replayed};
pub use crate::script::{Finish, Fragments, Script};
