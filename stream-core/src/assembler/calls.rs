//! Which call a delta speaks of (rule 6): ids and indices are aliases that a provider may omit, repeat or renumber.

use std::collections::HashMap;

use crate::block::{BlockKey, StreamBlock, ToolCall};
use crate::delta::{CallDelta, Text};

/// The calls of one choice, by the aliases that claimed them.
#[derive(Debug, Default)]
pub(crate) struct Calls {
    by_id: HashMap<Text, BlockKey>,
    by_index: HashMap<u64, BlockKey>,
    last: Option<BlockKey>,
    balances: HashMap<BlockKey, Balance>,
}

impl Calls {
    /// The call that the delta continues; `None` if it opens one.
    pub(crate) fn resolve(
        &mut self,
        blocks: &[StreamBlock],
        index: Option<u64>,
        delta: &CallDelta,
    ) -> Option<BlockKey> {
        if delta.starts {
            return None;
        }
        if let Some(id) = &delta.id {
            // A known id wins. A new one opens a call, unless it comes late for a call that has none yet.
            return self.by_id.get(id).copied().or_else(|| {
                let key = self.at(index).filter(|_| delta.name.is_none())?;
                call(blocks, key).filter(|call| call.id.is_none() && !call.is_complete()).map(ToolCall::key)
            });
        }
        let named = match index {
            Some(index) => self.by_index.get(&index).copied(),
            None => self.last,
        };
        match (&delta.name, named) {
            (Some(_), Some(key)) => {
                // A name without an id: repeated on a continuation, or late, or the opening of the next call.
                let call = call(blocks, key)?;
                // With arguments that are not whole it is no opening: some clients would put both names together.
                let goes_on =
                    call.name.is_empty() || !self.balances.entry(key).or_default().is_whole(&call.arguments);
                (goes_on && !call.is_complete()).then_some(key)
            }
            (Some(_), None) => None,
            (None, Some(key)) => Some(key),
            // An index nobody claimed, and no name that could open a call: it goes to the open one.
            (None, None) => {
                self.last.filter(|key| call(blocks, *key).is_some_and(|call| !call.is_complete()))
            }
        }
    }

    /// Remembers that `index` and `id` mean this call from now on.
    pub(crate) fn learn(&mut self, key: BlockKey, index: Option<u64>, id: Option<&Text>) {
        if let Some(id) = id {
            self.by_id.entry(id.clone()).or_insert(key);
        }
        if let Some(index) = index {
            self.by_index.insert(index, key);
        }
        self.last = Some(key);
    }

    fn at(&self, index: Option<u64>) -> Option<BlockKey> {
        index.map_or(self.last, |index| self.by_index.get(&index).copied())
    }
}

fn call(blocks: &[StreamBlock], key: BlockKey) -> Option<&ToolCall> {
    blocks.get(key.index()).and_then(StreamBlock::as_tool_call)
}

/// Whether arguments are one whole object or array, by its brackets. Resumable: nothing is scanned twice, however
/// often a provider repeats the name.
#[derive(Debug, Default)]
struct Balance {
    scanned: usize,
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Balance {
    fn is_whole(&mut self, arguments: &str) -> bool {
        for byte in &arguments.as_bytes()[self.scanned.min(arguments.len())..] {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        self.scanned = arguments.len();
        self.depth == 0 && !self.in_string && !arguments.trim_end().is_empty()
    }
}
