//! A frame on its way through a stage, and what its parts wait for.

use crate::delta::{CallDelta, Channel, Delta, DeltaKind, Slot, Text};
use crate::sse::Frame;
use crate::wire::{Fate, Outgoing, Part};

/// What a part waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Waiting {
    pub(crate) mark: Mark,
    /// The first payload of its block.
    pub(crate) opener: bool,
}

/// How a part waits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Mark {
    /// Not at all: its fate is known.
    #[default]
    Decided,
    /// For the outcome of what was held of its block at `seq`.
    Held { seq: u64 },
    /// Leaves with the first payload of its block that does.
    Opens,
    /// Leaves unless its block was dropped.
    Closes,
    /// Says again what its block holds.
    Copies,
    /// Leaves if its block leaves untouched.
    Rides,
    /// As `Rides`, for the next payload of its choice after `seq`.
    RidesAhead { seq: u64 },
    /// Opens or closes an item: leaves with its blocks.
    Wraps { item: u32 },
}

/// A frame on its way through a stage.
#[derive(Debug)]
pub(crate) struct Queued {
    pub(crate) frame: Option<Frame>,
    pub(crate) parts: Vec<Part>,
    /// What parts wait for, by their places: nothing is said of a part that does not wait and opens no block.
    waiting: WaitingParts,
    /// Parts that are made here, each with the place of the part it is put before: one by one in their places they would move all
    /// parts behind them, as many times as there are blocks.
    inserted: Vec<(usize, Part)>,
    /// How many parts are decided for good, and how many of those that waited.
    pub(super) decided: usize,
    passed: usize,
    pub(super) arrival: u64,
}

impl Queued {
    pub(crate) fn new(frame: Option<Frame>, parts: Vec<Part>) -> Self {
        let waiting = WaitingParts::None;
        Self { frame, parts, waiting, inserted: Vec::new(), decided: 0, passed: 0, arrival: 0 }
    }

    /// A frame that is made here.
    pub(crate) fn made(part: Part) -> Self {
        Self::new(None, vec![part])
    }

    pub(crate) fn bytes(&self) -> usize {
        self.frame.as_ref().map_or(0, |frame| frame.raw().len())
    }

    /// The part at this place waits; the places come in order.
    pub(crate) fn wait(&mut self, place: usize, waiting: Waiting) {
        if waiting != Waiting::default() {
            self.waiting.push((place, waiting));
        }
    }

    /// The one choice all its parts belong to.
    pub(super) fn choice(&self) -> Option<u32> {
        let mut choices = self.parts.iter().map(|part| part.delta.choice);
        let first = choices.next()??;
        choices.all(|choice| choice == Some(first)).then_some(first)
    }

    /// The first part that is not decided for good, and what it waits for.
    pub(super) fn undecided(&mut self) -> Option<(&mut Part, Waiting)> {
        let part = self.parts.get_mut(self.decided)?;
        let waiting = self.waiting.as_slice().get(self.passed).filter(|(place, _)| *place == self.decided);
        Some((part, waiting.map_or_else(Waiting::default, |(_, waiting)| *waiting)))
    }

    /// The first part that was not decided for good now is. The parts in `before` are put before it.
    pub(super) fn decide(&mut self, before: Vec<Part>) {
        if self.waiting.as_slice().get(self.passed).is_some_and(|(place, _)| *place == self.decided) {
            self.passed += 1;
        }
        self.inserted.extend(before.into_iter().map(|part| (self.decided, part)));
        self.decided += 1;
    }

    /// The parts that are not decided for good, and what they wait for.
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

/// The parts of a frame that wait, by their places. Of most frames one does, and needs no list.
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
