//! What is wrong with a configuration, and where.

use std::fmt;
use std::ops::Range;

use stream_policies::config::ConfigError;

/// What is wrong. It displays as `line 3, column 5: …`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(String);

impl Fault {
    /// At a place of the text.
    pub(crate) fn at(text: &str, span: &Range<usize>, message: impl fmt::Display) -> Self {
        let before = text.get(..span.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self(format!("line {line}, column {column}: {message}"))
    }

    /// Somewhere that has told its own place.
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }

    /// What the parser found.
    pub(crate) fn of_toml(text: &str, error: &toml::de::Error) -> Self {
        match error.span() {
            Some(span) => Self::at(text, &span, error.message()),
            None => Self::new(error.message()),
        }
    }
}

impl From<ConfigError> for Fault {
    fn from(error: ConfigError) -> Self {
        Self(error.to_string())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
