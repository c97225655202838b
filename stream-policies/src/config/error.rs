//! What is wrong with a policy file.

use std::fmt;

use super::nearest::nearest;

/// An error in a policy file: the place, what was expected, what was found, and the name that was probably meant.
///
/// It quotes names (kinds, keys, choices) and never a pattern, a literal or a header: a file may hold the very secrets
/// that are to be redacted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError(Box<Fault>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Fault {
    place: Option<Place>,
    path: String,
    message: String,
    meant: Option<String>,
    /// Where a key was not known: those that are, and the one that was found.
    unknown_key: Option<(Vec<String>, String)>,
}

/// A place in a text, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub struct Place {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl ConfigError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        let fault = Fault {
            place: None,
            path: String::new(),
            message: message.into(),
            meant: None,
            unknown_key: None,
        };
        Self(Box::new(fault))
    }

    /// A name that is not known, with those that are.
    pub(crate) fn unknown(what: &str, found: &str, known: &[&str]) -> Self {
        let message = match known {
            [] => format!("expected no {what}, found {found:?}"),
            known => format!("expected a {what} out of {}, found {found:?}", known.join(", ")),
        };
        let meant = nearest(found, known.iter().copied()).map(str::to_owned);
        let names = || (known.iter().map(|name| (*name).to_owned()).collect(), found.to_owned());
        let mut error = Self::new(message);
        error.0.meant = meant;
        error.0.unknown_key = (what == "key").then(names);
        error
    }

    /// The place of the error, if the format of the file has one.
    #[must_use]
    pub fn place(&self) -> Option<Place> {
        self.0.place
    }

    /// The path of keys to it: `policy[2].places[0]`.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.0.path
    }

    /// The name that was probably meant.
    #[must_use]
    pub fn meant(&self) -> Option<&str> {
        self.0.meant.as_deref()
    }

    /// Seen from further out: adds to the path, and the place if none is known.
    pub(crate) fn within(mut self, outer: &str, place: Option<Place>) -> Self {
        self.0.path = match self.0.path.as_str() {
            "" => outer.to_owned(),
            inner if inner.starts_with('[') => format!("{outer}{inner}"),
            inner => format!("{outer}.{inner}"),
        };
        self.0.place = self.0.place.or(place);
        self
    }

    pub(crate) fn unknown_key(&self) -> Option<(Vec<String>, String)> {
        self.0.unknown_key.clone()
    }

    pub(crate) fn at(mut self, place: Option<Place>) -> Self {
        self.0.place = place;
        self
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.0.place {
            write!(f, "{place}: ")?;
        }
        if !self.0.path.is_empty() {
            write!(f, "{}: ", self.0.path)?;
        }
        f.write_str(&self.0.message)?;
        match &self.0.meant {
            Some(meant) => write!(f, "; did you mean {meant:?}?"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

impl std::error::Error for ConfigError {}

impl serde::de::Error for ConfigError {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    // The type is told, the value is not.
    fn invalid_type(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::new(format!("expected {expected}, found {}", kind(&found)))
    }

    fn invalid_value(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Self {
        Self::new(format!("expected {expected}, found another {}", noun(&found)))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("key", field, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::unknown("value", variant, expected)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new(format!("expected the key {field}, found none"))
    }

    fn duplicate_field(field: &'static str) -> Self {
        Self::new(format!("expected the key {field} once, found it twice"))
    }
}

fn kind(found: &serde::de::Unexpected<'_>) -> String {
    match noun(found) {
        noun @ ("integer" | "enum") => format!("an {noun}"),
        noun => format!("a {noun}"),
    }
}

fn noun(found: &serde::de::Unexpected<'_>) -> &'static str {
    use serde::de::Unexpected;
    match found {
        Unexpected::Bool(_) => "boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "integer",
        Unexpected::Float(_) => "number",
        Unexpected::Str(_) | Unexpected::Char(_) | Unexpected::Bytes(_) => "string",
        Unexpected::Seq => "list",
        Unexpected::Map => "table",
        Unexpected::Unit | Unexpected::Option => "null",
        _ => "value of another type",
    }
}
