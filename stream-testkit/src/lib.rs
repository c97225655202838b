//! Tests for stream policies: chunk logs, replay in virtual time, snapshots, laws and conformance checks.
//!
//! A [`Script`] is an answer in every wire format, a [`ChunkLog`] a recorded one. [`Replay`] runs policies over either, on a virtual
//! clock, and gives the bytes, the decisions, a [`Transcript`] and the view of a strict client:
//!
//! ```
//! use stream_core::{Verdict, each_call};
//! use stream_testkit::{Cut, Replay, Script, WireKind};
//!
//! let gate = || each_call(|_, _| Verdict::drop("no calls"));
//! let script = Script::new().text("On it.").call("call_1", "rm", "{}");
//! for kind in WireKind::ALL {
//!     let replay = Replay::new(script.to_log(kind)).policy(gate);
//!     let view = replay.run().view();
//!     assert_eq!((view.choices[0].content.as_str(), view.choices[0].calls.len()), ("On it.", 0));
//!     // The cuts of the network change nothing.
//!     assert_eq!(replay.clone().cut(Cut::Byte).run().view(), view);
//! }
//! ```
//!
//! | module | what it has |
//! |---|---|
//! | [`script`], [`log`], [`logs`], [`tap`] | answers: scripted, loaded, the kit's own in the shapes of providers, recorded from a gateway |
//! | [`replay`], [`transcript`], [`cut`] | runs, their transcripts, and cuts |
//! | [`conformance`], [`second_turn`] | the rules of each format and of the next request, sharing no reader or writer with `stream-core` |
//! | `laws`, `models`, `mutate` (feature `laws`) | what every policy keeps; models of clients; mutated streams |
//! | `faults`, `strategies`, `server` (features of the same names) | broken upstreams, generators for proptest, a scripted HTTP upstream |

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod conformance;
pub mod cut;
mod differing;
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
mod named;
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
pub use crate::differing::differing_paths;
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
