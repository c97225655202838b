//! A frame on its way to the client: its parts, and the fate of each.

use crate::block::BlockKey;
use crate::delta::{Delta, DeltaKind, Slot};
use crate::sse::Frame;

/// A frame on its way to the client, every part decided.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Outgoing {
    /// The frame of the upstream; `None` for inserted text and calls.
    pub frame: Option<Frame>,
    /// The parts of the frame, in order.
    pub parts: Vec<Part>,
}

impl Outgoing {
    /// Creates a frame on its way to the client, as the engine passes it to a writer: for the tests of a [`Writer`](super::Writer).
    #[must_use]
    pub fn new(frame: Option<Frame>, parts: Vec<Part>) -> Self {
        Self { frame, parts }
    }

    /// Whether every part of the frame is kept.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.frame.is_some() && self.parts.iter().all(|part| part.fate == Fate::Kept)
    }

    /// Whether this is the message of a stage to the next one that a block is complete.
    pub(crate) fn is_completion(&self) -> bool {
        self.frame.is_none() && self.parts.iter().all(|part| part.delta.kind == DeltaKind::Completed)
    }
}

/// One part of a frame, with its fate.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Part {
    /// The delta of the part; where `fate` is [`Edited`](Fate::Edited) or [`Inserted`](Fate::Inserted), the delta to write.
    pub delta: Delta,
    /// The block of the part. Keys are unique in a stream, and all parts of a block have the same key.
    pub key: Option<BlockKey>,
    /// What the writer does with the part.
    pub fate: Fate,
}

impl Part {
    /// Creates a part of no block.
    #[must_use]
    pub fn new(delta: Delta, fate: Fate) -> Self {
        Self { delta, key: None, fate }
    }

    /// Whether the upstream sent the part.
    pub(crate) fn came(&self) -> bool {
        self.fate != Fate::Inserted
    }

    /// The numbered item of the part.
    pub(crate) fn item(&self) -> Option<u32> {
        match self.delta.slot {
            Slot::At { item, .. } => Some(item),
            _ => None,
        }
    }
}

/// What the writer does with a part. A writer discards a part whose fate it does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fate {
    /// The part is written as it came.
    Kept,
    /// The part is written with its new delta. The first part of a replaced call carries the name, the id and all of the new
    /// arguments; the later parts of that call are dropped.
    Edited,
    /// The part was not in the upstream's frame: text, or a call with all its arguments, that is written here.
    Inserted,
    /// The part is not written.
    Dropped,
}

/// Removes the part for lines of a frame that are no event: a frame that is not plain is written without such lines
/// (rule 28).
pub(crate) fn without_stray(frame: &Frame, parts: &mut Vec<Part>) {
    if frame.is_stray() {
        parts.retain(|part| !matches!(&part.delta.kind, DeltaKind::Opaque { kind, .. } if &**kind == STRAY));
    }
}

/// The kind of the opaque block for lines that are no event of any format.
pub(crate) const STRAY: &str = "stray";
