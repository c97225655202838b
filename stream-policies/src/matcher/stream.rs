//! A text that comes piece by piece.

use super::cursor::{Cursor, Window};
use super::gate::Gate;
use super::literals::{Literals, Mark};
use super::threads::Threads;
use super::{Patterns, Shared};

/// What was found: a stretch of the text, in bytes from its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    /// The place of the pattern in the list, or [`OVER_LIMIT`].
    pub(crate) rule: usize,
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// It goes on where the hit before it ended.
    pub(crate) continues: bool,
}

impl Hit {
    pub(super) fn new(rule: usize, start: usize, end: usize) -> Self {
        Self { rule, start, end, continues: false }
    }
}

/// The rule of text that was undecided for longer than the limit.
pub(crate) const OVER_LIMIT: usize = usize::MAX;

/// Finds patterns in a text that comes piece by piece. What it finds does not depend on the pieces.
#[derive(Debug, Clone)]
pub(crate) struct Matcher {
    patterns: Patterns,
    progress: Progress,
}

/// How far a matcher has come.
#[derive(Debug, Clone)]
struct Progress {
    /// Where the gate stands.
    gate: u32,
    /// More than the limit was undecided: all is withheld until no match is under way.
    withholding: bool,
    over: bool,
    /// Patterns that have begun.
    threads: Threads,
    cursors: Vec<Cursor>,
    literals: Vec<Mark>,
    /// The text from `base` on: what is undecided, and a little before it.
    text: Vec<u8>,
    base: usize,
    limit: usize,
    /// Nothing before is undecided. Not always up to date.
    clear: usize,
    #[cfg(test)]
    steps: u64,
}

impl Matcher {
    /// A matcher for one text, of which at most `limit` bytes may be undecided.
    pub(crate) fn new(patterns: Patterns, limit: usize) -> Self {
        let progress = Progress::new(&patterns.shared, limit);
        Self { patterns, progress }
    }

    /// A matcher of the same kind for another text.
    pub(crate) fn emptied(&self) -> Self {
        Self::new(self.patterns.clone(), self.progress.limit)
    }

    /// Takes more of the text, and adds what was found. When more than the limit is undecided, all of it counts as a hit
    /// ([`OVER_LIMIT`]), and so does what follows until no match can be under way any more.
    pub(crate) fn push(&mut self, text: &str, hits: &mut Vec<Hit>) {
        self.progress.push(&self.patterns.shared, text, hits);
    }

    /// The text is over: adds what was still undecided.
    pub(crate) fn finish(&mut self, hits: &mut Vec<Hit>) {
        self.progress.finish(&self.patterns.shared, hits);
    }

    /// How far the text is decided: everything before is part of a hit or of no match at all.
    pub(crate) fn decided(&self) -> usize {
        let end = self.end();
        if self.progress.withholding || self.progress.over {
            return end;
        }
        self.progress.decided(&self.patterns.shared, end)
    }

    /// How much text has come, in bytes.
    pub(crate) fn end(&self) -> usize {
        self.progress.end()
    }

    /// How many bytes were read, counted once for each automaton that read them.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> u64 {
        self.progress.steps
    }
}

impl Progress {
    fn new(shared: &Shared, limit: usize) -> Self {
        Self {
            gate: 0,
            withholding: false,
            over: false,
            threads: Threads::default(),
            cursors: shared.machines.iter().map(Cursor::new).collect(),
            literals: shared.literals.iter().map(Literals::start).collect(),
            text: Vec::new(),
            base: 0,
            limit,
            clear: 0,
            #[cfg(test)]
            steps: 0,
        }
    }

    fn push(&mut self, shared: &Shared, text: &str, hits: &mut Vec<Hit>) {
        if self.over {
            return;
        }
        let end = self.end();
        self.text.extend_from_slice(text.as_bytes());
        let is_gate_alone = self.is_gate_alone();
        let mut at = 0;
        while at < text.len() {
            if is_gate_alone && self.threads.is_empty() && !self.withholding {
                at = self.skip(shared, text, at);
                if at == text.len() {
                    break;
                }
            }
            let byte = text.as_bytes()[at];
            self.step(shared, byte, end + at, text.is_char_boundary(at + 1), hits);
            at += 1;
        }
        self.trim(shared);
    }

    fn finish(&mut self, shared: &Shared, hits: &mut Vec<Hit>) {
        if std::mem::replace(&mut self.over, true) || self.withholding {
            return;
        }
        self.threads.finish(&shared.anchored, self.end());
        self.threads.conclude(&shared.anchored, &self.text, self.base, hits);
        let window = Window { text: &self.text, base: self.base };
        for (cursor, machine) in self.cursors.iter_mut().zip(&shared.machines) {
            cursor.finish(machine, window);
        }
        self.settle(shared, self.end(), hits);
    }

    /// How far the text up to `end` is decided, with what was read up to there.
    fn decided(&self, shared: &Shared, end: usize) -> usize {
        let mut decided = end - shared.gate.depth(self.gate).min(end);
        decided = self.threads.earliest().map_or(decided, |start| decided.min(start));
        for (cursor, machine) in self.cursors.iter().zip(&shared.machines) {
            decided = decided.min(cursor.earliest(machine, end));
        }
        for (place, literals) in self.literals.iter().zip(&shared.literals) {
            decided = decided.min(literals.earliest(*place, end));
        }
        decided
    }

    fn end(&self) -> usize {
        self.base + self.text.len()
    }

    /// Whether only the gate looks at text.
    fn is_gate_alone(&self) -> bool {
        // Over a limit this short even the gate would have to look.
        let is_short = self.limit < Gate::DEPTH;
        !is_short && self.cursors.is_empty() && self.literals.is_empty()
    }

    /// Reads on while nothing but the gate is awake; where something is to be woken.
    fn skip(&mut self, shared: &Shared, text: &str, from: usize) -> usize {
        let gate = &shared.gate;
        let mut state = self.gate;
        for (at, byte) in text.as_bytes()[from..].iter().enumerate() {
            let next = gate.step(state, *byte);
            if gate.wakes(next) {
                self.gate = state;
                return from + at;
            }
            state = next;
        }
        self.gate = state;
        text.len()
    }

    /// Takes the byte at `at`.
    fn step(&mut self, shared: &Shared, byte: u8, at: usize, is_char_end: bool, hits: &mut Vec<Hit>) {
        self.count(1 + self.threads.len() + self.literals.len());
        self.gate = shared.gate.step(self.gate, byte);
        let concludes = !self.threads.is_empty() && self.threads.step(&shared.anchored, byte, at);
        if shared.gate.wakes(self.gate) {
            self.threads.wake(&shared.anchored, shared.gate.woken(self.gate), at);
        }
        if self.withholding {
            self.withhold(shared, byte, at, is_char_end, hits);
            return;
        }
        if concludes {
            self.threads.conclude(&shared.anchored, &self.text, self.base, hits);
        }
        for (place, literals) in self.literals.iter_mut().zip(&shared.literals) {
            literals.step(place, byte, at, hits);
        }
        if !self.cursors.is_empty() {
            let window = Window { text: &self.text[..at + 1 - self.base], base: self.base };
            let mut decided = false;
            let mut steps = 0;
            for (cursor, machine) in self.cursors.iter_mut().zip(&shared.machines) {
                steps += cursor.advance(machine, window, at);
                decided |= cursor.decided().is_some();
            }
            self.count(usize::try_from(steps).unwrap_or(usize::MAX));
            if decided {
                self.settle(shared, at + 1, hits);
            }
        }
        if is_char_end && at + 1 - self.clear > self.limit {
            self.check_limit(shared, at + 1, hits);
        }
    }

    #[cfg_attr(not(test), allow(clippy::unused_self, reason = "only tests count"))]
    fn count(&mut self, steps: usize) {
        #[cfg(test)]
        {
            self.steps += steps as u64;
        }
        #[cfg(not(test))]
        let _ = steps;
    }

    /// Takes the matches that cursors have decided over, and lets them go on behind.
    fn settle(&mut self, shared: &Shared, end: usize, hits: &mut Vec<Hit>) {
        let window = Window { text: &self.text[..end - self.base], base: self.base };
        let mut steps = 0;
        for (cursor, machine) in self.cursors.iter_mut().zip(&shared.machines) {
            while let Some(hit) = cursor.decided() {
                hits.push(hit);
                steps += cursor.restart(machine, window, hit.end);
                if self.over {
                    steps += cursor.finish(machine, window);
                }
            }
        }
        self.count(usize::try_from(steps).unwrap_or(usize::MAX));
    }

    fn check_limit(&mut self, shared: &Shared, end: usize, hits: &mut Vec<Hit>) {
        self.clear = self.decided(shared, end);
        if end - self.clear <= self.limit {
            return;
        }
        // Characters are withheld whole.
        let is_inside = |at: usize| self.text.get(at - self.base).is_some_and(|byte| byte & 0xC0 == 0x80);
        while self.clear > self.base && is_inside(self.clear) {
            self.clear -= 1;
        }
        hits.push(Hit::new(OVER_LIMIT, self.clear, end));
        self.clear = end;
        self.withholding = true;
    }

    /// One more byte of text that is withheld; the end of it, if no match can be under way.
    fn withhold(&mut self, shared: &Shared, byte: u8, at: usize, is_char_end: bool, hits: &mut Vec<Hit>) {
        let behind = (at - self.base).checked_sub(1).map(|before| self.text[before]);
        self.threads.forget_over();
        let mut under_way = !self.threads.is_empty() || shared.gate.depth(self.gate) > 0;
        for (cursor, machine) in self.cursors.iter_mut().zip(&shared.machines) {
            under_way |= cursor.pass(machine, byte, behind, at);
        }
        let mut found = Vec::new();
        for (place, literals) in self.literals.iter_mut().zip(&shared.literals) {
            literals.step(place, byte, at, &mut found);
            under_way |= literals.earliest(*place, at + 1) < at + 1;
        }
        self.count(self.cursors.len());
        match hits.last_mut() {
            Some(last) if last.rule == OVER_LIMIT && last.end == at => last.end += 1,
            _ => hits.push(Hit { continues: true, ..Hit::new(OVER_LIMIT, at, at + 1) }),
        }
        self.clear = at + 1;
        self.withholding = under_way || !is_char_end;
    }

    /// Forgets text that is decided, but for what a boundary may look back at.
    fn trim(&mut self, shared: &Shared) {
        let end = self.end();
        self.clear = if self.withholding { end } else { self.decided(shared, end) };
        // Only cursors look back.
        let kept = if self.cursors.is_empty() { 0 } else { LOOK_BEHIND };
        let gone = self.clear.saturating_sub(kept).saturating_sub(self.base);
        if gone == self.text.len() {
            self.text.clear();
            self.base += gone;
            return;
        }
        // Moving the rest costs no more than what is forgotten.
        if gone > 0 && gone >= self.text.len() / 2 {
            self.text.drain(..gone);
            self.base += gone;
            self.cursors.iter_mut().for_each(|cursor| cursor.forget(self.base));
        }
    }
}

/// Hits in order, of which those that overlap have become one, under the rule of the first.
pub(super) fn joined(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.sort_by_key(|hit| (hit.start, hit.rule));
    let mut joined: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match joined.last_mut() {
            Some(last) if hit.start < last.end => last.end = last.end.max(hit.end),
            _ => joined.push(hit),
        }
    }
    joined
}

/// How far back a pattern may look: a word boundary one byte, the end of a line two.
const LOOK_BEHIND: usize = 4;
