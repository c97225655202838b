//! What is looked for.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Deserialize;

use super::context::Lead;
use crate::SettingsError;

/// A regex or a literal, with the name under which hits are recorded.
///
/// ```
/// use stream_policies::Pattern;
///
/// let ticket = Pattern::regex("ticket", "TCK-[0-9]{6}");
/// let name = Pattern::literal("code name", "Bluebird").ignore_case();
/// assert_eq!((ticket.name(), name.name()), ("ticket", "code name"));
/// ```
///
/// In a file: `{ name = "ticket", regex = "TCK-[0-9]{6}" }` or
/// `{ name = "code name", literal = "Bluebird", ignore_case = true }`.
///
/// # Regexes
///
/// The syntax is that of the `regex` crate, without the Unicode word boundary: write `(?-u:\b)`. Prefer `[0-9]` to `\d`
/// and `[A-Za-z0-9_]` to `\w`: with all of Unicode's digits and letters the compiled pattern is many times larger. A
/// pattern that can match the empty text is refused, since it would match everywhere.
///
/// `\A` and `\z` are the start and the end of all text of a channel, `(?m:^)` and `(?m:$)` those of a line.
#[derive(Clone, Deserialize)]
#[serde(try_from = "Raw")]
#[must_use]
pub struct Pattern {
    name: Arc<str>,
    pub(super) what: What,
    pub(super) check: Option<Check>,
    pub(super) lead: Lead,
    /// It is known that little text is read in vain where it begins.
    pub(super) preset: bool,
}

/// Says which stretch of a match counts, if any does: a checksum.
pub(crate) type Check = fn(&str) -> Option<Range<usize>>;

#[derive(Clone, PartialEq, Eq)]
pub(super) enum What {
    Regex(String),
    Literal { text: String, ignore_case: bool },
}

impl Pattern {
    /// A regex.
    pub fn regex(name: &str, regex: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            what: What::Regex(regex.into()),
            check: None,
            lead: Lead::Any,
            preset: false,
        }
    }

    /// A literal.
    pub fn literal(name: &str, literal: impl Into<String>) -> Self {
        let what = What::Literal { text: literal.into(), ignore_case: false };
        Self { name: name.into(), what, check: None, lead: Lead::Any, preset: false }
    }

    /// Takes upper and lower case of ASCII letters in a literal for the same. A regex says `(?i)`.
    pub fn ignore_case(mut self) -> Self {
        if let What::Literal { ignore_case, .. } = &mut self.what {
            *ignore_case = true;
        }
        self
    }

    /// The name under which hits are recorded.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A regex of a preset, and behind what its matches may start.
    pub(crate) fn preset(name: &str, regex: &str, lead: Lead) -> Self {
        Self { lead, preset: true, ..Self::regex(name, regex) }
    }

    /// Counts where a checksum holds.
    pub(crate) fn checked(mut self, check: Check) -> Self {
        self.check = Some(check);
        self
    }

    pub(super) fn name_arc(&self) -> Arc<str> {
        Arc::clone(&self.name)
    }

    pub(super) fn error(&self, expected: impl Into<String>, found: impl Into<String>) -> SettingsError {
        error(&self.name, expected, found)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        // A checksum belongs to its regex, and functions cannot be compared.
        self.name == other.name && self.what == other.what
    }
}

impl Eq for Pattern {}

/// Without the pattern itself: a literal may be a secret.
impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pattern").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A pattern as a file has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    name: String,
    regex: Option<String>,
    literal: Option<String>,
    #[serde(default)]
    ignore_case: bool,
}

impl TryFrom<Raw> for Pattern {
    type Error = SettingsError;

    fn try_from(raw: Raw) -> Result<Self, SettingsError> {
        let error = |expected: &str, found: &str| error(&raw.name, expected, found);
        match (&raw.regex, &raw.literal) {
            (Some(_), Some(_)) => Err(error("`regex` or `literal`", "both")),
            (None, None) => Err(error("`regex` or `literal`", "neither")),
            (Some(_), None) if raw.ignore_case => {
                Err(error("`(?i)` in the regex to ignore case", "`ignore_case`"))
            }
            (Some(regex), None) => Ok(Self::regex(&raw.name, regex)),
            (None, Some(literal)) => {
                let pattern = Self::literal(&raw.name, literal);
                Ok(if raw.ignore_case { pattern.ignore_case() } else { pattern })
            }
        }
    }
}

fn error(name: &str, expected: impl Into<String>, found: impl Into<String>) -> SettingsError {
    SettingsError::new(format!("pattern {name:?}"), expected, found)
}
