//! Compiled patterns: automata that are stepped byte by byte.

use std::collections::HashSet;

use aho_corasick::automaton::{Automaton as _, StateID as LiteralState};
use aho_corasick::nfa::contiguous::{Builder as LiteralBuilder, NFA};
use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::alphabet::Unit;
use regex_automata::util::primitives::{PatternID, StateID};
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored, Input, MatchKind};

use super::pattern::{Check, Pattern, What};
use crate::SettingsError;

/// Patterns that are looked for together.
#[derive(Debug)]
pub(super) struct Machine {
    kind: Kind,
    /// The places of its patterns in the list, in order.
    rules: Vec<usize>,
    /// The longest text that any of them matches, in bytes.
    longest: Option<usize>,
    pub(super) check: Option<Check>,
}

#[derive(Debug)]
enum Kind {
    Regexes(Box<Regexes>),
    Literals { automaton: Box<NFA>, first: LiteralState },
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Position {
    Regexes(StateID),
    Literals(LiteralState),
}

/// The end of a match.
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) end: usize,
    /// Which of the machine's patterns.
    pattern: usize,
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
    /// Where it starts behind this byte, or at the start of the text. `None` if nothing can match from there.
    pub(super) fn start(&self, behind: Option<u8>) -> Option<Position> {
        match &self.kind {
            Kind::Regexes(regexes) => {
                let state = behind.map_or(regexes.first, |byte| regexes.behind[usize::from(byte)]);
                (!regexes.forward.is_dead_state(state)).then_some(Position::Regexes(state))
            }
            Kind::Literals { first, .. } => Some(Position::Literals(*first)),
        }
    }

    /// Takes the byte at `at`.
    pub(super) fn step(&self, position: &mut Position, byte: u8, at: usize) -> Step {
        match (&self.kind, position) {
            (Kind::Regexes(regexes), Position::Regexes(state)) => {
                let Regexes { forward, behind, last, .. } = &**regexes;
                *state = forward.next_state(*state, byte);
                if !forward.is_special_state(*state) {
                    if *state == behind[usize::from(byte)] { Step::Clear } else { Step::On }
                } else if forward.is_match_state(*state) {
                    // A DFA says so one byte late.
                    let found = Found { end: at, pattern: forward.match_pattern(*state, 0).as_usize() };
                    if last.contains(state) { Step::Last(found) } else { Step::Found(found) }
                } else {
                    Step::Dead
                }
            }
            (Kind::Literals { automaton, first }, Position::Literals(state)) => {
                *state = automaton.next_state(aho_corasick::Anchored::No, *state, byte);
                if state == first {
                    Step::Clear
                } else if automaton.is_match(*state) {
                    let pattern = automaton.match_pattern(*state, 0).as_usize();
                    Step::Found(Found { end: at + 1, pattern })
                } else if automaton.is_dead(*state) {
                    Step::Dead
                } else {
                    Step::On
                }
            }
            _ => Step::Dead,
        }
    }

    /// Takes the end of the text, which is at `at`.
    pub(super) fn end(&self, position: Position, at: usize) -> Option<Found> {
        let (Kind::Regexes(regexes), Position::Regexes(state)) = (&self.kind, position) else {
            return None;
        };
        let forward = &regexes.forward;
        let state = forward.next_eoi_state(state);
        let pattern = || forward.match_pattern(state, 0).as_usize();
        forward.is_match_state(state).then(|| Found { end: at, pattern: pattern() })
    }

    /// Where a match starts, which is not before `from`. Places are those in `text`.
    pub(super) fn start_of(&self, found: Found, text: &[u8], from: usize) -> usize {
        match &self.kind {
            Kind::Regexes(regexes) => {
                let anchored = PatternID::new(found.pattern).map_or(Anchored::Yes, Anchored::Pattern);
                let input = Input::new(text).range(from..found.end).anchored(anchored);
                // What matched forwards matches backwards; if it did not, all that may belong to it does.
                let half = regexes.backward.try_search_rev(&input).ok().flatten();
                half.map_or(from, |half| half.offset())
            }
            Kind::Literals { automaton, .. } => {
                let length = aho_corasick::PatternID::new(found.pattern)
                    .map_or(0, |pattern| automaton.pattern_len(pattern));
                found.end.saturating_sub(length).max(from)
            }
        }
    }

    /// The place of the found pattern in the list.
    pub(super) fn rule(&self, found: Found) -> usize {
        self.rules.get(found.pattern).copied().unwrap_or_default()
    }

    /// The first place of its patterns in the list.
    pub(super) fn first_rule(&self) -> usize {
        self.rules.first().copied().unwrap_or_default()
    }

    /// The longest text that it matches, in bytes; `usize::MAX` if there is no such.
    pub(super) fn longest(&self) -> usize {
        self.longest.unwrap_or(usize::MAX)
    }
}

impl Found {
    /// The same match, with the text moved by this much.
    pub(super) fn back(self, by: usize) -> Self {
        Self { end: self.end - by, ..self }
    }
}

/// Compiles patterns: literals together, regexes of limited length together (so that the others do not make them wait
/// longer), the rest together, and each pattern with a checksum alone (one that fails is looked for again, one byte on).
pub(super) fn build(patterns: &[Pattern]) -> Result<Vec<Machine>, SettingsError> {
    let mut groups: [Vec<usize>; 4] = Default::default();
    let mut machines = Vec::new();
    for (rule, pattern) in patterns.iter().enumerate() {
        match &pattern.what {
            What::Literal { text, .. } if text.is_empty() => {
                return Err(pattern.error("a literal", "an empty one, which would match everywhere"));
            }
            What::Literal { ignore_case, .. } => groups[usize::from(*ignore_case)].push(rule),
            What::Regex(regex) => {
                let longest = inspect(pattern, regex)?;
                if pattern.check.is_some() {
                    machines.push(regexes(patterns, vec![rule], SIZE_LIMIT)?);
                } else {
                    groups[2 + usize::from(longest.is_none())].push(rule);
                }
            }
        }
    }
    for (group, rules) in groups.into_iter().enumerate().filter(|(_, rules)| !rules.is_empty()) {
        if group < 2 {
            machines.push(literals(patterns, rules, group == 1)?);
            continue;
        }
        group_regexes(patterns, rules, &mut machines)?;
    }
    Ok(machines)
}

/// Compiles regexes together as long as they stay small: what several of them keep track of at once multiplies.
fn group_regexes(
    patterns: &[Pattern],
    mut rules: Vec<usize>,
    machines: &mut Vec<Machine>,
) -> Result<(), SettingsError> {
    if rules.len() == 1 {
        machines.push(regexes(patterns, rules, SIZE_LIMIT)?);
        return Ok(());
    }
    if let Ok(machine) = regexes(patterns, rules.clone(), GROUP_LIMIT) {
        machines.push(machine);
        return Ok(());
    }
    let rest = rules.split_off(rules.len() / 2);
    group_regexes(patterns, rules, machines)?;
    group_regexes(patterns, rest, machines)
}

/// The longest text that a regex matches, if there is one; an error if it cannot be used.
fn inspect(pattern: &Pattern, regex: &str) -> Result<Option<usize>, SettingsError> {
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

fn regexes(patterns: &[Pattern], rules: Vec<usize>, size: usize) -> Result<Machine, SettingsError> {
    let of = |rule: &usize| match &patterns[*rule].what {
        What::Regex(regex) => regex.as_str(),
        What::Literal { .. } => "",
    };
    let sources: Vec<&str> = rules.iter().map(of).collect();
    let first = &patterns[rules[0]];
    let too_large = |_| {
        let expected = format!("a regex that compiles to at most {} MiB", size >> 20);
        first.error(expected, "a larger one: use [0-9] for \\d, [A-Za-z0-9_] for \\w, smaller repetitions")
    };
    let hirs = syntax::parse_many(&sources).map_err(|error| first.error("a regex", error.to_string()))?;
    let config = dense::Config::new()
        .accelerate(false)
        .dfa_size_limit(Some(size))
        .determinize_size_limit(Some(2 * size));
    let build = |config: dense::Config, reverse| {
        let thompson = thompson::Config::new()
            .reverse(reverse)
            .which_captures(thompson::WhichCaptures::None)
            .nfa_size_limit(Some(size));
        let nfa = thompson::Compiler::new().configure(thompson).build_many_from_hir(&hirs);
        let nfa = nfa.map_err(|error| too_large(error.to_string()))?;
        let built = dense::Builder::new().configure(config).build_from_nfa(&nfa);
        built.map_err(|error| too_large(error.to_string()))
    };
    let forward =
        build(config.clone().start_kind(StartKind::Unanchored).match_kind(MatchKind::LeftmostFirst), false)?;
    let backward = build(
        config.start_kind(StartKind::Anchored).match_kind(MatchKind::All).starts_for_each_pattern(true),
        true,
    )?;
    let start = |behind| {
        let config = start::Config::new().anchored(Anchored::No).look_behind(behind);
        forward.start_state(&config).map_err(|error| too_large(error.to_string()))
    };
    let at_start = start(None)?;
    let mut behind = [at_start; 256];
    for byte in 0..=u8::MAX {
        behind[usize::from(byte)] = start(Some(byte))?;
    }
    let longest = hirs.iter().map(|hir| hir.properties().maximum_len()).collect::<Option<Vec<usize>>>();
    let longest = longest.and_then(|all| all.into_iter().max());
    let check = first.check;
    let last = last_matches(&forward, at_start, &behind);
    let regexes = Regexes { forward, backward, first: at_start, behind, last };
    Ok(Machine { kind: Kind::Regexes(Box::new(regexes)), rules, longest, check })
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

fn literals(patterns: &[Pattern], rules: Vec<usize>, ignore_case: bool) -> Result<Machine, SettingsError> {
    let of = |rule: &usize| match &patterns[*rule].what {
        What::Literal { text, .. } => text.as_str(),
        What::Regex(_) => "",
    };
    let first = &patterns[rules[0]];
    let too_many = |_| first.error("literals that fit into one automaton", "too many or too long ones");
    let automaton = LiteralBuilder::new()
        .match_kind(aho_corasick::MatchKind::LeftmostFirst)
        .ascii_case_insensitive(ignore_case)
        .build(rules.iter().map(of))
        .map_err(|error| too_many(error.to_string()))?;
    let start = automaton.start_state(aho_corasick::Anchored::No);
    let start = start.map_err(|error| too_many(error.to_string()))?;
    let longest = Some(automaton.max_pattern_len());
    Ok(Machine {
        kind: Kind::Literals { automaton: Box::new(automaton), first: start },
        rules,
        longest,
        check: None,
    })
}

/// The largest automaton that one regex may become, in bytes.
const SIZE_LIMIT: usize = 16 << 20;

/// The largest automaton that several regexes may become together, in bytes.
const GROUP_LIMIT: usize = 1 << 20;
