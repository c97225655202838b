//! Which notices.

use serde::Deserialize;

use super::Inject;
use crate::SettingsError;

/// The settings of [`Inject`]. See the [module](super) for a table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct InjectSettings {
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    pub(super) required: bool,
}

impl InjectSettings {
    /// Sets the text before the first content or call of a choice.
    pub fn before(mut self, text: impl Into<String>) -> Self {
        self.before = Some(text.into());
        self
    }

    /// Text before a choice's finish.
    pub fn after(mut self, text: impl Into<String>) -> Self {
        self.after = Some(text.into());
        self
    }

    /// Ends the stream with an error where there is no place for a notice.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The policy; it is cloned for each stream.
    ///
    /// # Errors
    ///
    /// When there is no notice, or an empty one.
    pub fn build(self) -> Result<Inject, SettingsError> {
        if self.before.is_none() && self.after.is_none() {
            return Err(SettingsError::new("inject", "`before` or `after`", "neither"));
        }
        let is_empty = |text: &Option<String>| text.as_ref().is_some_and(String::is_empty);
        if is_empty(&self.before) || is_empty(&self.after) {
            return Err(SettingsError::new("inject", "a notice", "an empty one"));
        }
        Ok(Inject::new(self))
    }
}
