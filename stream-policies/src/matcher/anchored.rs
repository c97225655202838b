//! A regex from a known start on: a dense DFA without the states that looking for starts takes.

use std::collections::HashSet;

use regex_automata::dfa::{Automaton as _, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::alphabet::Unit;
use regex_automata::util::primitives::StateID;
use regex_automata::util::{start, syntax};
use regex_automata::{Anchored as Anchor, MatchKind};

use super::context::{Context, Lead};
use super::pattern::Check;

/// One pattern, compiled for matches that start where it is started.
#[derive(Debug)]
pub(super) struct Anchored {
    dfa: dense::DFA<Vec<u32>>,
    /// Where it starts in each context; `None` if nothing can match from there.
    starts: [Option<StateID>; Context::ALL.len()],
    /// Match states behind which no better match can come.
    last: HashSet<StateID>,
    /// The length of the shortest match, in bytes.
    pub(super) shortest: usize,
    /// The place of the pattern in the list.
    pub(super) rule: usize,
    pub(super) check: Option<Check>,
}

/// What a byte led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Advance {
    /// A match may be under way.
    On,
    /// A match ended before this byte; a longer one may come.
    Found,
    /// A match ended before this byte, and no better one can come.
    Last,
    /// No match can come any more.
    Dead,
}

impl Anchored {
    /// Compiles a regex; `None` if that takes more than `size` bytes.
    pub(super) fn new(
        regex: &str,
        rule: usize,
        lead: Lead,
        check: Option<Check>,
        size: usize,
    ) -> Option<Self> {
        let hir = syntax::parse(regex).ok()?;
        let shortest = hir.properties().minimum_len()?;
        let thompson =
            thompson::Config::new().which_captures(thompson::WhichCaptures::None).nfa_size_limit(Some(size));
        let nfa = thompson::Compiler::new().configure(thompson).build_from_hir(&hir).ok()?;
        let config = dense::Config::new()
            .accelerate(false)
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::LeftmostFirst)
            .dfa_size_limit(Some(size))
            .determinize_size_limit(Some(2 * size));
        let dfa = dense::Builder::new().configure(config).build_from_nfa(&nfa).ok()?;
        let mut starts = [None; Context::ALL.len()];
        for context in Context::ALL.into_iter().filter(|context| lead.allows(*context)) {
            let config = start::Config::new().anchored(Anchor::Yes).look_behind(context.byte());
            let state = dfa.start_state(&config).ok()?;
            starts[context as usize] = Some(state).filter(|state| !dfa.is_dead_state(*state));
        }
        let mut anchored = Self { dfa, starts, last: HashSet::new(), shortest, rule, check };
        anchored.last = anchored.last_matches();
        Some(anchored)
    }

    pub(super) fn start(&self, context: Context) -> Option<StateID> {
        self.starts[context as usize]
    }

    pub(super) fn class(&self, byte: u8) -> u8 {
        self.dfa.byte_classes().get(byte)
    }

    /// Takes a byte; `None` if no match can come.
    pub(super) fn next(&self, state: StateID, byte: u8) -> Option<StateID> {
        Some(self.dfa.next_state(state, byte)).filter(|state| !self.dfa.is_dead_state(*state))
    }

    /// Takes a byte.
    pub(super) fn step(&self, state: &mut StateID, byte: u8) -> Advance {
        *state = self.dfa.next_state(*state, byte);
        if !self.dfa.is_special_state(*state) {
            Advance::On
        } else if !self.dfa.is_match_state(*state) {
            Advance::Dead
        } else if self.last.contains(state) {
            Advance::Last
        } else {
            Advance::Found
        }
    }

    /// Whether a match ends where the text does.
    pub(super) fn ends(&self, state: StateID) -> bool {
        self.dfa.is_match_state(self.dfa.next_eoi_state(state))
    }

    pub(super) fn memory(&self) -> usize {
        self.dfa.memory_usage() + self.last.len() * size_of::<StateID>()
    }

    /// Whether there is an end to how far a match that was found can go on without being found again: then the starts
    /// behind it are few.
    pub(super) fn is_soon_sure(&self) -> bool {
        let bytes = self.bytes();
        let mut done: HashSet<StateID> = HashSet::new();
        for first in self.states().into_iter().filter(|state| self.dfa.is_match_state(*state)) {
            // A walk through states that are no matches: one that comes back to itself has no end.
            let mut path: Vec<(StateID, usize)> = vec![(first, 0)];
            let mut on_path: HashSet<StateID> = HashSet::new();
            while let Some((state, at)) = path.last_mut() {
                let Some(byte) = bytes.get(*at) else {
                    let (state, _) = (*state, at);
                    on_path.remove(&state);
                    done.insert(state);
                    path.pop();
                    continue;
                };
                *at += 1;
                let next = self.dfa.next_state(*state, *byte);
                if self.dfa.is_special_state(next) || done.contains(&next) {
                    continue;
                }
                if !on_path.insert(next) {
                    return false;
                }
                path.push((next, 0));
            }
        }
        true
    }

    fn bytes(&self) -> Vec<u8> {
        self.dfa.byte_classes().representatives(..).filter_map(Unit::as_u8).collect()
    }

    fn states(&self) -> HashSet<StateID> {
        let bytes = self.bytes();
        let mut todo: Vec<StateID> = self.starts.iter().flatten().copied().collect();
        let mut seen: HashSet<StateID> = todo.iter().copied().collect();
        while let Some(state) = todo.pop() {
            let next = bytes.iter().map(|byte| self.dfa.next_state(state, *byte));
            todo.extend(next.filter(|next| seen.insert(*next)));
        }
        seen
    }

    /// The match states behind which no better match can come, whatever the next byte or the end of the text.
    fn last_matches(&self) -> HashSet<StateID> {
        let bytes = self.bytes();
        let mut states = self.states();
        states.retain(|state| {
            self.dfa.is_match_state(*state)
                && !self.ends(*state)
                && bytes.iter().all(|byte| self.dfa.is_dead_state(self.dfa.next_state(*state, *byte)))
        });
        states
    }
}
