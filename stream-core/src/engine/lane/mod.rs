//! The lane: text frames that nobody holds leave as slices of what was read, without being read in full.
//!
//! Two frames of a stream that say text of the same block differ in a few values. From such frames the lane learns a
//! [`Shape`]: all bytes of the frame but the values that its format [lists](crate::wire::Hole). A frame of a known shape says
//! what the frames before it said, with another text, and needs no reader.
//!
//! The lane is armed only where such a frame would change nothing but counts: nothing is held or waits, the block is open
//! and has left untouched, the writer writes frames as they came, and every stage either does not look at the text or has a policy
//! that never waits. Such a policy is called in place; whatever else it does than to send its chunk, the frame goes the
//! general way up to that hook, and what the hook did is carried out there.

mod learn;
mod run;
mod scan;
mod shape;

use bytes::Bytes;

use crate::block::BlockKey;
use crate::context::Effects;
use crate::delta::{Channel, Delta, DeltaKind, Site, Slot};
use crate::engine::Failure;
use crate::sse::Frame;
use crate::wire::{Fate, Outgoing, WireFormat};
use shape::{Fit, Shape};

/// What the lane of a stream knows.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// Whether the stream may have a lane at all.
    pub(super) is_on: bool,
    /// The shapes that were learned: first those of the last text, the one that fitted last before the others.
    shapes: Vec<(Says, Shape)>,
    /// How many shapes are those of the last text.
    usable: usize,
    /// Where the text of the last frame with text belongs, and the bytes of that frame.
    last: Option<Says>,
    raw: Vec<u8>,
    /// Whether everything that was written since that frame left as it came.
    is_plain: bool,
    /// How many shapes may still be learned, and how many frames have fitted since that number last grew.
    lessons: u8,
    hits: u8,
    /// Each stage's view of the block, while the lane is armed.
    sights: Vec<Sight>,
    /// What has left by the lane and the writer has not been told.
    run: Run,
    /// What hooks of the next frame did, which goes the general way.
    owed: Vec<(usize, Result<Effects, Failure>)>,
}

/// Where a text belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Says {
    choice: u32,
    slot: Slot,
    channel: Channel,
    /// The position of the choice, and the fields: where a text stands moves from frame to frame.
    position: u32,
    fields: u16,
}

/// What a stage does with the text of the block.
#[derive(Debug, Clone, Copy)]
struct Sight {
    key: BlockKey,
    /// The fold keeps the text.
    keeps: bool,
    /// The policy is called.
    looks: bool,
}

/// Frames that have left.
#[derive(Debug, Default)]
struct Run {
    frames: usize,
    /// The text of all of them, where the format says it again.
    text: String,
}

impl Says {
    /// Where the text of a delta belongs, if the delta is one.
    fn of(delta: &Delta) -> Option<Self> {
        let DeltaKind::Text { channel, .. } = delta.kind else { return None };
        let Site { position, fields, split: None, .. } = delta.site else { return None };
        Some(Self { choice: delta.choice?, slot: delta.slot, channel, position, fields })
    }

    /// A delta that says this text there, of no frame.
    fn delta(&self, text: &str) -> Delta {
        let kind = DeltaKind::Text { channel: self.channel, text: text.into() };
        let site = Site { position: self.position, fields: self.fields, ..Site::default() };
        Delta { choice: Some(self.choice), slot: self.slot, kind, site }
    }
}

impl Lane {
    pub(super) fn new(is_on: bool) -> Self {
        Self { is_on, lessons: LESSONS, ..Self::default() }
    }

    /// Takes note of a frame that was read in full.
    pub(super) fn saw(&mut self, outgoing: &Outgoing, format: &dyn WireFormat) {
        let Some((frame, says)) = one_text(outgoing) else { return };
        self.is_plain = true;
        let fits = |(of, shape): &(Says, Shape)| *of == says && shape.fit(frame.raw()).is_some();
        if !self.shapes.iter().any(fits) && self.lessons > 0 && self.last == Some(says) {
            self.lessons -= 1;
            if let Some(shape) = learn::learn(format, &self.raw, frame, &says) {
                self.shapes.truncate(SHAPES - 1);
                self.shapes.reserve_exact(1);
                self.shapes.insert(0, (says, shape));
                self.usable = 0;
            }
        }
        if self.last != Some(says) || self.usable == 0 {
            self.last = Some(says);
            self.shapes.sort_by_key(|(of, _)| *of != says);
            self.usable = self.shapes.iter().take_while(|(of, _)| *of == says).count();
        }
        self.raw.clear();
        self.raw.extend_from_slice(frame.raw());
    }

    /// Takes note of what was written for a frame.
    pub(super) fn wrote(&mut self, frame: Option<&Bytes>, written: &[Bytes]) {
        let is_same = |frame: &Bytes, one: &Bytes| frame.as_ptr() == one.as_ptr() && frame.len() == one.len();
        self.is_plain &= matches!((frame, written), (Some(frame), [one]) if is_same(frame, one));
    }

    /// The frame that starts `input`, if the lane knows its shape and is armed for it.
    fn fit(&mut self, input: &[u8]) -> Option<Fit> {
        let shapes = &mut self.shapes[..self.usable];
        let (_, first) = shapes.first()?;
        first.fit(input).or_else(|| {
            let mut others = shapes.iter().enumerate().skip(1);
            let (at, fit) = others.find_map(|(at, (_, shape))| Some((at, shape.fit(input)?)))?;
            shapes[..=at].rotate_right(1);
            Some(fit)
        })
    }

    /// Takes note that frames have fitted.
    fn fitted(&mut self, frames: usize) {
        let hits = usize::from(self.hits) + frames;
        let earned = u8::try_from(hits / HITS).unwrap_or(LESSONS);
        self.lessons = self.lessons.saturating_add(earned).min(LESSONS);
        self.hits = u8::try_from(hits % HITS).unwrap_or(0);
    }
}

/// The frame that says one text and nothing else, in the one plain way.
fn one_text(outgoing: &Outgoing) -> Option<(&Frame, Says)> {
    let [part] = &outgoing.parts[..] else { return None };
    let frame = outgoing.frame.as_ref()?;
    let is_plain =
        frame.odd().is_none() && frame.is_terminated() && !frame.is_stray() && part.fate == Fate::Kept;
    Says::of(&part.delta).filter(|_| is_plain).map(|says| (frame, says))
}

/// The most shapes that a stream has.
const SHAPES: usize = 4;

/// How many shapes are learned at first: a stream whose frames are all different is not to learn from each of them.
const LESSONS: u8 = 4;

/// How many frames that fit allow one lesson more.
const HITS: usize = 16;
