//! What can go wrong with an upstream.

use std::fmt;
use std::time::Duration;

use super::garbage::Garbage;

/// A fault of an upstream. Bytes and events are counted from 0, in the stream that the faults before it left.
///
/// Displays as a short name that tells it from others: `break at 120`, `swap 3 and 4`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fault {
    /// The bytes end, as if that were all: a proxy that closes the response properly.
    End {
        /// How many bytes come.
        at: usize,
    },
    /// The transport breaks: a [`FaultError`](super::FaultError) follows the bytes.
    Break {
        /// How many bytes come.
        at: usize,
    },
    /// The upstream pauses.
    Stall {
        /// How many bytes come before.
        at: usize,
        /// How long the silence is, on top of the log's own.
        lasts: Duration,
    },
    /// The upstream stops sending, and the connection stays open.
    Hang {
        /// How many bytes come.
        at: usize,
    },
    /// The upstream sends an event twice in a row.
    Repeat {
        /// Which.
        event: usize,
    },
    /// Two events change places.
    Swap {
        /// The one.
        one: usize,
        /// The other.
        other: usize,
    },
    /// The upstream sends garbage before an event.
    Garbage {
        /// Before which; as many as there are events for the end.
        event: usize,
        /// What comes.
        garbage: Garbage,
    },
    /// The upstream sends an event of this length before another.
    Oversized {
        /// Before which; as many as there are events for the end.
        event: usize,
        /// How many bytes it has, its border included. Never less than an empty event has.
        bytes: usize,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::End { at } => write!(f, "end at {at}"),
            Self::Break { at } => write!(f, "break at {at}"),
            Self::Stall { at, lasts } => write!(f, "stall at {at} for {lasts:?}"),
            Self::Hang { at } => write!(f, "hang at {at}"),
            Self::Repeat { event } => write!(f, "repeat {event}"),
            Self::Swap { one, other } => write!(f, "swap {one} and {other}"),
            Self::Garbage { event, garbage } => write!(f, "{garbage} before {event}"),
            Self::Oversized { event, bytes } => write!(f, "{bytes} bytes before {event}"),
        }
    }
}
