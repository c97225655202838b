//! The memory of a reader: whether a frame is plain depends on the frames before it (rule 28).

use super::{DecodeError, Odd, anthropic, openai_chat, openai_responses};
use crate::delta::Delta;

/// The record of the frames before.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Whether frames are compared with those before; only where a policy looks at the stream.
    pub(crate) is_on: bool,
    /// Whether the client may be that of any API, and a policy looks at the stream.
    pub(crate) any_api: bool,
    pub(crate) chat: Option<Box<openai_chat::ChunkFields>>,
    pub(crate) messages: Option<Box<anthropic::MessageOrder>>,
    pub(crate) responses: Option<Box<openai_responses::ResponseOrder>>,
}

impl Memory {
    /// The highest sequence number so far, where frames are compared with those before.
    pub(crate) fn count(&self) -> Option<u64> {
        self.responses.as_ref().filter(|_| self.is_on)?.count()
    }

    /// Records the sequence number of a frame.
    pub(crate) fn counted(&mut self, number: u64) {
        if let Some(responses) = &mut self.responses {
            responses.counted(number);
        }
    }

    /// Records a frame that differs from the one before it in a text, or in a piece of arguments, and in its number alone. Returns
    /// the reason why the frame is not plain, and when the frame is passed on.
    ///
    /// The order of a response needs no more of such a frame than the number: the item has the same id, type and part.
    pub(crate) fn follow(
        &mut self,
        deltas: &[Delta],
        number: Option<u64>,
    ) -> Result<(Option<Odd>, Due), DecodeError> {
        number.into_iter().for_each(|number| self.counted(number));
        match self.messages.as_mut().filter(|_| self.is_on) {
            Some(messages) => messages.see(deltas),
            None => Ok((None, Due::Now)),
        }
    }
}

/// The oddness of an `event` line: every event of a stream has an `event` line that repeats its type, or none has. The first
/// event decides which.
pub(super) fn odd_name(named: &mut Option<bool>, line: Option<&str>, kind: &str) -> Option<Odd> {
    let named = *named.get_or_insert(line.is_some());
    let agrees = line.map_or(!named, |line| named && line == kind);
    (!agrees).then_some(Odd::Lines)
}

/// The time at which a frame is passed to the stages. Blocks that take turns are passed on one after the other, since some
/// clients assign every delta to the block that opened last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Due {
    /// At once.
    #[default]
    Now,
    /// When the blocks before the frame have ended; the frame starts a new lane.
    Opens,
    /// With the lane of this number.
    In(u64),
    /// At once, followed by that many waiting lanes.
    Then(usize),
    /// After all waiting lanes.
    Last,
    /// After the one waiting frame, which was not plain for this reason.
    After(Option<Odd>),
}
