//! The text of one block of a stream: what copies of it are held against, and what is left of it.

use std::ops::Range;

use super::source::index;
use crate::delta::{Channel, Slot};

/// How the wire names a text: its choice, its place and its channel.
pub(super) type BlockName = (Option<u32>, Slot, Channel);

/// A text as it stands in one block.
#[derive(Debug)]
pub(super) struct BlockText {
    /// The source it is read in, by its number.
    pub(super) source: usize,
    /// All of the text, for copies of it; given up where it is longer than the limit.
    text: Option<String>,
    limit: usize,
    /// How much of it has come.
    pub(super) length: u64,
    /// How far its source had come with its last piece.
    pub(super) reached: u64,
    /// Another block took over while what this one ended in was undecided.
    pub(super) is_broken: bool,
    /// The fields that the last text stood in, and those that broke off so while others went on.
    fields: u16,
    broken: u16,
    /// What is no text of its channel: calls, tags, reasoning.
    removed: Vec<Range<u64>>,
    /// What is left of the text after edits; `None` while it is all there.
    pub(super) sent: Option<String>,
}

impl BlockText {
    pub(super) fn new(source: usize, limit: usize) -> Self {
        Self {
            source,
            text: Some(String::new()),
            limit,
            length: 0,
            reached: 0,
            is_broken: false,
            fields: 0,
            broken: 0,
            removed: Vec::new(),
            sent: None,
        }
    }

    /// Takes more text; where it stands in the block.
    pub(super) fn push(&mut self, text: &str) -> u64 {
        let start = self.length;
        self.length += text.len() as u64;
        self.text = self.text.take().filter(|all| all.len() + text.len() <= self.limit);
        if let Some(all) = &mut self.text {
            all.push_str(text);
        }
        start
    }

    /// More of it comes, in these fields: a client may read any of them and not the others.
    pub(super) fn enter(&mut self, fields: u16, is_decided: bool) {
        if self.fields != 0 && !is_decided {
            self.broken |= self.fields & !fields;
        }
        self.fields = fields;
    }

    /// Whether nobody can tell what more of it in these fields goes on with.
    pub(super) fn is_broken_in(&self, fields: u16) -> bool {
        self.is_broken || self.broken & fields != 0
    }

    /// A stretch of it is a call, a tag or reasoning.
    pub(super) fn remove(&mut self, range: Range<u64>) {
        match self.removed.last_mut() {
            Some(last) if last.end == range.start => last.end = range.end,
            _ => self.removed.push(range),
        }
    }

    /// Whether calls, tags or reasoning were found in it.
    pub(super) fn holds_more_than_text(&self) -> bool {
        !self.removed.is_empty()
    }

    /// The first `length` bytes, if they are `copy`, without what is no text of the channel.
    pub(super) fn content(&self, length: u64, copy: &str) -> Option<String> {
        let all = self.text.as_deref().filter(|all| all.get(..index(length)) == Some(copy))?;
        let mut content = String::new();
        let mut at = 0;
        for removed in self.removed.iter().take_while(|removed| removed.start < length) {
            content.push_str(&all[at..index(removed.start)]);
            at = index(removed.end.min(length));
        }
        content.push_str(&all[at..index(length)]);
        Some(content)
    }

    /// Something of the text at `start` does not leave as it came: from here on what leaves is kept.
    pub(super) fn edited(&mut self, start: u64) {
        if self.sent.is_none() {
            let before = self.text.as_deref().and_then(|all| all.get(..index(start)));
            self.sent = before.map(str::to_owned);
        }
    }
}
