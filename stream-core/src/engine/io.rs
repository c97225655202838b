//! What passes between the engine and its host.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use super::hook::Hook;
use super::judging::Judging;
use crate::block::BlockKey;
use crate::engine::accounts::Ticket;
use crate::policy::{PolicyError, Verdict};
use crate::wire::Ending;

/// What a host tells the engine.
#[derive(Debug)]
#[non_exhaustive]
pub enum Input {
    /// Bytes of the upstream came.
    Bytes(Bytes),
    /// A whole, not streamed, response came. It leaves as a whole response (rule 24).
    Whole(Bytes),
    /// The upstream's bytes have ended.
    End,
    /// The upstream's bytes have ended with this error in transport.
    Broken(String),
    /// A judge has answered.
    Verdict(Ticket, Result<Verdict, Failure>),
    /// The time of [`Output::Wait`] has come.
    Time,
    /// The host drops what is held of a block, whatever its policy is waiting for.
    Drop(BlockKey),
    /// The host drops what is held of the call with this id, in whichever stage holds it.
    DropCall(String),
    /// The host ends the stream.
    Stop(Ending),
}

/// What the engine wants of its host.
#[derive(Debug)]
pub enum Output<'e> {
    /// Bytes for the client.
    Bytes(Bytes),
    /// A hook to call.
    Hook(Hook<'e>),
    /// A judge to poll beside the stream; its answer is [`Input::Verdict`].
    Judge(Judging),
    /// Nothing, until there is input.
    Wait {
        /// When the host is to say [`Input::Time`], if nothing else comes before; a time since the stream started.
        until: Option<Duration>,
        /// Whether bytes of the upstream are of use now. Not while the held limit is reached and a verdict is pending
        /// (rule 13).
        reads: bool,
    },
    /// The stream is over: there is no more output.
    Done,
}

/// What there is to do inside of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// `on_chunk` of this stage's policy is due.
    Chunk(usize),
    /// `on_end` of this stage's policy is due.
    End(usize),
    /// `on_abort` of this stage's policy is due.
    Abort(usize),
    /// There is nothing to do without input.
    Wait,
    /// The stream is over.
    Done,
}

/// Why a hook did not return `Ok`, or a judge gave no verdict.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// It returned an error.
    Failed(PolicyError),
    /// It panicked.
    Panicked,
    /// It took longer than its [time limit](Hook::time_limit).
    TimedOut,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => error.fmt(f),
            Self::Panicked => f.write_str("a panic"),
            Self::TimedOut => f.write_str("no answer in time"),
        }
    }
}
