//! Frames in a queue, and the marks of their parts.

use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Slot, Text};
use crate::sse::Frame;
use crate::wire::{Fate, Outgoing, Part};

/// The mark of a part, and whether the part opens its block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) mark: Mark,
    /// The part is the first payload of its block.
    pub(crate) opener: bool,
}

/// What a part waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Nothing: the fate of the part is known.
    #[default]
    Decided,
    /// The outcome of the held parts of its block at `seq`.
    Held { seq: u64 },
    /// The first payload of its block that is written: the opening is written with it.
    Opens,
    /// The fate of its block: the end is written unless the block was dropped.
    Closes,
    /// The fate of its block: the copy has the content that was written, or is dropped.
    Copies,
    /// The fate of its block: the annotation is written if the block was untouched.
    Rides,
    /// The fate of the next payload of its choice behind `seq`, like `Rides`.
    RidesAhead { seq: u64 },
    /// The fate of the blocks of an item, of which the part is the opening or the end.
    Wraps { item: u32 },
}

/// A frame in a stage.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) frame: Option<Frame>,
    pub(crate) parts: Vec<Part>,
    /// The marks of the parts that wait or open a block, by position.
    waiting: WaitingParts,
    /// Parts that were not read, each with the position of the part before which it is inserted when the frame leaves the queue: inserting
    /// them one by one would move all parts behind them as often as there are blocks.
    inserted: Vec<(usize, Part)>,
    /// The number of parts that are decided for good, and of marks among them.
    pub(super) decided: usize,
    passed: usize,
    pub(super) arrival: u64,
}

impl Queued {
    pub(crate) fn new(frame: Option<Frame>, parts: Vec<Part>) -> Self {
        let waiting = WaitingParts::None;
        Self { frame, parts, waiting, inserted: Vec::new(), decided: 0, passed: 0, arrival: 0 }
    }

    /// Creates a frame that was not read.
    pub(crate) fn made(part: Part) -> Self {
        Self::new(None, vec![part])
    }

    pub(crate) fn bytes(&self) -> usize {
        self.frame.as_ref().map_or(0, |frame| frame.raw().len())
    }

    /// Sets the mark of a part. Positions must ascend.
    pub(crate) fn wait(&mut self, place: usize, waiting: Waiting) {
        if waiting != Waiting::default() {
            self.waiting.push((place, waiting));
        }
    }

    /// The choice of the frame, if all its parts belong to one.
    pub(super) fn choice(&self) -> Option<u32> {
        let mut choices = self.parts.iter().map(|part| part.delta.choice);
        let first = choices.next()??;
        choices.all(|choice| choice == Some(first)).then_some(first)
    }

    /// The first part that is not decided for good, with its mark.
    pub(super) fn undecided(&mut self) -> Option<(&mut Part, Waiting)> {
        let part = self.parts.get_mut(self.decided)?;
        let waiting = self.waiting.as_slice().get(self.passed).filter(|(place, _)| *place == self.decided);
        Some((part, waiting.map_or_else(Waiting::default, |(_, waiting)| *waiting)))
    }

    /// Marks the first part that is not decided for good as decided, and inserts the parts in `before` before it.
    pub(super) fn decide(&mut self, before: Vec<Part>) {
        if self.waiting.as_slice().get(self.passed).is_some_and(|(place, _)| *place == self.decided) {
            self.passed += 1;
        }
        self.inserted.extend(before.into_iter().map(|part| (self.decided, part)));
        self.decided += 1;
    }

    /// The parts that are not decided for good, with their marks.
    pub(crate) fn undecided_mut(&mut self) -> impl Iterator<Item = (&mut Part, Option<&mut Waiting>)> {
        let mut waiting = self.waiting.as_mut_slice()[self.passed..].iter_mut().peekable();
        self.parts.iter_mut().enumerate().skip(self.decided).map(move |(place, part)| {
            (part, waiting.next_if(|(of, _)| *of == place).map(|(_, waiting)| waiting))
        })
    }

    pub(super) fn leave(self) -> Outgoing {
        if self.inserted.is_empty() {
            return Outgoing { frame: self.frame, parts: self.parts };
        }
        let mut parts = Vec::with_capacity(self.parts.len() + self.inserted.len());
        let mut inserted = self.inserted.into_iter().peekable();
        for (place, part) in self.parts.into_iter().enumerate() {
            while let Some((_, made)) = inserted.next_if(|(before, _)| *before == place) {
                parts.push(made);
            }
            parts.push(part);
        }
        Outgoing { frame: self.frame, parts }
    }
}

impl Outgoing {
    /// The number of bytes of the frame.
    pub(crate) fn bytes(&self) -> usize {
        self.frame.as_ref().map_or(0, |frame| frame.raw().len())
    }
}

/// The marks of a frame's parts, by position. Most frames have one at most, and need no list.
#[derive(Debug)]
enum WaitingParts {
    None,
    One((usize, Waiting)),
    Many(Vec<(usize, Waiting)>),
}

impl WaitingParts {
    fn push(&mut self, part: (usize, Waiting)) {
        match self {
            Self::None => *self = Self::One(part),
            Self::One(first) => *self = Self::Many(vec![*first, part]),
            Self::Many(parts) => parts.push(part),
        }
    }

    fn as_slice(&self) -> &[(usize, Waiting)] {
        match self {
            Self::None => &[],
            Self::One(part) => std::slice::from_ref(part),
            Self::Many(parts) => parts,
        }
    }

    fn as_mut_slice(&mut self) -> &mut [(usize, Waiting)] {
        match self {
            Self::None => &mut [],
            Self::One(part) => std::slice::from_mut(part),
            Self::Many(parts) => parts,
        }
    }
}

pub(crate) fn inserted_text(choice: u32, text: Text) -> Part {
    inserted(choice, Slot::Run, DeltaKind::Text { channel: Channel::Content, text })
}

pub(crate) fn inserted_call((choice, call): (u32, CallDelta)) -> Part {
    inserted(choice, Slot::Call { index: None }, DeltaKind::Call(call))
}

fn inserted(choice: u32, slot: Slot, kind: DeltaKind) -> Part {
    Part { delta: Delta::new(choice, slot, kind), key: None, fate: Fate::Inserted }
}
