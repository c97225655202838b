//! What clients are told of an answer that a policy ends with an error.

use serde::Deserialize;
use stream_core::Config;

use crate::SettingsError;

/// The table `blocked` of a policy file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct BlockedSettings {
    code: Option<String>,
    #[serde(rename = "type")]
    error_type: Option<String>,
}

impl BlockedSettings {
    /// Checks the words.
    pub(crate) fn check(&self) -> Result<(), SettingsError> {
        for (key, word) in [("code", &self.code), ("type", &self.error_type)] {
            if word.as_ref().is_some_and(|word| word.trim().is_empty()) {
                return Err(SettingsError::new(key, "a word for clients", "none"));
            }
        }
        match self {
            Self { code: None, error_type: None } => Err(SettingsError::new("", "`code` or `type`", "none")),
            _ => Ok(()),
        }
    }

    /// A stream's settings with these words.
    pub(crate) fn configure(&self, mut config: Config) -> Config {
        if let Some(code) = &self.code {
            config = config.error_code(code);
        }
        if let Some(error_type) = &self.error_type {
            config = config.error_type(error_type);
        }
        config
    }
}
