//! Settings of the judge.

use serde::Deserialize;

/// Settings of a [`BufferedJudge`](super::BufferedJudge).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
#[must_use]
pub struct BufferedJudgeSettings {
    /// The message of an ending after a denial. `{reason}` stands for the judge's reason.
    pub message: String,
}

impl BufferedJudgeSettings {
    /// Sets the message of an ending after a denial.
    pub fn message(mut self, text: impl Into<String>) -> Self {
        self.message = text.into();
        self
    }
}

impl Default for BufferedJudgeSettings {
    fn default() -> Self {
        Self { message: "{reason}".to_owned() }
    }
}
