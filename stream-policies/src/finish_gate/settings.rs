//! Settings of the gate.

use std::time::Duration;

use serde::Deserialize;

/// Settings of a [`FinishGate`](super::FinishGate).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
#[must_use]
pub struct FinishGateSettings {
    /// When a call is released.
    pub release: Release,
    /// How long a call waits for its finish, from its last delta on; `None`: until the end.
    #[serde(deserialize_with = "crate::duration::optional")]
    pub deadline: Option<Duration>,
    /// What becomes of a call whose finish does not come.
    pub without_finish: WithoutFinish,
    /// Whether the terminal marker (`[DONE]`, `message_stop`) finishes the calls of a choice that has no finish reason.
    pub terminal_finishes: bool,
}

impl FinishGateSettings {
    /// When a call is released.
    pub fn release(mut self, when: Release) -> Self {
        self.release = when;
        self
    }

    /// How long a call waits for its finish, from its last delta on; `None`: until the end.
    pub fn deadline(mut self, time: Option<Duration>) -> Self {
        self.deadline = time;
        self
    }

    /// What becomes of a complete call whose finish does not come.
    pub fn without_finish(mut self, outcome: WithoutFinish) -> Self {
        self.without_finish = outcome;
        self
    }

    /// Whether the terminal marker finishes the calls of a choice that has no finish reason; true unless said otherwise.
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

/// When a call is released.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Release {
    /// When its choice has finished.
    #[default]
    Finished,
    /// When it is complete and was not cut off, which is known as soon as something else of its choice follows.
    Complete,
}

/// What becomes of a complete call whose finish does not come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WithoutFinish {
    /// It is dropped.
    #[default]
    Drop,
    /// It is released if its arguments are empty or one whole JSON value, else dropped.
    Release,
    /// The stream ends with an error.
    End,
}
