//! Chunk logs, replay, snapshots, laws and conformance checks for stream policies.

pub mod conformance;
pub mod cut;
pub mod faults;
mod kind;
pub mod log;
mod random;
pub mod replay;
pub mod script;
pub mod second_turn;
#[cfg(feature = "server")]
pub mod server;

pub use crate::cut::Cut;
pub use crate::kind::{UnknownWireKind, WireKind};
pub use crate::log::{ChunkLog, Form, LogError};
pub use crate::replay::{Replay, Replayed};
pub use crate::script::{Finish, Fragments, Script};
