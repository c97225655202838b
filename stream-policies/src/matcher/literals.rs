//! Literals: one automaton for all, which finds every occurrence.

use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::nfa::contiguous::{Builder, NFA};

use super::pattern::{Pattern, What};
use super::stream::Hit;
use crate::SettingsError;

/// Literals that are looked for together.
#[derive(Debug)]
pub(super) struct Literals {
    automaton: NFA,
    first: StateID,
    /// The places of its patterns in the list.
    rules: Vec<usize>,
    longest: usize,
}

/// Where literals stand in a text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    state: StateID,
    /// None starts before.
    clear: usize,
}

impl Literals {
    /// Compiles the literals among patterns; `None` if there are none.
    pub(super) fn new(patterns: &[Pattern], ignore_case: bool) -> Result<Option<Self>, SettingsError> {
        let mut rules = Vec::new();
        let mut texts = Vec::new();
        for (rule, pattern) in patterns.iter().enumerate() {
            if let What::Literal { text, ignore_case: ignores } = &pattern.what
                && *ignores == ignore_case
            {
                if text.is_empty() {
                    return Err(pattern.error("a literal", "an empty one, which would match everywhere"));
                }
                rules.push(rule);
                texts.push(text.as_str());
            }
        }
        let Some(first) = rules.first() else { return Ok(None) };
        let too_many =
            |_| patterns[*first].error("literals that fit into one automaton", "too many or too long ones");
        let automaton = Builder::new().ascii_case_insensitive(ignore_case).build(&texts);
        let automaton = automaton.map_err(|error| too_many(error.to_string()))?;
        let start = automaton.start_state(aho_corasick::Anchored::No);
        let start = start.map_err(|error| too_many(error.to_string()))?;
        let longest = automaton.max_pattern_len();
        Ok(Some(Self { automaton, first: start, rules, longest }))
    }

    /// The start of a text.
    pub(super) fn start(&self) -> Mark {
        Mark { state: self.first, clear: 0 }
    }

    /// Takes the byte at `at`, and adds what ends with it.
    pub(super) fn step(&self, place: &mut Mark, byte: u8, at: usize, hits: &mut Vec<Hit>) {
        place.state = self.automaton.next_state(aho_corasick::Anchored::No, place.state, byte);
        if place.state == self.first {
            place.clear = at + 1;
        }
        if self.automaton.is_match(place.state) {
            for index in 0..self.automaton.match_len(place.state) {
                let pattern = self.automaton.match_pattern(place.state, index);
                let start = at + 1 - self.automaton.pattern_len(pattern);
                hits.push(Hit::new(self.rules[pattern.as_usize()], start, at + 1));
            }
        }
    }

    /// Where the next occurrence starts at the earliest, with the text read up to `end`.
    pub(super) fn earliest(&self, place: Mark, end: usize) -> usize {
        place.clear.max(end.saturating_sub(self.longest))
    }

    pub(super) fn memory(&self) -> usize {
        self.automaton.memory_usage()
    }
}
