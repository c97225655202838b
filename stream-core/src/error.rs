//! Errors that close a stream.

use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

use crate::block::BlockKey;
use crate::sse::FrameTooLarge;
use crate::wire::DecodeError;

/// Any error, as hosts and policies bring it.
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// The error for which a stream was closed. [`ErrorKind`] lists the kinds and their outcome.
///
/// [`source`](StdError::source) is the cause, if there is one: the error of the upstream's transport, the error that a policy returned, or the reason
/// why a frame could not be read. Messages of this crate never quote the stream. Two errors are equal if kind and message are.
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

    /// Sets the source of the error.
    pub(crate) fn because(mut self, source: impl Into<Arc<dyn StdError + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The party at fault.
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

/// The party at fault for an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Origin {
    /// The upstream: the model API, or the connection to it.
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
/// Every kind has the same outcome. Held blocks are dropped and recorded. [`on_end`](crate::policy::Policy::on_end) of every policy is called with
/// [`End::Cut`](crate::policy::End::Cut), but for a policy that itself failed. The client gets the format's error event, and nothing after it.
///
/// | kind | when |
/// |---|---|
/// | `Malformed` | a frame is not JSON of the format, or a known key stands twice in one object, in any spelling that a lax parser accepts |
/// | `Ambiguous` | clients read different things from the frame, and none of them could be written for all ([rule 28](crate::guide::rules#rule-28)): a call of two kinds, a part of one call that belongs to another |
/// | `WrongFormat` | a frame is of another format than the named one, or a whole response is of no known format |
/// | `FrameTooLarge` | a frame exceeds [`Limits::frame`](crate::limits::Limits::frame) |
/// | `LateDelta` | a delta belongs to a block that was complete |
/// | `Renamed` | a later delta gives a call another name |
/// | `AfterTerminal` | a delta follows the terminal marker |
/// | `CopyDisagrees` | a copy differs from the deltas of its block |
/// | `Transport` | the upstream's bytes ended with an error |
/// | `Idle` | the upstream sent nothing for [`Limits::idle`](crate::limits::Limits::idle) |
/// | `PolicyFailed`, `PolicyPanicked`, `PolicyTimedOut` | a hook did not return `Ok` in time |
/// | `HeldLimit`, `BlockLimit`, `BlocksLimit`, `ChoicesLimit` | a limit was reached |
/// | `Host` | the host stopped the stream with its [handle](crate::processor::Handle) |
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

/// The error for a late delta.
pub(crate) fn late(key: BlockKey) -> Error {
    Error::new(
        ErrorKind::LateDelta,
        format!("expected no more of block {key}, which was complete, found a late delta"),
    )
}
