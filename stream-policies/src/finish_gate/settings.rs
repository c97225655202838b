//! Settings of the gate.

use std::time::Duration;

use serde::Deserialize;

/// Settings of a [`FinishGate`](super::FinishGate).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
#[must_use]
pub struct FinishGateSettings {
    /// The condition under which a call is released.
    pub release: Release,
    /// The time that a call waits for its finish, from its last delta on; `None` for no limit before the end of the stream.
    #[serde(deserialize_with = "crate::duration::optional")]
    pub deadline: Option<Duration>,
    /// The outcome of a complete call without a finish.
    pub without_finish: WithoutFinish,
    /// `true` if the terminal marker (`[DONE]`, `message_stop`) finishes the calls of a choice that has no finish reason.
    pub terminal_finishes: bool,
}

impl FinishGateSettings {
    /// Sets the condition under which a call is released.
    pub fn release(mut self, when: Release) -> Self {
        self.release = when;
        self
    }

    /// Sets the time that a call waits for its finish, from its last delta on; `None` for no limit before the end of the stream.
    pub fn deadline(mut self, time: Option<Duration>) -> Self {
        self.deadline = time;
        self
    }

    /// Sets the outcome of a complete call without a finish.
    pub fn without_finish(mut self, outcome: WithoutFinish) -> Self {
        self.without_finish = outcome;
        self
    }

    /// Sets whether the terminal marker finishes the calls of a choice that has no finish reason; `true` by default.
    pub fn terminal_finishes(mut self, finishes: bool) -> Self {
        self.terminal_finishes = finishes;
        self
    }
}

impl Default for FinishGateSettings {
    fn default() -> Self {
        Self {
            release: Release::Finished,
            deadline: Some(Duration::from_secs(60)),
            without_finish: WithoutFinish::Drop,
            terminal_finishes: true,
        }
    }
}

/// The condition under which a call is released.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Release {
    /// The choice of the call has finished.
    #[default]
    Finished,
    /// The call is complete and was not cut off, which is known as soon as another delta of its choice follows.
    Complete,
}

/// The outcome of a complete call without a finish.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WithoutFinish {
    /// The call is dropped.
    #[default]
    Drop,
    /// The call is released if its arguments are empty or one whole JSON value, else dropped.
    Release,
    /// The stream ends with an error.
    End,
}
