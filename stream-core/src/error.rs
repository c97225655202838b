//! What can go wrong with a stream, and whose fault it is.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::block::BlockKey;
use crate::sse::FrameTooLarge;
use crate::wire::DecodeError;

/// Why a stream was closed. Every kind has one outcome, in the table of [`ErrorKind`].
///
/// [`source`](StdError::source) is the error behind it, where there is one: what a policy returned, or why a frame could not be read. Two
/// errors are equal if they have the same kind and say the same.
#[derive(Debug, Clone)]
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same error, with the one behind it.
    pub(crate) fn because(mut self, source: impl Into<Arc<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What went wrong.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Whose fault it is.
    #[must_use]
    pub fn origin(&self) -> Origin {
        match self.kind {
            ErrorKind::Malformed
            | ErrorKind::Ambiguous
            | ErrorKind::WrongFormat
            | ErrorKind::FrameTooLarge
            | ErrorKind::LateDelta
            | ErrorKind::Renamed
            | ErrorKind::AfterTerminal
            | ErrorKind::CopyDisagrees
            | ErrorKind::Transport
            | ErrorKind::Idle => Origin::Upstream,
            ErrorKind::PolicyFailed | ErrorKind::PolicyPanicked | ErrorKind::PolicyTimedOut => Origin::Policy,
            ErrorKind::HeldLimit
            | ErrorKind::BlockLimit
            | ErrorKind::BlocksLimit
            | ErrorKind::ChoicesLimit => Origin::Limit,
            ErrorKind::Host => Origin::Host,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin(), self.message)
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl PartialEq for Error {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind && self.message == other.message
    }
}

impl Eq for Error {}

impl From<FrameTooLarge> for Error {
    fn from(error: FrameTooLarge) -> Self {
        Self::new(ErrorKind::FrameTooLarge, error.to_string()).because(Arc::new(error) as Arc<_>)
    }
}

impl From<DecodeError> for Error {
    fn from(error: DecodeError) -> Self {
        let kind = if error.is_ambiguous() { ErrorKind::Ambiguous } else { ErrorKind::Malformed };
        Self::new(kind, error.to_string()).because(Arc::new(error) as Arc<_>)
    }
}

/// Whose fault an [`Error`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The model's side.
    Upstream,
    /// A policy.
    Policy,
    /// A [limit](crate::limits::Limits) was reached.
    Limit,
    /// The host ended the stream.
    Host,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Upstream => "upstream",
            Self::Policy => "policy",
            Self::Limit => "limit",
            Self::Host => "host",
        })
    }
}

/// The kinds of errors.
///
/// The outcome is the same for all: what is held is dropped and recorded, every policy's
/// [`on_end`](crate::policy::Policy::on_end) is called with [`End::Cut`](crate::policy::End::Cut) (a policy that itself
/// failed is not called again), the client gets the format's error event, and nothing after it.
///
/// | kind | when |
/// |---|---|
/// | `Malformed` | a frame is not JSON of the format, or a known key stands twice in one object, in whatever spelling a lax parser takes |
/// | `Ambiguous` | what came has no single meaning that could be written (rule 28): a call of two kinds, a part of one call that belongs to another |
/// | `WrongFormat` | a frame is of another format than the one that was named, or a whole response is of none |
/// | `FrameTooLarge` | a frame is over [`Limits::frame`](crate::limits::Limits::frame) |
/// | `LateDelta` | a delta for a block that was complete |
/// | `Renamed` | a later delta gives a call another name |
/// | `AfterTerminal` | a delta after the terminal marker |
/// | `CopyDisagrees` | a restatement says something else than the deltas did |
/// | `Transport` | the upstream's bytes ended with an error |
/// | `Idle` | the upstream was silent for too long |
/// | `PolicyFailed`, `PolicyPanicked`, `PolicyTimedOut` | a hook did not return `Ok` in time |
/// | `HeldLimit`, `BlockLimit`, `BlocksLimit`, `ChoicesLimit` | a limit was reached |
/// | `Host` | the host ended the stream through its [handle](crate::processor::Handle) |
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum ErrorKind {
    Malformed,
    Ambiguous,
    WrongFormat,
    FrameTooLarge,
    LateDelta,
    Renamed,
    AfterTerminal,
    CopyDisagrees,
    Transport,
    Idle,
    PolicyFailed,
    PolicyPanicked,
    PolicyTimedOut,
    HeldLimit,
    BlockLimit,
    BlocksLimit,
    ChoicesLimit,
    Host,
}

/// A sentence on a late delta.
pub(crate) fn late(key: BlockKey) -> Error {
    Error::new(
        ErrorKind::LateDelta,
        format!("expected no more of block {key}, which was complete, found a late delta"),
    )
}
