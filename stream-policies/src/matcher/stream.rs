//! A text that comes piece by piece.

use super::Patterns;
use super::cursor::{Cursor, Window};

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
    cursors: Vec<Cursor>,
    /// The text from `base` on: what is undecided, and a little before it.
    text: Vec<u8>,
    base: usize,
    limit: usize,
    /// Nothing before is undecided. Not always up to date.
    clear: usize,
    /// More than the limit was undecided: all is withheld until no match is under way.
    withholding: bool,
    over: bool,
    steps: u64,
}

impl Matcher {
    /// A matcher for one text, of which at most `limit` bytes may be undecided.
    pub(crate) fn new(patterns: Patterns, limit: usize) -> Self {
        let cursors = patterns.machines().iter().map(Cursor::new).collect();
        Self {
            patterns,
            cursors,
            text: Vec::new(),
            base: 0,
            limit,
            clear: 0,
            withholding: false,
            over: false,
            steps: 0,
        }
    }

    /// A matcher of the same kind for another text.
    pub(crate) fn emptied(&self) -> Self {
        Self::new(self.patterns.clone(), self.limit)
    }

    /// Takes more of the text, and adds what was found, in order. When more than the limit is undecided, all of it
    /// counts as a hit ([`OVER_LIMIT`]), and so does what follows until no match can be under way any more.
    pub(crate) fn push(&mut self, text: &str, hits: &mut Vec<Hit>) {
        if self.over {
            return;
        }
        self.text.reserve(text.len());
        for (byte, is_char_end) in bytes(text) {
            self.text.push(byte);
            if self.withholding {
                self.withhold(byte, is_char_end, hits);
                continue;
            }
            let (window, at) = (Window { text: &self.text, base: self.base }, self.end() - 1);
            let mut decided = false;
            for (cursor, machine) in self.cursors.iter_mut().zip(self.patterns.machines()) {
                self.steps += cursor.advance(machine, window, at);
                decided |= cursor.decided().is_some();
            }
            if decided {
                self.settle(hits);
            }
            if is_char_end && self.end() - self.clear > self.limit {
                self.check_limit(hits);
            }
        }
        self.trim();
    }

    /// The text is over: adds what was still undecided.
    pub(crate) fn finish(&mut self, hits: &mut Vec<Hit>) {
        if std::mem::replace(&mut self.over, true) || self.withholding {
            return;
        }
        self.finish_cursors();
        self.settle(hits);
    }

    /// How far the text is decided: everything before is part of a hit or of no match at all.
    pub(crate) fn decided(&self) -> usize {
        if self.withholding || self.over {
            return self.end();
        }
        let machines = self.patterns.machines();
        let earliest = self.cursors.iter().zip(machines).map(|(c, m)| c.earliest(m, self.end()));
        earliest.min().unwrap_or(usize::MAX).min(self.end())
    }

    /// How long the text is so far.
    pub(crate) fn end(&self) -> usize {
        self.base + self.text.len()
    }

    /// How many bytes its machines have read: what shows that its work is linear.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> u64 {
        self.steps
    }

    /// Takes every match that is certain: it is decided, and none of another machine can come before it.
    fn settle(&mut self, hits: &mut Vec<Hit>) {
        let end = self.end();
        loop {
            let machines = self.patterns.machines();
            let decided = self.cursors.iter().filter_map(Cursor::decided);
            let Some(best) = decided.min_by_key(|hit| (hit.start, hit.rule)) else { return };
            let waits = self.cursors.iter().zip(machines).any(|(cursor, machine)| {
                cursor.decided().is_none()
                    && (cursor.earliest(machine, end), machine.first_rule()) < (best.start, best.rule)
            });
            if waits {
                return;
            }
            hits.push(best);
            let window = Window { text: &self.text, base: self.base };
            for (cursor, machine) in self.cursors.iter_mut().zip(machines) {
                if cursor.earliest(machine, end) < best.end {
                    self.steps += cursor.restart(machine, window, best.end);
                }
            }
            if self.over {
                self.finish_cursors();
            }
        }
    }

    fn finish_cursors(&mut self) {
        let window = Window { text: &self.text, base: self.base };
        for (cursor, machine) in self.cursors.iter_mut().zip(self.patterns.machines()) {
            self.steps += cursor.finish(machine, window);
        }
    }

    fn check_limit(&mut self, hits: &mut Vec<Hit>) {
        self.clear = self.decided();
        let end = self.end();
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
    fn withhold(&mut self, byte: u8, is_char_end: bool, hits: &mut Vec<Hit>) {
        let at = self.end() - 1;
        let behind = self.text.len().checked_sub(2).map(|before| self.text[before]);
        let mut under_way = false;
        for (cursor, machine) in self.cursors.iter_mut().zip(self.patterns.machines()) {
            self.steps += 1;
            under_way |= cursor.pass(machine, byte, behind, at);
        }
        match hits.last_mut() {
            Some(last) if last.rule == OVER_LIMIT && last.end == at => last.end += 1,
            _ => hits.push(Hit { continues: true, ..Hit::new(OVER_LIMIT, at, at + 1) }),
        }
        self.clear = at + 1;
        self.withholding = under_way || !is_char_end;
    }

    /// Forgets text that is decided, but for what a boundary may look back at.
    fn trim(&mut self) {
        self.clear = self.decided();
        let gone = self.clear.saturating_sub(LOOK_BEHIND).saturating_sub(self.base);
        // Moving the rest costs no more than what is forgotten.
        if gone > 0 && gone >= self.text.len() / 2 {
            self.text.drain(..gone);
            self.base += gone;
            self.cursors.iter_mut().for_each(|cursor| cursor.forget(self.base));
        }
    }
}

/// The bytes of a text, each with whether it ends a character.
fn bytes(text: &str) -> impl Iterator<Item = (u8, bool)> + '_ {
    text.bytes().enumerate().map(|(at, byte)| (byte, text.is_char_boundary(at + 1)))
}

/// How far back a pattern may look: a word boundary one byte, the end of a line two.
const LOOK_BEHIND: usize = 4;
