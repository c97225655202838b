//! How much is enough.

use std::time::Duration;

use serde::Deserialize;

use super::Quota;
use crate::SettingsError;

/// The settings of [`Quota`]. See the [module](super) for a table.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct QuotaSettings {
    pub(super) bytes: Option<usize>,
    pub(super) blocks: Option<usize>,
    pub(super) calls: Option<usize>,
    pub(super) seconds: Option<f64>,
    pub(super) message: String,
    pub(super) error: bool,
}

impl QuotaSettings {
    /// The most bytes of text and arguments.
    pub fn bytes(mut self, bytes: usize) -> Self {
        self.bytes = Some(bytes);
        self
    }

    /// The most blocks.
    pub fn blocks(mut self, blocks: usize) -> Self {
        self.blocks = Some(blocks);
        self
    }

    /// The most tool calls.
    pub fn calls(mut self, calls: usize) -> Self {
        self.calls = Some(calls);
        self
    }

    /// The longest time since the stream started.
    pub fn time(mut self, time: Duration) -> Self {
        self.seconds = Some(time.as_secs_f64());
        self
    }

    /// A sentence for the client.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Ends with the API's error, rather than its refusal.
    pub fn error(mut self) -> Self {
        self.error = true;
        self
    }

    /// The policy; it is cloned for each stream.
    ///
    /// # Errors
    ///
    /// When nothing is limited, or the time is none.
    pub fn build(self) -> Result<Quota, SettingsError> {
        let limited = self.bytes.is_some() || self.blocks.is_some() || self.calls.is_some();
        if !limited && self.seconds.is_none() {
            return Err(SettingsError::new(
                "quota",
                "`bytes`, `blocks`, `calls` or `seconds`",
                "none of them",
            ));
        }
        let time = self.seconds.map(|seconds| {
            Duration::try_from_secs_f64(seconds)
                .map_err(|_| SettingsError::new("quota.seconds", "a number of seconds", seconds.to_string()))
        });
        Ok(Quota::new(time.transpose()?, self))
    }
}

impl Default for QuotaSettings {
    fn default() -> Self {
        Self {
            bytes: None,
            blocks: None,
            calls: None,
            seconds: None,
            message: "the answer exceeded a quota".to_owned(),
            error: false,
        }
    }
}
