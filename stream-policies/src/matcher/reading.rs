//! One way to put a text together.

use std::collections::VecDeque;

use super::{Hit, Matcher};

/// A text as one client reads it, and what was found in it.
#[derive(Debug, Clone)]
pub(super) struct Reading {
    matcher: Matcher,
    /// What was found in chunks that have not left, in order.
    hits: VecDeque<Hit>,
    /// Everything before was decided, or settled early.
    settled: usize,
}

/// What is found in a chunk, as a place in its text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) rule: usize,
    /// Something stands for it already, in a chunk before.
    pub(super) continues: bool,
}

impl Reading {
    pub(super) fn new(matcher: Matcher) -> Self {
        Self { matcher, hits: VecDeque::new(), settled: 0 }
    }

    /// A reading of the same kind without text.
    pub(super) fn emptied(&self) -> Self {
        Self::new(self.matcher.emptied())
    }

    /// Takes more text. Where it starts.
    pub(super) fn push(&mut self, text: &str, scratch: &mut Vec<Hit>) -> usize {
        let start = self.matcher.end();
        self.matcher.push(text, scratch);
        self.take_hits(scratch);
        start
    }

    /// Decides over all that has come, though more may come.
    pub(super) fn settle(&mut self, scratch: &mut Vec<Hit>) {
        self.matcher.clone().finish(scratch);
        self.take_hits(scratch);
        self.settled = self.matcher.end();
    }

    /// No more text comes.
    pub(super) fn finish(&mut self, scratch: &mut Vec<Hit>) {
        self.matcher.finish(scratch);
        self.take_hits(scratch);
    }

    /// How far the text is decided.
    pub(super) fn decided(&self) -> usize {
        self.matcher.decided().max(self.settled)
    }

    /// Whether nothing was found or is undecided.
    pub(super) fn is_clear(&self) -> bool {
        self.hits.is_empty() && self.decided() == self.matcher.end()
    }

    /// What was found in chunks that have not left.
    pub(super) fn hits(&self) -> impl Iterator<Item = &Hit> {
        self.hits.iter()
    }

    /// What is found in the chunk of this length at `start`.
    pub(super) fn stretches(&self, start: usize, length: usize) -> Vec<Stretch> {
        let end = start + length;
        let first = self.hits.partition_point(|hit| hit.end <= start);
        let hits = self.hits.iter().skip(first).take_while(|hit| hit.start < end);
        hits.map(|hit| Stretch {
            start: hit.start.max(start) - start,
            end: hit.end.min(end) - start,
            rule: hit.rule,
            continues: hit.continues,
        })
        .collect()
    }

    /// The chunk at `start` was decided over: what stands for its hits stands there. Chunks that come in order need not
    /// be remembered.
    pub(super) fn passed(&mut self, start: usize, length: usize, in_order: bool) {
        let end = start + length;
        let first = self.hits.partition_point(|hit| hit.end <= start);
        for hit in self.hits.iter_mut().skip(first).take_while(|hit| hit.start < end) {
            hit.continues = true;
        }
        while in_order && self.hits.front().is_some_and(|hit| hit.end <= end) {
            self.hits.pop_front();
        }
    }

    /// All chunks have left: forgets what was found in them.
    pub(super) fn forget(&mut self) {
        let end = self.matcher.end();
        self.hits.retain(|hit| hit.end > end);
    }

    /// Forgets all that was found.
    pub(super) fn forget_all(&mut self) {
        self.hits.clear();
    }

    /// Adds what was found. Hits that overlap become one: the stretch of both, under the rule of the first.
    fn take_hits(&mut self, scratch: &mut Vec<Hit>) {
        let settled = self.settled;
        for mut hit in scratch.drain(..).filter(|hit| hit.end > settled) {
            let at = self.hits.partition_point(|known| known.end <= hit.start);
            while let Some(known) = self.hits.get(at).filter(|known| known.start < hit.end) {
                let first = if (known.start, known.rule) <= (hit.start, hit.rule) { known } else { &hit };
                hit = Hit {
                    rule: first.rule,
                    start: known.start.min(hit.start),
                    end: known.end.max(hit.end),
                    continues: known.continues || hit.continues,
                };
                self.hits.remove(at);
            }
            self.hits.insert(at, hit);
        }
    }
}
