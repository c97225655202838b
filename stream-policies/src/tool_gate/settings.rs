//! Settings of the gate.

use std::time::Duration;

use serde::Deserialize;

/// Settings of a [`ToolGate`](super::ToolGate).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
#[must_use]
pub struct ToolGateSettings {
    /// The outcome of a denied call.
    pub on_deny: OnDeny,
    /// A text for the client in place of a dropped call, where the format has a place for it and the judge has no
    /// notice of its own. `{reason}` in it is the judge's reason.
    pub notice: Option<String>,
    /// The message of an ending. `{reason}` stands for the judge's reason.
    pub message: String,
    /// The time limit of a judge; by default that of the policy.
    #[serde(deserialize_with = "crate::duration::optional")]
    pub deadline: Option<Duration>,
}

impl ToolGateSettings {
    /// Sets the outcome of a denied call.
    pub fn on_deny(mut self, outcome: OnDeny) -> Self {
        self.on_deny = outcome;
        self
    }

    /// A text for the client in place of a dropped call.
    pub fn notice(mut self, text: impl Into<String>) -> Self {
        self.notice = Some(text.into());
        self
    }

    /// Sets the message of an ending.
    pub fn message(mut self, text: impl Into<String>) -> Self {
        self.message = text.into();
        self
    }

    /// Sets the time limit of a judge.
    pub fn deadline(mut self, time: Duration) -> Self {
        self.deadline = Some(time);
        self
    }
}

impl Default for ToolGateSettings {
    fn default() -> Self {
        Self {
            on_deny: OnDeny::Drop,
            notice: None,
            message: "a tool call was not allowed".to_owned(),
            deadline: None,
        }
    }
}

/// The outcome of a denied call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OnDeny {
    /// The stream goes on without it.
    #[default]
    Drop,
    /// The stream ends there, with the API's own refusal where it can, else with its error.
    End,
}
