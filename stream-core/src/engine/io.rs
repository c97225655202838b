//! The inputs and outputs of the engine.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;

use super::hook::Hook;
use super::judging::Judging;
use crate::block::BlockKey;
use crate::engine::accounts::Ticket;
use crate::error::BoxError;
use crate::policy::{PolicyError, Verdict};
use crate::wire::Ending;

/// The input of the engine, from its host.
#[derive(Debug)]
#[non_exhaustive]
pub enum Input {
    /// A read: bytes of the upstream.
    Bytes(Bytes),
    /// A response that is not streamed. The output is one whole response, too ([rule 24](crate::guide::rules#rule-24)).
    Whole(Bytes),
    /// The end of the upstream.
    End,
    /// The end of the upstream by an error in transport.
    Broken(BoxError),
    /// The verdict of a judge, or its failure.
    Verdict(Ticket, Result<Verdict, Failure>),
    /// The time of [`Output::Wait`] is over.
    Time,
    /// A command of the host: the held parts of a block are dropped, whatever its policy waits for.
    Drop(BlockKey),
    /// A command of the host: the held parts of the call with this id are dropped, in whichever stage holds it.
    DropCall(String),
    /// A command of the host: the stream ends.
    Stop(Ending),
}

/// The output of the engine: the next thing for its host to do. A host cannot go on behind an output that it does not know: it ends the
/// stream.
#[derive(Debug)]
#[non_exhaustive]
pub enum Output<'e> {
    /// Bytes for the client.
    Bytes(Bytes),
    /// A hook to call.
    Hook(Hook<'e>),
    /// A judge to poll while the stream is read on. The output of the future becomes [`Input::Verdict`].
    Judge(Judging),
    /// Nothing to do until there is input.
    Wait {
        /// The time at which the engine needs [`Input::Time`], unless it gets another input before; counted from the start of the stream.
        until: Option<Duration>,
        /// `true` if the engine takes bytes of the upstream now. `false` while the held limit is reached and a verdict is pending
        /// ([rule 13](crate::guide::rules#rule-13)).
        reads: bool,
    },
    /// The end of the stream: no output follows.
    Done,
}

/// The next work of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Work {
    /// `on_chunk` of this stage's policy is due.
    Chunk(usize),
    /// `on_end` of this stage's policy is due.
    End(usize),
    /// `on_abort` of this stage's policy is due.
    Abort(usize),
    /// Nothing can be done without input.
    Wait,
    /// The stream is over.
    Done,
}

/// The failure of a hook or a judge.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The hook or judge returned an error.
    Failed(PolicyError),
    /// The hook or judge panicked.
    Panicked,
    /// The hook or judge exceeded its [time limit](Hook::time_limit).
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

impl std::error::Error for Failure {
    /// The source of the error that the hook or judge returned; [`Display`](fmt::Display) shows that error itself.
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Failed(error) => error.source(),
            Self::Panicked | Self::TimedOut => None,
        }
    }
}
