//! At which phrases, and how.

use serde::Deserialize;

use super::StopOn;
use crate::SettingsError;
use crate::matcher::Pattern;

/// The settings of [`StopOn`]. See the [module](super) for a table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[must_use]
pub struct StopOnSettings {
    pub(super) patterns: Vec<Pattern>,
    pub(super) places: Vec<StopPlace>,
    pub(super) ends: Ends,
    pub(super) message: String,
    pub(super) hold_limit: usize,
}

impl StopOnSettings {
    /// Adds a phrase or pattern.
    pub fn pattern(mut self, pattern: Pattern) -> Self {
        self.patterns.push(pattern);
        self
    }

    /// Looks in these places.
    pub fn places(mut self, places: impl IntoIterator<Item = StopPlace>) -> Self {
        self.places = places.into_iter().collect();
        self
    }

    /// Sets the end of a stream at a phrase.
    pub fn ends(mut self, ends: Ends) -> Self {
        self.ends = ends;
        self
    }

    /// A sentence for the client.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Sets the largest number of undecided bytes of one text.
    pub fn hold_limit(mut self, bytes: usize) -> Self {
        self.hold_limit = bytes;
        self
    }

    /// Compiles the patterns. The policy is cloned for each stream.
    ///
    /// # Errors
    ///
    /// When a pattern cannot be used, or nothing is looked for.
    pub fn build(self) -> Result<StopOn, SettingsError> {
        if self.patterns.is_empty() {
            return Err(SettingsError::new("stop_on.patterns", "a pattern", "none"));
        }
        if self.places.is_empty() {
            return Err(SettingsError::new("stop_on.places", "a place to look in", "none"));
        }
        StopOn::new(self)
    }
}

impl Default for StopOnSettings {
    fn default() -> Self {
        Self {
            patterns: Vec::new(),
            places: vec![StopPlace::Content],
            ends: Ends::default(),
            message: "the answer was stopped".to_owned(),
            hold_limit: 64 << 10,
        }
    }
}

/// The places that are searched for phrases.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopPlace {
    /// The answer for the user.
    Content,
    /// Reasoning, thinking, thoughts.
    Reasoning,
    /// Refusals in the model's words.
    Refusal,
}

/// The end of a stream at a phrase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ends {
    /// With the API's refusal.
    #[default]
    Refuse,
    /// With the API's error.
    Error,
    /// The rest of the choice is dropped; the upstream's own ending is written.
    Silently,
}
