//! Finds patterns in text that comes in pieces, exactly as if it had come in one.
//!
//! A set of [`Pattern`]s is compiled once ([`Patterns`]) and shared by all streams; each text has a [`Matcher`] of its
//! own, which takes the text piece by piece and says what was found, and how much of the text no match can reach any
//! more. [`Lane`] keeps the pieces that wait for that.
//!
//! # What is found
//!
//! The leftmost match, then the leftmost behind its end, and so on. Of two patterns that match at the same place the
//! one that was listed first wins; how long its match is, is up to the pattern (`+` is greedy, `+?` is not), as in
//! every Perl-like engine. A pattern with a checksum counts where the checksum holds.
//!
//! # How
//!
//! Regexes become dense DFAs with leftmost-first semantics, literals an Aho-Corasick automaton; both are stepped byte
//! by byte. Before a match was seen, a state that equals the start state says that no match can be under way: all text
//! so far is clear. After one, a dead state says that no better match can come; where it starts is found by the reversed
//! DFA. Nothing is scanned twice but what lies between the end of a match and the byte that decided it.

mod cursor;
mod lane;
mod machine;
mod pattern;
mod reading;
pub(crate) mod signed;
mod stream;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use crate::SettingsError;

pub use self::lane::BlockEnds;
pub(crate) use self::lane::{Lane, Lanes, Release};
use self::machine::Machine;
pub use self::pattern::Pattern;
pub(crate) use self::stream::{Hit, Matcher, OVER_LIMIT};

/// Patterns, compiled. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Patterns {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    names: Vec<Arc<str>>,
    checked: Vec<bool>,
    machines: Vec<Machine>,
}

impl Patterns {
    pub(crate) fn new(patterns: &[Pattern]) -> Result<Self, SettingsError> {
        let machines = machine::build(patterns)?;
        let names = patterns.iter().map(Pattern::name_arc).collect();
        let checked = patterns.iter().map(|pattern| pattern.check.is_some()).collect();
        Ok(Self { shared: Arc::new(Shared { names, checked, machines }) })
    }

    /// The name of a pattern, by its place in the list; what stands for text over the hold limit has none.
    pub(crate) fn name(&self, rule: usize) -> &str {
        self.shared.names.get(rule).map_or("hold limit", |name| name)
    }

    /// Whether a pattern counts only where its checksum holds.
    pub(crate) fn is_checked(&self, rule: usize) -> bool {
        self.shared.checked.get(rule).copied().unwrap_or_default()
    }

    /// The names of all patterns.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.shared.names.iter().map(|name| &**name)
    }

    /// Everything that is found in a whole text.
    pub(crate) fn find_all(&self, text: &str) -> Vec<Hit> {
        let mut matcher = Matcher::new(self.clone(), usize::MAX);
        let mut hits = Vec::new();
        matcher.push(text, &mut hits);
        matcher.finish(&mut hits);
        hits
    }

    fn machines(&self) -> &[Machine] {
        &self.shared.machines
    }
}
