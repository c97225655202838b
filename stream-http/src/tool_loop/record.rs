//! What is told of every call that was run.

use std::fmt;
use std::time::Duration;

use crate::{Api, Facts};

/// A call that was run: never its arguments, never its result.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Run {
    /// The offered tool, or the glob that took the call over: what the model wrote in its place is not told.
    pub tool: String,
    /// The API of the request.
    pub api: Api,
    /// Which turn of the loop, from 1.
    pub iteration: u32,
    /// How long the call ran.
    pub took: Duration,
    /// What became of it.
    pub outcome: RunOutcome,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum RunOutcome {
    /// The tool answered.
    Ok,
    /// The tool answered, and the model got as much of it as the limit allows.
    Cut,
    /// The tool failed, or panicked.
    Failed,
    /// The deadline passed.
    TimedOut,
    /// The client went away, or the loop ended.
    Cancelled,
    /// The arguments were not whole, or could be read in two ways: the call was not run.
    Refused,
}

impl fmt::Display for RunOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ok => "ok",
            Self::Cut => "cut",
            Self::Failed => "failed",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Refused => "refused",
        })
    }
}

/// Is told of every run, and of the request it was for.
pub(super) type Observe = dyn Fn(&Run, &Facts) + Send + Sync;
