//! What is wrong with a setting.

use std::fmt;

/// A setting that cannot be used: its place, what was expected there, and what was found.
///
/// ```
/// use stream_policies::judge::rules::{Otherwise, Rule, RulesSettings};
///
/// let error = RulesSettings::otherwise(Otherwise::Deny).allow(Rule::tools(["read_[ab]"])).build().unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "allow[0].tools[0]: expected a glob of text, * and ?, found '[' in it (a regex can say more)"
/// );
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    at: String,
    expected: String,
    found: String,
}

impl SettingsError {
    /// Creates an error from the place and both sides.
    #[must_use]
    pub fn new(at: impl Into<String>, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self { at: at.into(), expected: expected.into(), found: found.into() }
    }

    /// Prefixes the place of the error with an outer key.
    #[must_use]
    pub fn within(mut self, outer: &str) -> Self {
        self.at = match self.at.as_str() {
            "" => outer.to_owned(),
            inner => format!("{outer}.{inner}"),
        };
        self
    }

    /// Sets the place of the error.
    #[must_use]
    pub fn moved(mut self, at: impl Into<String>) -> Self {
        self.at = at.into();
        self
    }

    /// The place of the setting.
    #[must_use]
    pub fn at(&self) -> &str {
        &self.at
    }
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.at.is_empty() {
            write!(f, "{}: ", self.at)?;
        }
        write!(f, "expected {}, found {}", self.expected, self.found)
    }
}

impl std::error::Error for SettingsError {}
