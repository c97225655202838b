//! Chunks that wait until their text is decided.

use std::collections::{BTreeMap, VecDeque};

use serde::Deserialize;
use stream_core::{BlockKey, Channel, StreamState};

use super::{Hit, Matcher, Patterns};

/// When text at the end of a block is decided that could be the start of a match.
///
/// Clients put the text of a choice together over its blocks, so a match may start in one and end in another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BlockEnds {
    /// At the end of its block. A match that goes on in the next block is cut there: what has left has left.
    Decide,
    /// Reasoning at the end of its block, everything else when more of its channel comes, or the stream ends. What
    /// follows in its choice waits with it.
    #[default]
    ReasoningDecides,
    /// When more of its channel comes, or the stream ends. An answer waits for the end of the reasoning before it.
    Wait,
}

/// The texts of a stream, as clients put them together: one for each choice and channel, transcripts of speech apart.
#[derive(Debug, Clone)]
pub(crate) struct Lanes {
    patterns: Patterns,
    limit: usize,
    block_ends: BlockEnds,
    lanes: BTreeMap<(u32, Channel, bool), Lane>,
}

impl Lanes {
    pub(crate) fn new(patterns: Patterns, limit: usize, block_ends: BlockEnds) -> Self {
        Self { patterns, limit, block_ends, lanes: BTreeMap::new() }
    }

    /// The text that a block belongs to; `None` if it is no text.
    pub(crate) fn of(&mut self, key: BlockKey, state: &StreamState) -> Option<&mut Lane> {
        let block = state.block(key)?;
        let (channel, text) = (block.channel()?, block.as_text()?);
        let lane = self.lanes.entry((block.choice(), channel, text.is_spoken()));
        Some(lane.or_insert_with(|| Lane::new(Matcher::new(self.patterns.clone(), self.limit))))
    }

    /// Whether what is undecided of a block is decided at the block's end.
    pub(crate) fn decides_at_end_of(&self, channel: Channel) -> bool {
        match self.block_ends {
            BlockEnds::Decide => true,
            BlockEnds::ReasoningDecides => channel == Channel::Reasoning,
            BlockEnds::Wait => false,
        }
    }

    /// All texts with their choices, in order.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = (u32, &mut Lane)> {
        self.lanes.iter_mut().map(|((choice, ..), lane)| (*choice, lane))
    }
}

/// One text, and its chunks that have not left.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    matcher: Matcher,
    held: VecDeque<Held>,
    /// What was found in chunks that have not left.
    hits: VecDeque<Hit>,
    /// Everything before was decided, or settled early.
    settled: usize,
    scratch: Vec<Hit>,
}

#[derive(Debug, Clone)]
struct Held {
    key: BlockKey,
    start: usize,
    text: String,
}

impl Held {
    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// A chunk that may leave: as it came, or with other text.
#[derive(Debug, PartialEq)]
pub(crate) struct Release {
    pub(crate) key: BlockKey,
    pub(crate) text: Option<String>,
}

impl Lane {
    fn new(matcher: Matcher) -> Self {
        Self { matcher, held: VecDeque::new(), hits: VecDeque::new(), settled: 0, scratch: Vec::new() }
    }

    /// Takes the next chunk. True if it may leave as it came, at once; else it is kept. With `keep` it always is.
    pub(crate) fn push(&mut self, key: BlockKey, text: &str, keep: bool) -> bool {
        let start = self.matcher.end();
        self.matcher.push(text, &mut self.scratch);
        self.take_hits();
        let is_clear = self.held.is_empty() && self.hits.is_empty() && self.decided() == self.matcher.end();
        let passes = is_clear && !keep;
        if !passes {
            self.held.push_back(Held { key, start, text: text.to_owned() });
        }
        passes
    }

    /// Decides over all that has come as if no more came, though it may. What comes is still matched together with it;
    /// of a match that goes on, the rest is found.
    pub(crate) fn settle(&mut self) {
        self.matcher.clone().finish(&mut self.scratch);
        self.take_hits();
        self.settled = self.matcher.end();
    }

    /// No more text comes: decides over all.
    pub(crate) fn finish(&mut self) {
        self.matcher.finish(&mut self.scratch);
        self.take_hits();
    }

    /// How far the text is decided.
    pub(crate) fn decided(&self) -> usize {
        self.matcher.decided().max(self.settled)
    }

    /// What was found in chunks that have not left.
    pub(crate) fn hits(&self) -> impl Iterator<Item = &Hit> {
        self.hits.iter()
    }

    /// The blocks of the chunks that have not left, with the end of each one's last chunk.
    pub(crate) fn held_blocks(&self) -> Vec<(BlockKey, usize)> {
        let mut blocks: Vec<(BlockKey, usize)> = Vec::new();
        for held in &self.held {
            match blocks.last_mut() {
                Some((key, end)) if *key == held.key => *end = held.end(),
                _ => blocks.push((held.key, held.end())),
            }
        }
        blocks
    }

    /// Takes the chunks that end at `until` or before, with something else in place of what was found.
    pub(crate) fn release(&mut self, until: usize, mut put: impl FnMut(&Hit) -> String) -> Vec<Release> {
        let mut released = Vec::new();
        while self.held.front().is_some_and(|held| held.end() <= until) {
            let Some(held) = self.held.pop_front() else { break };
            let text = self.edited(&held, &mut put);
            released.push(Release { key: held.key, text });
        }
        released
    }

    /// Takes all chunks, of which nothing from `at` on is to leave.
    pub(crate) fn cut(&mut self, at: usize) -> Vec<Release> {
        self.hits.clear();
        let cut = |held: Held| {
            let keep = at.saturating_sub(held.start);
            let text = (keep < held.text.len()).then(|| held.text.get(..keep).unwrap_or_default().to_owned());
            Release { key: held.key, text }
        };
        self.held.drain(..).map(cut).collect()
    }

    fn take_hits(&mut self) {
        let settled = self.settled;
        self.hits.extend(self.scratch.drain(..).filter(|hit| hit.end > settled));
    }

    /// The text of a chunk without what was found; `None` if nothing was.
    fn edited(&mut self, held: &Held, put: &mut impl FnMut(&Hit) -> String) -> Option<String> {
        if self.hits.front().is_none_or(|hit| hit.start >= held.end()) {
            return None;
        }
        let mut text = String::with_capacity(held.text.len());
        let mut at = held.start;
        while let Some(hit) = self.hits.front_mut().filter(|hit| hit.start < held.end()) {
            text.push_str(held.text.get(at - held.start..hit.start.max(at) - held.start).unwrap_or_default());
            // What stands for a hit stands where the hit starts, or where it is first withheld.
            if !std::mem::replace(&mut hit.continues, true) {
                text.push_str(&put(hit));
            }
            at = hit.end.clamp(at, held.end());
            if hit.end > held.end() {
                break;
            }
            self.hits.pop_front();
        }
        text.push_str(held.text.get(at - held.start..).unwrap_or_default());
        Some(text)
    }
}
