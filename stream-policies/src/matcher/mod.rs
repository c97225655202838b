//! Finds patterns in text that comes in pieces, exactly as if it had come in one.
//!
//! A set of [`Pattern`]s is compiled once ([`Patterns`]) and shared by all streams; each text has a [`Matcher`] of its
//! own, which takes the text piece by piece and says what was found, and how much of the text no match can reach any
//! more. [`Lane`] keeps the pieces that wait for that.
//!
//! # What is found
//!
//! The matches of each pattern: the leftmost, then the leftmost behind its end, and so on; every occurrence of a literal.
//! How long a match is, is up to the pattern (`+` is greedy, `+?` is not), as in every Perl-like engine. A pattern with a
//! checksum counts where the checksum holds. Matches that overlap become one stretch, under the name of the first.
//!
//! # How
//!
//! The [`Gate`] is one small table that reads the first bytes of all patterns at once, and what has to stand before them. A
//! pattern is woken where that many bytes of it have come ([`Threads`]), and reads on from there with a dense DFA of its own
//! that knows its start ([`Anchored`]): it has none of the states that looking for starts takes. Two threads of a pattern in
//! one state are one. On prose hardly any thread is awake, and nothing is allocated.
//!
//! A regex of which a match may be in doubt for any length of text is looked for all the time, with a DFA that finds starts
//! itself and one that runs backwards ([`Machine`]). Literals are an Aho-Corasick automaton ([`Literals`]).

mod anchored;
mod context;
mod cursor;
mod gate;
mod lane;
mod literals;
mod machine;
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) mod oracle;
mod pattern;
mod reading;
pub(crate) mod signed;
mod stream;
#[cfg(test)]
mod tests;
mod threads;

use std::sync::Arc;

use crate::SettingsError;

use self::anchored::Anchored;
pub(crate) use self::context::Lead;
use self::gate::Gate;
pub use self::lane::BlockEnds;
pub(crate) use self::lane::{Lane, Lanes, Piece, fields};
use self::literals::Literals;
use self::machine::Machine;
pub use self::pattern::Pattern;
use self::pattern::What;
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
    gate: Gate,
    anchored: Vec<Anchored>,
    machines: Vec<Machine>,
    literals: Vec<Literals>,
}

impl Patterns {
    pub(crate) fn new(patterns: &[Pattern]) -> Result<Self, SettingsError> {
        let mut anchored = Vec::new();
        let mut machines = Vec::new();
        for (rule, pattern) in patterns.iter().enumerate() {
            let What::Regex(regex) = &pattern.what else { continue };
            let longest = machine::inspect(pattern, regex)?;
            let limit = if pattern.preset { machine::SIZE_LIMIT } else { ANCHORED_LIMIT };
            let is_short = longest.is_some_and(|longest| longest <= SHORT);
            let own = Anchored::new(regex, rule, pattern.lead, pattern.check, limit);
            match own.filter(|own| pattern.preset || is_short || own.is_soon_sure()) {
                Some(own) if anchored.len() < MOST_ANCHORED => anchored.push(own),
                _ => machines.push(Machine::new(pattern, regex, rule)?),
            }
        }
        let literals = [Literals::new(patterns, false)?, Literals::new(patterns, true)?];
        let gate = Gate::new(&anchored);
        let names = patterns.iter().map(Pattern::name_arc).collect();
        let checked = patterns.iter().map(|pattern| pattern.check.is_some()).collect();
        let literals = literals.into_iter().flatten().collect();
        Ok(Self { shared: Arc::new(Shared { names, checked, gate, anchored, machines, literals }) })
    }

    /// How many bytes of tables there are.
    pub(crate) fn memory(&self) -> usize {
        let Shared { gate, anchored, machines, literals, .. } = &*self.shared;
        gate.memory()
            + anchored.iter().map(Anchored::memory).sum::<usize>()
            + machines.iter().map(Machine::memory).sum::<usize>()
            + literals.iter().map(Literals::memory).sum::<usize>()
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

    /// Everything that is found in a whole text, in order. What overlaps is one.
    pub(crate) fn find_all(&self, text: &str) -> Vec<Hit> {
        if !self.may_be_in(text) {
            return Vec::new();
        }
        let mut matcher = Matcher::new(self.clone(), usize::MAX);
        let mut hits = Vec::new();
        matcher.push(text, &mut hits);
        matcher.finish(&mut hits);
        stream::joined(hits)
    }

    /// Whether any pattern begins in a text.
    fn may_be_in(&self, text: &str) -> bool {
        let Shared { gate, machines, literals, .. } = &*self.shared;
        if !machines.is_empty() || !literals.is_empty() {
            return true;
        }
        let mut state = 0;
        text.bytes().any(|byte| {
            state = gate.step(state, byte);
            gate.wakes(state)
        })
    }
}

/// The largest automaton that a regex becomes which knows its start, in bytes.
const ANCHORED_LIMIT: usize = 1 << 20;

/// A match of a length at most this is decided soon.
const SHORT: usize = 256;

/// The most patterns of one gate: others are looked for all the time.
const MOST_ANCHORED: usize = 1000;
