//! What a check found.

use std::fmt;

use super::Rule;

/// The rules that a client's next requests break, in order.
///
/// Displays as a line per violation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    violations: Vec<Violation>,
}

impl Report {
    /// Returns whether the client can send its next request.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// The violations, choice by choice, in the order of the request.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// Without what another answer breaks too: what came out may be as hard to go on from as what came in, and no
    /// harder.
    #[must_use]
    pub fn beyond(mut self, other: &Self) -> Self {
        let broken = |rule| other.violations.iter().any(|violation| violation.rule == rule);
        self.violations.retain(|violation| !broken(violation.rule));
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.violations.iter().try_for_each(|violation| writeln!(f, "{violation}"))
    }
}

/// A rule that a request breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The choice whose turn it is.
    pub choice: u64,
    /// The place in the request: `messages[1].content[0]`. Empty for a missing part.
    pub place: String,
    /// The rule.
    pub rule: Rule,
    /// A sentence: what was expected, and what was found.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.choice > 0 {
            write!(f, "choice {}: ", self.choice)?;
        }
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        write!(f, "{}: {}", self.rule, self.message)
    }
}

/// The violations under way.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) choice: u64,
    violations: Vec<Violation>,
}

impl Log {
    pub(super) fn broken(&mut self, place: impl Into<String>, rule: Rule, message: impl Into<String>) {
        let (choice, place, message) = (self.choice, place.into(), message.into());
        self.violations.push(Violation { choice, place, rule, message });
    }

    pub(super) fn into_report(self) -> Report {
        Report { violations: self.violations }
    }
}
