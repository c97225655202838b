//! Patterns that have begun: each on its way through the text, from its own start.

use regex_automata::util::primitives::StateID;

use super::anchored::{Advance, Anchored};
use super::gate::{Gate, Woken};
use super::stream::Hit;

/// The patterns that have begun and are not decided over, those of one pattern in the order of their starts.
#[derive(Debug, Clone, Default)]
pub(super) struct Threads {
    awake: Vec<Thread>,
    /// Where the last match of a pattern ended: those that began before and are still to be woken do not count.
    ended: Vec<(u16, usize)>,
}

#[derive(Debug, Clone, Copy)]
struct Thread {
    pattern: u16,
    state: StateID,
    start: usize,
    /// The end of the match that was found.
    found: Option<usize>,
    /// No better match can come.
    over: bool,
}

impl Threads {
    pub(super) fn is_empty(&self) -> bool {
        self.awake.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.awake.len()
    }

    /// Where the first of them started.
    pub(super) fn earliest(&self) -> Option<usize> {
        self.awake.iter().map(|thread| thread.start).min()
    }

    /// Takes the byte at `at`. True if something is to be [concluded](Self::conclude).
    pub(super) fn step(&mut self, patterns: &[Anchored], byte: u8, at: usize) -> bool {
        let mut any = false;
        for thread in self.awake.iter_mut().filter(|thread| !thread.over) {
            match patterns[usize::from(thread.pattern)].step(&mut thread.state, byte) {
                Advance::On => continue,
                Advance::Found => thread.found = Some(at),
                Advance::Last => {
                    thread.found = Some(at);
                    thread.over = true;
                }
                Advance::Dead => thread.over = true,
            }
            any = true;
        }
        if self.awake.len() > 1 {
            self.join(patterns);
        }
        any
    }

    /// Adds the patterns that are woken behind the byte at `at`.
    pub(super) fn wake(&mut self, patterns: &[Anchored], woken: &[Woken], at: usize) {
        for Woken { pattern, depth, state } in woken.iter().copied() {
            let start = at + 1 - usize::from(depth);
            let checked = patterns[usize::from(pattern)].check.is_some();
            let covered = |thread: &Thread| {
                let same = thread.state == state && !thread.over;
                thread.pattern == pattern && (same || thread.found.is_some_and(|end| end > start))
            };
            let ended = |(of, end): &(u16, usize)| *of == pattern && *end > start;
            if self.ended.iter().any(ended) {
                continue;
            }
            if checked || !self.awake.iter().any(covered) {
                self.awake.push(Thread { pattern, state, start, found: None, over: false });
            }
        }
    }

    /// The text ends at `at`.
    pub(super) fn finish(&mut self, patterns: &[Anchored], at: usize) {
        for thread in self.awake.iter_mut().filter(|thread| !thread.over) {
            if patterns[usize::from(thread.pattern)].ends(thread.state) {
                thread.found = Some(at);
            }
            thread.over = true;
        }
    }

    /// Decides over the threads of each pattern, from the first on, as far as that is certain. The text is kept from
    /// `base` on.
    pub(super) fn conclude(&mut self, patterns: &[Anchored], text: &[u8], base: usize, hits: &mut Vec<Hit>) {
        self.awake.retain(|thread| !thread.over || thread.found.is_some());
        while let Some(at) = self.next_sure() {
            let Thread { pattern, start, found, .. } = self.awake.remove(at);
            let Some(found) = found else { continue };
            let anchored = &patterns[usize::from(pattern)];
            let mut hit = Hit::new(anchored.rule, start, found);
            if let Some(check) = anchored.check
                && let Ok(text) = std::str::from_utf8(&text[start - base..found - base])
            {
                let Some(counts) = check(text) else { continue };
                (hit.start, hit.end) = (start + counts.start, start + counts.end);
            }
            self.end(pattern, hit.end);
            hits.push(hit);
        }
    }

    /// Forgets those whose match is decided, without a hit: all of the text is withheld.
    pub(super) fn forget_over(&mut self) {
        while let Some(at) = self.next_sure() {
            let Thread { pattern, found, .. } = self.awake.remove(at);
            if let Some(end) = found {
                self.end(pattern, end);
            }
        }
        self.awake.retain(|thread| !thread.over || thread.found.is_some());
    }

    /// A match of a pattern ends: what began inside of it does not count.
    fn end(&mut self, pattern: u16, end: usize) {
        self.awake.retain(|thread| thread.pattern != pattern || thread.start >= end);
        self.ended.retain(|(of, before)| *of != pattern && *before + Gate::DEPTH > end);
        self.ended.push((pattern, end));
    }

    /// The first thread of a pattern, if it is over.
    fn next_sure(&self) -> Option<usize> {
        let is_first = |at: usize, thread: &Thread| {
            !self.awake[..at].iter().any(|before| before.pattern == thread.pattern)
        };
        self.awake.iter().enumerate().position(|(at, thread)| thread.over && is_first(at, thread))
    }

    /// Of two threads in the same state the later one has nothing to add, unless it has found a match of its own, or
    /// the earlier one may not count.
    fn join(&mut self, patterns: &[Anchored]) {
        let mut at = 1;
        while at < self.awake.len() {
            let thread = self.awake[at];
            let joins = |before: &Thread| {
                before.pattern == thread.pattern && before.state == thread.state && !before.over
            };
            let checked = patterns[usize::from(thread.pattern)].check.is_some();
            let inside = |before: &Thread| {
                before.pattern == thread.pattern && before.found.is_some_and(|end| thread.start < end)
            };
            let before = &self.awake[..at];
            let gone = !checked
                && ((thread.found.is_none() && !thread.over && before.iter().any(joins))
                    || before.iter().any(inside));
            if gone {
                self.awake.remove(at);
            } else {
                at += 1;
            }
        }
    }
}
