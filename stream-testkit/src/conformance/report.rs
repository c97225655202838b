//! What a check found.

use std::{collections::BTreeSet, fmt};

use super::{Allow, Deviation, Rule, View};

/// The violations of a stream, in order, and what a strict client received.
///
/// Displays as a line per violation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    violations: Vec<Violation>,
    tolerated: Vec<Violation>,
    view: View,
}

impl Report {
    pub(super) fn new(log: Log, view: View, allow: &Allow) -> Self {
        let (tolerated, violations) = log
            .violations
            .into_iter()
            .partition(|violation| violation.excuse.is_some_and(|it| allow.has(it)));
        Self { violations, tolerated, view }
    }

    /// Returns whether no rule was broken, except by allowed deviations.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    /// The violations that nothing excused, in the order they were found.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// The violations that an allowed deviation excused.
    #[must_use]
    pub fn tolerated(&self) -> &[Violation] {
        &self.tolerated
    }

    /// The deviations that would excuse what was found, tolerated or not.
    #[must_use]
    pub fn deviations(&self) -> BTreeSet<Deviation> {
        self.violations.iter().chain(&self.tolerated).filter_map(|violation| violation.excuse).collect()
    }

    /// The answer as a strict client reads it, whatever was allowed.
    #[must_use]
    pub fn view(&self) -> &View {
        &self.view
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.violations.iter().try_for_each(|violation| writeln!(f, "{violation}"))
    }
}

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Violation {
    /// The number of the event, from 1; comments are not counted and belong to the event after them. What is only
    /// known at the end belongs to the last event. 0 if there was none.
    pub event: usize,
    /// The rule.
    pub rule: Rule,
    /// A sentence: what was expected, and what was found.
    pub message: String,
    /// The deviation that excuses it, if a provider is known to do this.
    pub excuse: Option<Deviation>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "event {}: {}: {}", self.event, self.rule, self.message)?;
        match self.excuse {
            Some(deviation) => write!(f, " (excused by {deviation})"),
            None => Ok(()),
        }
    }
}

/// The violations under way.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) event: usize,
    violations: Vec<Violation>,
}

impl Log {
    pub(super) fn at(event: usize) -> Self {
        Self { event, violations: Vec::new() }
    }

    pub(super) fn broken(&mut self, rule: Rule, message: impl Into<String>) {
        self.push(rule, None, message.into());
    }

    /// A violation that a provider is known for.
    pub(super) fn deviates(&mut self, rule: Rule, deviation: Deviation, message: impl Into<String>) {
        self.push(rule, Some(deviation), message.into());
    }

    /// Takes back what was found in an event, by what came behind it.
    pub(super) fn forgive(&mut self, event: usize, deviation: Deviation) {
        self.violations.retain(|violation| violation.event != event || violation.excuse != Some(deviation));
    }

    pub(super) fn push(&mut self, rule: Rule, excuse: Option<Deviation>, message: String) {
        self.violations.push(Violation { event: self.event, rule, message, excuse });
    }
}
