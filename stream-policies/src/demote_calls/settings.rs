//! Which dialect.

use serde::Deserialize;

use super::DemoteCalls;
use crate::SettingsError;
use crate::dialects::{DialectSettings, named};

/// The settings of [`DemoteCalls`]. See the [module](super) for a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct DemoteCallsSettings {
    dialect: Option<String>,
    own: Option<Box<DialectSettings>>,
}

impl DemoteCallsSettings {
    /// Creates settings for calls in the dialect of this name.
    pub fn dialect(name: impl Into<String>) -> Self {
        Self { dialect: Some(name.into()), own: None }
    }

    /// The policy; it is cloned for each stream.
    ///
    /// # Errors
    ///
    /// When the dialect is not known.
    pub fn build(self) -> Result<DemoteCalls, SettingsError> {
        let dialect = match (self.dialect, self.own) {
            (Some(name), None) => named(&name)?,
            (None, Some(own)) => own.build_to_write().map_err(|error| error.within("own"))?,
            (None, None) => return Err(SettingsError::new("demote-calls", "`dialect` or `own`", "neither")),
            (Some(_), Some(_)) => {
                return Err(SettingsError::new("demote-calls", "`dialect` or `own`", "both"));
            }
        };
        Ok(DemoteCalls::to(dialect))
    }
}
