//! The call of a delta (rule 6): ids and indices are aliases that a provider may omit, repeat or renumber.

use std::collections::HashMap;

use crate::block::{BlockKey, StreamBlock, ToolCall};
use crate::delta::{CallDelta, Text};
use crate::few::Few;
use crate::json::Nesting;

/// The calls of one choice, by the aliases that claimed them.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    by_id: HashMap<Text, BlockKey>,
    by_index: Few<BlockKey, u64>,
    last: Option<BlockKey>,
    balances: Few<Balance, BlockKey>,
}

impl OpenCalls {
    /// The call that the delta continues; `None` if the delta opens a call.
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
            // A known id wins. A new id opens a call, unless it is the late id of a call without one.
            return self.by_id.get(id).copied().or_else(|| {
                let key = self.at(index).filter(|_| delta.name.is_none())?;
                call(blocks, key).filter(|call| call.id.is_none() && !call.is_complete()).map(ToolCall::key)
            });
        }
        let named = match index {
            Some(index) => self.by_index.get(index).copied(),
            None => self.last,
        };
        match (&delta.name, named) {
            (Some(_), Some(key)) => {
                // A name without an id: repeated on a continuation, or late, or the opening of the next call.
                let call = call(blocks, key)?;
                // While the arguments are not whole it is no opening: some clients would concatenate both names.
                let goes_on =
                    call.name.is_empty() || !self.balances.or_default(key).is_whole(&call.arguments);
                (goes_on && !call.is_complete()).then_some(key)
            }
            (Some(_), None) => None,
            (None, Some(key)) => Some(key),
            // An unclaimed index, and no name that could open a call: the delta continues the open call.
            (None, None) => {
                self.last.filter(|key| call(blocks, *key).is_some_and(|call| !call.is_complete()))
            }
        }
    }

    /// Records that `index` and `id` name this call from now on.
    pub(crate) fn learn(&mut self, key: BlockKey, index: Option<u64>, id: Option<&Text>) {
        if let Some(id) = id {
            self.by_id.entry(id.clone()).or_insert(key);
        }
        if let Some(index) = index {
            *self.by_index.or_insert_with(index, || key) = key;
        }
        self.last = Some(key);
    }

    /// Whether the arguments of this call are one whole JSON value.
    pub(crate) fn is_one_value(&mut self, key: BlockKey, arguments: &str) -> bool {
        self.balances.or_default(key).is_one_value(arguments)
    }

    /// Whether a client that runs a call as soon as its arguments parse may have run this call. A string does not count: a
    /// provider was seen to lose the brace before the first key (Copilot), and no tool takes a string for its arguments.
    pub(crate) fn may_run(&mut self, key: BlockKey, arguments: &str) -> bool {
        let balance = self.balances.or_default(key);
        balance.is_one_value(arguments) && balance.first != Some(b'"')
    }

    fn at(&self, index: Option<u64>) -> Option<BlockKey> {
        index.map_or(self.last, |index| self.by_index.get(index).copied())
    }
}

fn call(blocks: &[StreamBlock], key: BlockKey) -> Option<&ToolCall> {
    blocks.get(key.index()).and_then(StreamBlock::as_tool_call)
}

/// Whether arguments are one whole object or array, by its brackets. Resumable: no byte is scanned twice, however
/// often a provider repeats the name.
#[derive(Debug, Default)]
struct Balance {
    scanned: usize,
    /// The first byte that is no white space.
    first: Option<u8>,
    nesting: Nesting,
    read: Read,
}

/// The answer of a parser for arguments whose brackets balance.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Read {
    #[default]
    NotYet,
    /// One value, and white space up to this length.
    Value(usize),
    /// No value, whatever follows.
    NoValue,
}

impl Balance {
    fn is_whole(&mut self, arguments: &str) -> bool {
        let more = arguments.get(self.scanned..).unwrap_or_default();
        self.first = self.first.or_else(|| more.bytes().find(|byte| !byte.is_ascii_whitespace()));
        self.nesting.read(more);
        self.scanned = arguments.len();
        self.nesting.is_whole()
    }

    /// Whether arguments are one whole JSON value, and nothing more. A parser reads what begins like an object, an array or
    /// a string once, when its brackets first balance.
    fn is_one_value(&mut self, arguments: &str) -> bool {
        if !self.is_whole(arguments) {
            return false;
        }
        let parses = |text: &str| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if !matches!(self.first, Some(b'{' | b'[' | b'"')) {
            // A number or a word may go on.
            return arguments.len() <= LONGEST_WORD && parses(arguments);
        }
        self.read = match self.read {
            Read::NotYet if parses(arguments) => Read::Value(arguments.len()),
            Read::Value(end) if arguments[end..].trim().is_empty() => Read::Value(arguments.len()),
            _ => Read::NoValue,
        };
        self.read != Read::NoValue
    }
}

/// The longest number, `true`, `false` or `null` that counts as whole before a finish.
const LONGEST_WORD: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    /// Rule 2: a call ends at the start of another block only if its arguments are one whole JSON value by then.
    #[test]
    fn arguments_are_one_value_when_all_of_it_has_come_and_nothing_more() {
        let after = |pieces: &[&str]| -> Vec<bool> {
            let (mut balance, mut arguments) = (Balance::default(), String::new());
            let mut asked = pieces.iter().map(|piece| {
                arguments.push_str(piece);
                balance.is_one_value(&arguments)
            });
            asked.by_ref().collect()
        };
        assert_eq!(
            after(&["{\"a\":", "\"}", "\"}", " \n", "\t", "x"]),
            [false, false, true, true, true, false]
        );
        assert_eq!(after(&["[1", ",2]", "]"]), [false, true, false]);
        assert_eq!(after(&["", " ", "{}", "{}"]), [false, false, true, false]);
        assert_eq!(after(&["\"a\\\"", "\""]), [false, true]);
        assert_eq!(after(&["1", "2", "x"]), [true, true, false]);
        assert_eq!(after(&["nul", "l"]), [false, true]);
        assert_eq!(after(&["{]", "}"]), [false, false]);
        assert_eq!(after(&["{a}"]), [false]);
    }
}
