//! The reasons why a frame is not plain.

use std::fmt;

/// The reason why a frame is not *plain*: clients read the frame in different ways (rule 28).
///
/// A plain frame is written as its bytes. A frame that is not plain is written anew from the judged deltas, where at least
/// one policy looks at the stream; the record of the frame has the action [`Normalised`](crate::Action::Normalised).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Odd {
    /// The frame has lines other than one `data: ` line, the `event: ` line of its format, and comments of printable
    /// ASCII.
    Lines,
    /// A known key has a value of another type than the API documents.
    Type,
    /// A key is a known key in other letters.
    Spelling,
    /// A number that counts (an index, a position) is no plain non-negative integer.
    Number,
    /// A number and the position at which it stands name different choices, blocks or items.
    Position,
    /// The id, the index and the name of a call do not name the same one call.
    Identity,
    /// Blocks open out of the order of their numbers, or one opens twice.
    Order,
    /// An item has fields that its type does not have.
    Foreign,
    /// A call would be read together with the call of another choice, by clients that go by the index of calls alone, or by the position of
    /// choices.
    Choices,
}

impl fmt::Display for Odd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lines => "expected one data line, found other lines",
            Self::Type => "expected a value of the documented type, found another",
            Self::Spelling => "expected known keys in their one spelling, found another",
            Self::Number => "expected a plain non-negative integer, found another number",
            Self::Position => "expected a number that agrees with its position, found another",
            Self::Identity => "expected one id, one index and one name for each call, found others",
            Self::Order => "expected blocks that open once, in order, found another order",
            Self::Foreign => "expected only fields of the item's type, found others",
            Self::Choices => {
                "expected calls of one choice at each index, found another choice whose call would be read with them"
            }
        })
    }
}
