//! The lane: text frames that no policy holds are written to the client as slices of the read, without a full decode.
//!
//! Two frames of a stream with text of the same block differ in a few values. From two such frames the lane learns a [`Shape`]: all bytes
//! of the frame except the values that the format lists as [holes](crate::wire::Hole). A frame of a known shape has the same meaning as
//! the frames before it, with another text, and is not decoded.
//!
//! The lane is *armed* while such a frame changes nothing but counts:
//!
//! - nothing is held, and no verdict is pending;
//! - the block is open, and part of it was written;
//! - the writer writes such frames as their bytes;
//! - every stage either does not need the text, or has a policy that never waits. Such a policy is called in place. A hook that does
//!   anything but send its chunk stops the lane: the frame takes the general way up to that hook, where its effects are committed.
//!
//! A policy that searches every string of a frame (`Needs::scrub`) has searched the frame from which a shape was learned, and found
//! nothing. The literal bytes of the shape need no second search; the lane searches the values in the holes, and a frame with a match
//! takes the general way. The lane learns nothing from a frame with a string that clients concatenate with strings of other frames.
//!
//! A frame of a known shape for which the lane is not armed, such as a piece of the arguments of a held call, takes the general way
//! without a full decode ([`read`]).

mod learn;
mod read;
mod run;
mod scan;
mod shape;

use bytes::Bytes;

use crate::block::BlockKey;
use crate::context::Effects;
use crate::delta::{CallDelta, CallFlavor, Channel, Delta, DeltaKind, Site, Slot, Span};
use crate::engine::Failure;
use crate::engine::scrubbing::FrameStrings;
use crate::sse::Frame;
use crate::wire::{Fate, Outgoing, WireFormat};
use shape::{Fit, LONGEST};
pub(super) use shape::{Gap, Shape};

/// The state of a stream's lane.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// Whether the stream may have a lane at all.
    pub(super) is_on: bool,
    /// Whether a policy searches every string: the literal bytes of a shape have to be searched before the shape is learned.
    scrubs: bool,
    /// The learned shapes. The shapes of the last text come first, and among them the shape that fitted last.
    shapes: Vec<(Says, Shape)>,
    /// The number of shapes of the last text.
    usable: usize,
    /// The block of the last frame with text, and the bytes of that frame.
    last: Option<Says>,
    raw: Vec<u8>,
    /// Whether no other frame was read since.
    follows: bool,
    /// Whether the first shape is the shape of the last frame with text that took the general way.
    is_first: bool,
    /// Whether the current frame was read by its shape, and whether the search of its holes found nothing.
    by_shape: bool,
    by_clean_shape: bool,
    /// Whether every frame since that frame was written as its bytes.
    is_plain: bool,
    /// The number of shapes that may still be learned, and the number of frames that fitted since that number last grew.
    lessons: u8,
    hits: u8,
    /// Whether the lane takes only frames of the first shape: in frames of other shapes the writer may have to change a number or a copy.
    is_strict: bool,
    /// Each stage's view of the block, while the lane is armed; empty otherwise.
    sights: Vec<Sight>,
    /// Whether the lane wrote frames that were not yet passed to the writer.
    has_left: bool,
    /// The text of these frames, if the format restates text.
    left: String,
    /// The frames that the lane wrote and that the stages have not counted yet: their number, and the bytes of their text.
    passed: (u32, u32),
    /// The effects of hooks that the lane called for the next frame, which takes the general way.
    owed: Vec<(usize, Result<Effects, Failure>)>,
}

/// The place of a text, or of a piece of arguments, in the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Says {
    choice: u32,
    slot: Slot,
    what: Payload,
    /// The position of the choice in its frame, and the fields of the text. The spans of a site are left out: they differ from frame to
    /// frame.
    position: u32,
    fields: u16,
}

/// The payload that frames of a shape carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Payload {
    Text(Channel),
    /// A further piece of the arguments of a call.
    Arguments(CallFlavor),
}

/// A stage's view of the block.
#[derive(Debug, Clone, Copy)]
struct Sight {
    key: BlockKey,
    /// The fold keeps the text.
    keeps: bool,
    /// The policy is called.
    looks: bool,
}

impl Says {
    /// The place of a delta's text or piece of arguments; `None` for a delta that says anything else.
    fn of(delta: &Delta) -> Option<Self> {
        let what = match delta.kind {
            DeltaKind::Text { channel, .. } => Payload::Text(channel),
            DeltaKind::Call(CallDelta {
                id: None,
                name: None,
                arguments: Some(_),
                flavor,
                starts: false,
                unopened: false,
                written: None,
                instead: None,
                // The reader keeps a record of the arguments of built-in tools, and has to see them.
            }) if flavor != CallFlavor::Builtin => Payload::Arguments(flavor),
            _ => return None,
        };
        let Site { position, fields, opens: false, .. } = delta.site else { return None };
        let choice = delta.choice.filter(|_| delta.split.is_none())?;
        Some(Self { choice, slot: delta.slot, what, position, fields })
    }

    /// A delta with this text at this place, without spans.
    fn delta(&self, text: &str) -> Delta {
        let kind = match self.what {
            Payload::Text(channel) => DeltaKind::Text { channel, text: text.into() },
            Payload::Arguments(flavor) => {
                DeltaKind::Call(CallDelta { arguments: Some(text.into()), flavor, ..CallDelta::default() })
            }
        };
        let site = Site { position: self.position, fields: self.fields, ..Site::default() };
        Delta { site, ..Delta::new(self.choice, self.slot, kind) }
    }

    /// A delta with this text at this place, with the spans of its element and of the choice around it.
    fn delta_at(&self, text: &str, (element, holder): (Span, Span)) -> Delta {
        let delta = self.delta(text);
        Delta { site: Site { element, holder, ..delta.site }, ..delta }
    }

    /// Whether both places are equal except for the block.
    fn is_like(&self, other: &Self) -> bool {
        *self == Self { choice: self.choice, slot: self.slot, ..*other }
    }

    /// The channel of the text; `None` for arguments.
    fn channel(&self) -> Option<Channel> {
        match self.what {
            Payload::Text(channel) => Some(channel),
            Payload::Arguments(_) => None,
        }
    }
}

impl Lane {
    pub(super) fn new(is_on: bool, scrubs: bool) -> Self {
        Self { is_on, scrubs, lessons: LESSONS, ..Self::default() }
    }

    /// Turns the lane off: every later frame takes the general way, and is decoded in full.
    pub(super) fn turn_off(&mut self) {
        (self.is_on, self.is_plain, self.follows) = (false, false, false);
        (self.by_shape, self.by_clean_shape) = (false, false);
    }

    /// Records a frame that takes the general way, and the result of the search of its strings.
    pub(super) fn saw(&mut self, outgoing: &Outgoing, format: &dyn WireFormat, strings: FrameStrings) {
        let by_shape = std::mem::take(&mut self.by_shape);
        self.by_clean_shape = false;
        match strings {
            FrameStrings::Clean | FrameStrings::Kept if by_shape => {
                self.is_plain = true;
                return;
            }
            FrameStrings::Clean => {}
            // The lane learns nothing from such a frame: a string that it shares with other frames may have to change.
            FrameStrings::Kept => {
                (self.follows, self.is_first) = (false, false);
                return;
            }
            FrameStrings::Changed => {
                (self.follows, self.is_first, self.is_plain) = (false, false, false);
                return;
            }
        }
        let said = one_text(outgoing);
        self.follows = said.is_some();
        let Some((frame, says, site)) = said else { return };
        self.is_plain = true;
        let fits = |(of, shape): &(Says, Shape)| *of == says && shape.fit(frame.raw()).is_some();
        let known = self.shapes.iter().position(fits).or_else(|| self.rename(frame, &says, &site));
        self.is_first = known.is_some();
        if let Some(at) = known {
            self.shapes[..=at].rotate_right(1);
            self.usable = if at < self.usable { self.usable } else { 0 };
        } else if self.lessons > 0 && self.last == Some(says) {
            self.lessons -= 1;
            if let Some(shape) = learn::learn(format, &self.raw, frame, (&says, &site), self.scrubs) {
                self.shapes.truncate(SHAPES - 1);
                self.shapes.reserve_exact(1);
                self.shapes.insert(0, (says, shape));
                (self.usable, self.is_first) = (0, true);
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

    /// Whether the current frame was read by its shape, and the search of its strings, the text of its block aside, found nothing.
    pub(super) fn is_by_clean_shape(&self) -> bool {
        self.by_clean_shape
    }

    /// Turns the shape of a block into the shape of the next block, if the two differ in the names of the block alone. Returns the
    /// position of the shape; `None` if there is no such shape.
    fn rename(&mut self, frame: &Frame, says: &Says, site: &Site) -> Option<usize> {
        let (data, _) = frame.plain_data().filter(|_| frame.raw().len() <= LONGEST)?;
        let mut alike = self.shapes.iter().enumerate().filter(|(_, (of, _))| of.is_like(says));
        let (at, renamed) =
            alike.find_map(|(at, (_, shape))| Some((at, shape.renamed(frame.raw(), data, site)?)))?;
        self.shapes[at] = (*says, renamed);
        self.usable = 0;
        Some(at)
    }

    /// Records whether a frame was written as its bytes.
    pub(super) fn wrote(&mut self, frame: Option<&Bytes>, written: &[Bytes]) {
        let is_same = |frame: &Bytes, one: &Bytes| frame.as_ptr() == one.as_ptr() && frame.len() == one.len();
        self.is_plain &= matches!((frame, written), (Some(frame), [one]) if is_same(frame, one));
    }

    /// The frame at the start of `input`, if the frame has the shape of the last frame that took the general way.
    fn fit_again(&self, input: &[u8]) -> Option<Fit> {
        let (_, first) = self.shapes[..self.usable].first().filter(|_| self.is_first)?;
        first.fit(input)
    }

    /// The frame at the start of `input`, if the frame has a shape of the last text.
    fn fit(&mut self, input: &[u8]) -> Option<Fit> {
        let shapes = &mut self.shapes[..self.usable];
        let (_, first) = shapes.first()?;
        first.fit(input).or_else(|| {
            let mut others = shapes.iter().enumerate().skip(1);
            let (at, fit) = others.find_map(|(at, (_, shape))| Some((at, shape.fit(input)?)))?;
            shapes[..=at].rotate_right(1);
            self.is_first = false;
            Some(fit)
        })
    }

    /// Counts frames that fitted a shape.
    fn fitted(&mut self, frames: usize) {
        let hits = usize::from(self.hits) + frames;
        let earned = u8::try_from(hits / HITS).unwrap_or(LESSONS);
        self.lessons = self.lessons.saturating_add(earned).min(LESSONS);
        self.hits = u8::try_from(hits % HITS).unwrap_or(0);
    }
}

/// The frame, if it is plain and its one part is a text or a piece of arguments.
fn one_text(outgoing: &Outgoing) -> Option<(&Frame, Says, Site)> {
    let [part] = &outgoing.parts[..] else { return None };
    let frame = outgoing.frame.as_ref()?;
    let is_plain =
        frame.odd().is_none() && frame.is_terminated() && !frame.is_stray() && part.fate == Fate::Kept;
    Says::of(&part.delta).filter(|_| is_plain).map(|says| (frame, says, part.delta.site))
}

/// The greatest number of shapes of a stream.
const SHAPES: usize = 4;

/// The number of shapes that a stream may learn at first. The limit bounds the cost of a stream whose frames all differ.
const LESSONS: u8 = 4;

/// The number of fitting frames that allow one more shape.
const HITS: usize = 16;
