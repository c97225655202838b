//! Where a delta stands in its chunk: the choice's position outside; inside, a field and a position in its list.

use crate::delta::{Delta, Place};

/// Defines the fields, and the list of them, where each stands at the position of its code.
macro_rules! fields {
    ($($name:ident),* $(,)?) => {
        /// The field of a choice that a delta came from. A position in `tool_calls` has code 0, so that there the inner
        /// place is the position itself.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum Field { $($name),* }

        pub(super) const FIELDS: &[Field] = &[$(Field::$name),*];
    };
}

fields! {
    ToolCall, FunctionCall, Content, ContentItem, ReasoningContent, Reasoning, ReasoningDetail, Refusal, Transcript, Audio,
    Message, Text, Signature, FailedGeneration, Other,
}

/// Codes stand above the positions: a list of sixteen million items is longer than any frame.
const SHIFT: u32 = 24;

/// Puts a delta at a field of the choice at position `outer`.
pub(super) fn put(delta: Delta, outer: usize, field: Field, item: usize) -> Delta {
    let item = item.min((1 << SHIFT) - 1);
    delta.at(outer, ((field as usize) << SHIFT) | item)
}

/// The field a place names.
pub(super) fn field(place: Place) -> Option<Field> {
    FIELDS.get((place.inner >> SHIFT) as usize).copied()
}

/// The position in the field's list.
pub(super) fn item(place: Place) -> usize {
    (place.inner & ((1 << SHIFT) - 1)) as usize
}
