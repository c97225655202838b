//! Chunks that wait until their text is decided, in every reading of it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde::Deserialize;
use stream_core::{BlockKey, Channel, Chunk, StreamBlock, StreamState};

use super::reading::{Reading, Stretch};
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
    /// follows in its choice waits with it. Where [text and reasoning are mixed](stream_core::TextBlock::is_mixed), reasoning waits for
    /// the text that comes next, too.
    #[default]
    ReasoningDecides,
    /// When more of its channel comes, or the stream ends. An answer waits for the end of the reasoning before it.
    Wait,
}

/// The texts of a stream, as clients put them together: one for each choice and channel, transcripts of speech apart. Text and reasoning
/// that are [mixed](stream_core::TextBlock::is_mixed) are one text, in which each channel is a field.
#[derive(Debug, Clone)]
pub(crate) struct Lanes {
    patterns: Patterns,
    limit: usize,
    block_ends: BlockEnds,
    lanes: Vec<((u32, Channel, bool), Lane)>,
}

impl Lanes {
    pub(crate) fn new(patterns: Patterns, limit: usize, block_ends: BlockEnds) -> Self {
        Self { patterns, limit, block_ends, lanes: Vec::new() }
    }

    /// The text that a block belongs to; `None` if it is no text.
    pub(crate) fn of(&mut self, key: BlockKey, state: &StreamState) -> Option<&mut Lane> {
        let block = state.block(key)?;
        let (channel, text) = (block.channel()?, block.as_text()?);
        let channel = if text.is_mixed() { Channel::Content } else { channel };
        let name = (block.choice(), channel, text.is_spoken());
        let at = match self.lanes.binary_search_by_key(&name, |(name, _)| *name) {
            Ok(at) => at,
            Err(at) => {
                let lane = Lane::new(Matcher::new(self.patterns.clone(), self.limit));
                self.lanes.insert(at, (name, lane));
                at
            }
        };
        self.lanes.get_mut(at).map(|(_, lane)| lane)
    }

    /// A block is over: what is undecided at its end may be decided there.
    pub(crate) fn close(&mut self, block: &StreamBlock, state: &StreamState) -> Option<&mut Lane> {
        let is_reasoning = block.channel()? == Channel::Reasoning;
        let settles = match self.block_ends {
            BlockEnds::Decide => Settles::All,
            BlockEnds::ReasoningDecides if !is_reasoning => Settles::Nothing,
            BlockEnds::ReasoningDecides => match mixed(block) {
                Some(field) => Settles::Field(field),
                None => Settles::All,
            },
            BlockEnds::Wait => Settles::Nothing,
        };
        let lane = self.of(block.key(), state)?;
        lane.closes(block.key(), settles);
        Some(lane)
    }

    /// All texts with their choices, in order.
    pub(crate) fn all(&mut self) -> impl Iterator<Item = (u32, &mut Lane)> {
        self.lanes.iter_mut().map(|((choice, ..), lane)| (*choice, lane))
    }
}

/// The fields that the text of a chunk stands in.
pub(crate) fn fields(chunk: &Chunk, state: &StreamState) -> u16 {
    let block = chunk.block().and_then(|key| state.block(key));
    block.and_then(mixed).unwrap_or_else(|| chunk.fields())
}

/// The field of a channel in a text that is mixed of several.
fn mixed(block: &StreamBlock) -> Option<u16> {
    let is_mixed = block.as_text()?.is_mixed();
    is_mixed.then_some(if block.channel() == Some(Channel::Reasoning) { THOUGHT } else { SAID })
}

const SAID: u16 = 1;
const THOUGHT: u16 = 2;

/// What is decided at the end of a block as if no more text came, though it may: what comes is still matched together with it, and of a match
/// that goes on, the rest is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Settles {
    Nothing,
    /// One field, of all that have text.
    Field(u16),
    All,
}

/// One text, and its chunks that have not left.
///
/// The text has one reading as long as all clients put it together in the same way: as it comes. Where a channel has
/// several fields, each of them is a reading of its own; where blocks are open side by side, so are the blocks one after
/// the other. A reading begins as a copy of the first one, from which it did not differ before.
#[derive(Debug, Clone)]
pub(crate) struct Lane {
    /// All text as it comes.
    first: Reading,
    /// The text of one field each.
    fields: Vec<(u16, Reading)>,
    /// The fields of all text so far.
    seen: Option<u16>,
    /// The text of the blocks one after the other.
    blocks: Option<Box<Blocks>>,
    /// Blocks that are open.
    open: BTreeSet<BlockKey>,
    held: VecDeque<Held>,
    /// How many chunks were held and have left.
    gone: usize,
    scratch: Vec<Hit>,
}

/// The reading of blocks one after the other: a block that opened later waits for those before it.
#[derive(Debug, Clone)]
struct Blocks {
    reading: Reading,
    /// The chunks that wait, by their blocks: their numbers among those that were held.
    waiting: BTreeMap<BlockKey, Vec<usize>>,
}

#[derive(Debug, Clone)]
struct Held {
    key: BlockKey,
    text: String,
    /// Where it starts in the first reading, and in those of its fields.
    start: usize,
    fields: Vec<(u16, usize)>,
    /// Where it starts in the reading of blocks, once it is its turn.
    in_blocks: Option<usize>,
}

/// A chunk that may leave: as it came, or with other text.
#[derive(Debug, PartialEq)]
pub(crate) struct Piece {
    pub(crate) key: BlockKey,
    pub(crate) text: Option<String>,
}

impl Lane {
    fn new(matcher: Matcher) -> Self {
        Self {
            first: Reading::new(matcher),
            fields: Vec::new(),
            seen: None,
            blocks: None,
            open: BTreeSet::new(),
            held: VecDeque::new(),
            gone: 0,
            scratch: Vec::new(),
        }
    }

    /// A block opens, of which no text has come.
    pub(crate) fn opens(&mut self, key: BlockKey) {
        self.open.insert(key);
    }

    /// Takes the next chunk, which stands in these fields. True if it may leave as it came, at once; else it is kept.
    /// With `keep` it always is.
    pub(crate) fn push(&mut self, key: BlockKey, fields: u16, text: &str, keep: bool) -> bool {
        if self.open.first() != Some(&key) {
            self.open.insert(key);
            if self.open.first() != Some(&key) && self.blocks.is_none() {
                self.part_blocks();
            }
        }
        self.part_fields(fields);
        let start = self.first.push(text, &mut self.scratch);
        let mut passes = self.held.is_empty() && self.first.is_clear();
        let mut places = Vec::new();
        for (field, reading) in &mut self.fields {
            if fields == 0 || fields & *field != 0 {
                let start = reading.push(text, &mut self.scratch);
                passes &= reading.is_clear();
                places.push((*field, start));
            }
        }
        let mut in_blocks = None;
        if let Some(blocks) = &mut self.blocks {
            if self.open.first() == Some(&key) && blocks.waiting.is_empty() {
                in_blocks = Some(blocks.reading.push(text, &mut self.scratch));
                passes &= blocks.reading.is_clear();
            } else {
                blocks.waiting.entry(key).or_default().push(self.gone + self.held.len());
                passes = false;
            }
        }
        if passes && !keep {
            return true;
        }
        self.held.push_back(Held { key, text: text.to_owned(), start, fields: places, in_blocks });
        false
    }

    /// A block is over.
    fn closes(&mut self, key: BlockKey, settles: Settles) {
        self.open.remove(&key);
        self.turn();
        let scratch = &mut self.scratch;
        match settles {
            Settles::Nothing => {}
            Settles::Field(field) => {
                self.part_fields(SAID | THOUGHT);
                let own = self.fields.iter_mut().filter(|(known, _)| *known == field);
                own.for_each(|(_, reading)| reading.settle(&mut self.scratch));
            }
            Settles::All => {
                self.first.settle(scratch);
                self.fields.iter_mut().for_each(|(_, reading)| reading.settle(scratch));
                if let Some(blocks) = &mut self.blocks {
                    blocks.reading.settle(scratch);
                }
            }
        }
    }

    /// No more text comes: decides over all.
    pub(crate) fn finish(&mut self) {
        self.open.clear();
        self.turn();
        self.first.finish(&mut self.scratch);
        for (_, reading) in &mut self.fields {
            reading.finish(&mut self.scratch);
        }
        if let Some(blocks) = &mut self.blocks {
            blocks.reading.finish(&mut self.scratch);
        }
    }

    /// The rules of what was found in chunks that have not left.
    pub(crate) fn rules(&self) -> impl Iterator<Item = usize> {
        self.readings().flat_map(Reading::hits).map(|hit| hit.rule)
    }

    /// How many of the chunks that have not left are decided, from the first on.
    pub(crate) fn decided(&self) -> usize {
        self.held.iter().take_while(|held| self.is_decided(held)).count()
    }

    /// As [`decided`](Self::decided), for blocks that leave as a whole or not at all.
    pub(crate) fn decided_blocks(&self, is_over: impl Fn(BlockKey) -> bool) -> usize {
        let mut last: BTreeMap<BlockKey, usize> = BTreeMap::new();
        last.extend(self.held.iter().enumerate().map(|(at, held)| (held.key, at)));
        let (mut whole, mut until) = (0, 0);
        for (at, held) in self.held.iter().enumerate() {
            if !self.is_decided(held) || !is_over(held.key) {
                break;
            }
            until = until.max(last.get(&held.key).map_or(usize::MAX, |last| last + 1));
            if until == at + 1 {
                whole = until;
            }
        }
        whole
    }

    /// The block of the first chunk that has not left.
    pub(crate) fn first_held(&self) -> Option<BlockKey> {
        self.held.front().map(|held| held.key)
    }

    /// Takes this many chunks, with something else in place of what was found.
    pub(crate) fn release(&mut self, count: usize, mut put: impl FnMut(usize) -> String) -> Vec<Piece> {
        let mut released = Vec::with_capacity(count);
        for _ in 0..count {
            let Some(held) = self.held.pop_front() else { break };
            self.gone += 1;
            let text = self.edited(&held, &mut put);
            released.push(Piece { key: held.key, text });
        }
        if self.held.is_empty()
            && let Some(blocks) = &mut self.blocks
        {
            blocks.reading.forget();
        }
        released
    }

    /// The rule of the first thing that was found, and all chunks cut there: nothing from it on is to leave.
    pub(crate) fn cut(&mut self) -> Option<(usize, Vec<Piece>)> {
        let first = self.held.iter().enumerate().find_map(|(at, held)| {
            let found = self.stretches(held).into_iter().min_by_key(|stretch| stretch.start);
            found.map(|stretch| (at, stretch.start, stretch.rule))
        });
        let (until, keep, rule) = first?;
        let cut = |(at, held): (usize, Held)| {
            let text = match at.cmp(&until) {
                std::cmp::Ordering::Less => None,
                std::cmp::Ordering::Equal => Some(held.text.get(..keep).unwrap_or_default().to_owned()),
                std::cmp::Ordering::Greater => Some(String::new()),
            };
            Piece { key: held.key, text }
        };
        self.gone += self.held.len();
        let released = std::mem::take(&mut self.held).into_iter().enumerate().map(cut).collect();
        for reading in self.readings_mut() {
            reading.forget_all();
        }
        Some((rule, released))
    }

    fn readings(&self) -> impl Iterator<Item = &Reading> {
        let fields = self.fields.iter().map(|(_, reading)| reading);
        std::iter::once(&self.first).chain(fields).chain(self.blocks.iter().map(|blocks| &blocks.reading))
    }

    fn readings_mut(&mut self) -> impl Iterator<Item = &mut Reading> {
        let fields = self.fields.iter_mut().map(|(_, reading)| reading);
        let blocks = self.blocks.iter_mut().map(|blocks| &mut blocks.reading);
        std::iter::once(&mut self.first).chain(fields).chain(blocks)
    }

    fn is_decided(&self, held: &Held) -> bool {
        let until = |start: usize| start + held.text.len();
        self.first.decided() >= until(held.start)
            && held.fields.iter().all(|(field, start)| {
                let reading = self.fields.iter().find(|(name, _)| name == field);
                reading.is_none_or(|(_, reading)| reading.decided() >= until(*start))
            })
            && self.blocks.as_ref().is_none_or(|blocks| {
                held.in_blocks.is_some_and(|start| blocks.reading.decided() >= until(start))
            })
    }

    /// From here on the blocks are read one after the other, too.
    fn part_blocks(&mut self) {
        for held in &mut self.held {
            held.in_blocks = Some(held.start);
        }
        self.blocks = Some(Box::new(Blocks { reading: self.first.clone(), waiting: BTreeMap::new() }));
    }

    /// Reads each field by itself, once there are several.
    fn part_fields(&mut self, fields: u16) {
        let seen = *self.seen.get_or_insert(fields);
        if seen == fields && self.fields.is_empty() {
            return;
        }
        let all = seen | fields;
        let parts = self.fields.is_empty();
        let known = self.fields.iter().fold(0, |known, (field, _)| known | *field);
        for field in (0..u16::BITS).map(|bit| 1 << bit).filter(|field| all & !known & field != 0) {
            let is_copy = parts && (seen == 0 || seen & field != 0);
            let reading = if is_copy { self.first.clone() } else { self.first.emptied() };
            if is_copy {
                self.held.iter_mut().for_each(|held| held.fields.push((field, held.start)));
            }
            self.fields.push((field, reading));
        }
        self.seen = Some(all);
    }

    /// Reads the chunks whose turn has come in the reading of blocks.
    fn turn(&mut self) {
        let Some(blocks) = &mut self.blocks else { return };
        let open = self.open.first().copied();
        while let Some(next) = blocks.waiting.first_entry() {
            if open.is_some_and(|open| open < *next.key()) {
                return;
            }
            for number in next.remove() {
                if let Some(held) = self.held.get_mut(number - self.gone) {
                    held.in_blocks = Some(blocks.reading.push(&held.text, &mut self.scratch));
                }
            }
        }
    }

    /// What is found in a chunk, in all readings, as places in its text.
    fn stretches(&self, held: &Held) -> Vec<Stretch> {
        let length = held.text.len();
        let mut found = self.first.stretches(held.start, length);
        for (field, start) in &held.fields {
            if let Some((_, reading)) = self.fields.iter().find(|(name, _)| name == field) {
                found.extend(reading.stretches(*start, length));
            }
        }
        if let (Some(blocks), Some(start)) = (&self.blocks, held.in_blocks) {
            found.extend(blocks.reading.stretches(start, length));
        }
        found.sort_unstable_by_key(|stretch| (stretch.start, stretch.rule));
        found
    }

    /// The chunk was decided over in all readings.
    fn passed(&mut self, held: &Held) {
        let length = held.text.len();
        self.first.passed(held.start, length, true);
        for (field, start) in &held.fields {
            if let Some((_, reading)) = self.fields.iter_mut().find(|(name, _)| name == field) {
                reading.passed(*start, length, true);
            }
        }
        if let (Some(blocks), Some(start)) = (&mut self.blocks, held.in_blocks) {
            blocks.reading.passed(start, length, false);
        }
    }

    /// The text of a chunk without what was found in any reading; `None` if nothing was.
    fn edited(&mut self, held: &Held, put: &mut impl FnMut(usize) -> String) -> Option<String> {
        let found = self.stretches(held);
        self.passed(held);
        let mut text = String::with_capacity(held.text.len());
        let mut at = 0;
        let mut found = found.into_iter().peekable();
        found.peek()?;
        while let Some(first) = found.next() {
            // What overlaps goes together, and one thing stands for it; where it has begun before, nothing does.
            let (mut end, mut begins) = (first.end, (!first.continues).then_some(first.rule));
            while let Some(next) = found.next_if(|next| next.start < end) {
                end = end.max(next.end);
                begins = begins.or((!next.continues).then_some(next.rule));
            }
            text.push_str(held.text.get(at..first.start).unwrap_or_default());
            if let Some(rule) = begins {
                text.push_str(&put(rule));
            }
            at = end;
        }
        text.push_str(held.text.get(at..).unwrap_or_default());
        Some(text)
    }
}
