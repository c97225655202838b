//! A regex whose matches may be long in doubt: an automaton that looks for starts itself, stepped byte by byte.

use std::collections::HashSet;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::alphabet::Unit;
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, Input, MatchKind};

use super::pattern::{Check, Pattern};
use crate::SettingsError;

/// One regex that is looked for.
#[derive(Debug)]
pub(super) struct Machine {
    regexes: Box<Regexes>,
    /// The place of its pattern in the list.
    rule: usize,
    /// The longest text that it matches, in bytes.
    longest: Option<usize>,
    pub(super) check: Option<Check>,
}

#[derive(Debug)]
struct Regexes {
    forward: dense::DFA<Vec<u32>>,
    backward: dense::DFA<Vec<u32>>,
    /// The start state at the start of the text.
    first: StateID,
    /// The start state behind each byte.
    behind: [StateID; 256],
    /// Match states behind which no better match can come.
    last: HashSet<StateID>,
}

/// Where a machine stands.
pub(super) type Position = StateID;

/// The end of a match.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) end: usize,
}

/// What a byte led to.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// A match may be under way.
    On,
    /// None is: where the machine started, it stands again.
    Clear,
    /// A match ends here; a better one may come.
    Found(Found),
    /// A match ends here, and no better one can come.
    Last(Found),
    /// No other match can come.
    Dead,
}

impl Machine {
    /// Compiles a regex.
    pub(super) fn new(pattern: &Pattern, regex: &str, rule: usize) -> Result<Self, SettingsError> {
        regexes(pattern, regex, rule, SIZE_LIMIT)
    }

    /// Where it starts behind this byte, or at the start of the text. `None` if nothing can match from there.
    pub(super) fn start(&self, behind: Option<u8>) -> Option<Position> {
        let state = behind.map_or(self.regexes.first, |byte| self.regexes.behind[usize::from(byte)]);
        (!self.regexes.forward.is_dead_state(state)).then_some(state)
    }

    /// Takes the byte at `at`.
    pub(super) fn step(&self, state: &mut Position, byte: u8, at: usize) -> Step {
        let Regexes { forward, behind, last, .. } = &*self.regexes;
        *state = forward.next_state(*state, byte);
        if !forward.is_special_state(*state) {
            if *state == behind[usize::from(byte)] { Step::Clear } else { Step::On }
        } else if forward.is_match_state(*state) {
            // A DFA says so one byte late.
            let found = Found { end: at };
            if last.contains(state) { Step::Last(found) } else { Step::Found(found) }
        } else {
            Step::Dead
        }
    }

    /// Takes the end of the text, which is at `at`.
    pub(super) fn end(&self, state: Position, at: usize) -> Option<Found> {
        let forward = &self.regexes.forward;
        forward.is_match_state(forward.next_eoi_state(state)).then_some(Found { end: at })
    }

    /// Where a match starts, which is not before `from`. Places are those in `text`.
    pub(super) fn start_of(&self, found: Found, text: &[u8], from: usize) -> usize {
        let input = Input::new(text).range(from..found.end).anchored(Anchored::Yes);
        // What matched forwards matches backwards; if it did not, all that may belong to it does.
        let half = self.regexes.backward.try_search_rev(&input).ok().flatten();
        half.map_or(from, |half| half.offset())
    }

    /// The place of the pattern in the list.
    pub(super) fn rule(&self) -> usize {
        self.rule
    }

    /// The longest text that it matches, in bytes; `usize::MAX` if there is no such.
    pub(super) fn longest(&self) -> usize {
        self.longest.unwrap_or(usize::MAX)
    }

    pub(super) fn memory(&self) -> usize {
        let Regexes { forward, backward, last, .. } = &*self.regexes;
        forward.memory_usage() + backward.memory_usage() + last.len() * size_of::<StateID>()
    }
}

impl Found {
    /// The same match, with the text moved by this much.
    pub(super) fn back(self, by: usize) -> Self {
        Self { end: self.end - by }
    }
}

/// The longest text that a regex matches, if there is one; an error if it cannot be used.
pub(super) fn inspect(pattern: &Pattern, regex: &str) -> Result<Option<usize>, SettingsError> {
    let hir = syntax::parse(regex).map_err(|error| pattern.error("a regex", error.to_string()))?;
    let properties = hir.properties();
    match properties.minimum_len() {
        Some(0) => Err(pattern.error(
            "a regex that matches something",
            "one that also matches the empty text, which is everywhere",
        )),
        None => Err(pattern.error("a regex that matches something", "one that never matches")),
        Some(_) if properties.look_set().contains_word_unicode() => {
            Err(pattern.error("the word boundary of ASCII, `(?-u:\\b)`", "that of Unicode, `\\b`"))
        }
        Some(_) => Ok(properties.maximum_len()),
    }
}

fn regexes(pattern: &Pattern, regex: &str, rule: usize, size: usize) -> Result<Machine, SettingsError> {
    let too_large = |_| {
        let expected = format!("a regex that compiles to at most {} MiB", size >> 20);
        pattern.error(expected, "a larger one: use [0-9] for \\d, [A-Za-z0-9_] for \\w, smaller repetitions")
    };
    let hir = syntax::parse(regex).map_err(|error| pattern.error("a regex", error.to_string()))?;
    let config = dense::Config::new()
        .accelerate(false)
        .dfa_size_limit(Some(size))
        .determinize_size_limit(Some(2 * size));
    let build = |config: dense::Config, reverse| {
        let thompson = thompson::Config::new()
            .reverse(reverse)
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(size));
        let nfa = thompson::Compiler::new().configure(thompson).build_from_hir(&hir);
        let nfa = nfa.map_err(|error| too_large(error.to_string()))?;
        let built = dense::Builder::new().configure(config).build_from_nfa(&nfa);
        built.map_err(|error| too_large(error.to_string()))
    };
    let forward =
        build(config.clone().start_kind(StartKind::Unanchored).match_kind(MatchKind::LeftmostFirst), false)?;
    let backward = build(config.start_kind(StartKind::Anchored).match_kind(MatchKind::All), true)?;
    let start = |behind| {
        let config = start::Config::new().anchored(Anchored::No).look_behind(behind);
        forward.start_state(&config).map_err(|error| too_large(error.to_string()))
    };
    let at_start = start(None)?;
    let mut behind = [at_start; 256];
    for byte in 0..=u8::MAX {
        behind[usize::from(byte)] = start(Some(byte))?;
    }
    let longest = hir.properties().maximum_len();
    let last = last_matches(&forward, at_start, &behind);
    let regexes = Box::new(Regexes { forward, backward, first: at_start, behind, last });
    Ok(Machine { regexes, rule, longest, check: pattern.check })
}

/// The match states behind which no better match can come, whatever the next byte or the end of the text.
fn last_matches(dfa: &dense::DFA<Vec<u32>>, first: StateID, behind: &[StateID; 256]) -> HashSet<StateID> {
    let bytes: Vec<u8> = dfa.byte_classes().representatives(..).filter_map(Unit::as_u8).collect();
    let mut todo: Vec<StateID> = behind.iter().copied().chain([first]).collect();
    let mut seen: HashSet<StateID> = todo.iter().copied().collect();
    let mut last = HashSet::new();
    while let Some(state) = todo.pop() {
        let mut dies = true;
        for next in bytes.iter().map(|byte| dfa.next_state(state, *byte)) {
            dies &= dfa.is_dead_state(next);
            if seen.insert(next) {
                todo.push(next);
            }
        }
        if dies && dfa.is_match_state(state) && !dfa.is_match_state(dfa.next_eoi_state(state)) {
            last.insert(state);
        }
    }
    last
}

/// The largest automaton that one regex may become, in bytes.
pub(super) const SIZE_LIMIT: usize = 16 << 20;
