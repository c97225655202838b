//! Which dialect.

use serde::Deserialize;

use super::DemoteCalls;
use crate::SettingsError;
use crate::rewrite_tags::named;

/// The settings of [`DemoteCalls`]. See the [module](super) for a table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
#[must_use]
pub struct DemoteCallsSettings {
    dialect: String,
}

impl DemoteCallsSettings {
    /// Calls leave in the dialect of this name.
    pub fn dialect(name: impl Into<String>) -> Self {
        Self { dialect: name.into() }
    }

    /// The policy; it is cloned for each stream.
    ///
    /// # Errors
    ///
    /// When the dialect is not known.
    pub fn build(self) -> Result<DemoteCalls, SettingsError> {
        Ok(DemoteCalls::to(named(&self.dialect)?))
    }
}
