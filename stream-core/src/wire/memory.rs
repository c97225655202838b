//! What a reader remembers of the frames before: whether a frame is plain depends on them (rule 28).

use super::{DecodeError, Odd, anthropic, openai_responses};
use crate::delta::Delta;

/// What the frames before have said.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Whether frames are held against those before. Where nobody looks at them, they are not.
    pub(crate) is_on: bool,
    /// Whether the client may be that of any API, and somebody looks.
    pub(crate) any_api: bool,
    pub(crate) messages: Option<Box<anthropic::MessageOrder>>,
    pub(crate) responses: Option<Box<openai_responses::ResponseOrder>>,
}

impl Memory {
    /// The highest number that counts frames so far, where frames are held against those before.
    pub(crate) fn count(&self) -> Option<u64> {
        self.responses.as_ref().filter(|_| self.is_on)?.count()
    }

    /// Takes note of a frame's number.
    pub(crate) fn counted(&mut self, number: u64) {
        if let Some(responses) = &mut self.responses {
            responses.counted(number);
        }
    }

    /// Takes in a frame that says the same as the one before it, but for a text or a piece of arguments, and its number. Answers
    /// why it is not plain, and when it goes on.
    ///
    /// A response learns nothing else from such a frame: the item is known by its id, its type and its part.
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

/// Why the `event` line of an event is odd: it has one and says its type, or has none, as all events of the stream do. The first
/// event tells which.
pub(super) fn odd_name(named: &mut Option<bool>, line: Option<&str>, kind: &str) -> Option<Odd> {
    let named = *named.get_or_insert(line.is_some());
    let agrees = line.map_or(!named, |line| named && line == kind);
    (!agrees).then_some(Odd::Lines)
}

/// When a frame goes on: blocks that take turns go on one after the other, where some clients give what a block says to
/// the one that opened last.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Due {
    /// Now.
    #[default]
    Now,
    /// When the blocks before it have ended; a new lane starts with this frame.
    Opens,
    /// With the lane of this number.
    In(u64),
    /// Now, and behind it that many lanes which waited.
    Then(usize),
    /// After all that waits.
    Last,
    /// After the one frame that waits, which was not plain for this reason.
    After(Option<Odd>),
}
