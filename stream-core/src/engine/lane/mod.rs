//! The lane: text frames that nobody holds leave as slices of what was read, without being read in full.
//!
//! Two frames of a stream that say text of the same block differ in a few values. From such frames the lane learns a
//! [`Shape`]: all bytes of the frame but the values that its format [lists](crate::wire::Hole). A frame of a known shape says
//! what the frames before it said, with another text, and needs no reader.
//!
//! The lane is armed only where such a frame would change nothing but counts: nothing is held or waits, the block is open
//! and some of it has left, the writer writes such frames as they came, and every stage either does not look at the text or has a policy
//! that never waits. Such a policy is called in place; whatever else it does than to send its chunk, the frame goes the
//! general way up to that hook, and what the hook did is carried out there.
//!
//! A policy that looks at every string of a frame has searched those of the frame that a shape was learned from, and found nothing. What
//! is the same in both needs no second search: by the lane, the values in holes are searched, and a frame in which something is found goes
//! the general way. Nothing is learned from a frame of which a string is put together with those of other frames.
//!
//! A frame of a known shape that may not leave by the lane, such as a piece of the arguments of a call that somebody holds, goes
//! the general way without being read in full.

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

/// What the lane of a stream knows.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// Whether the stream may have a lane at all.
    pub(super) is_on: bool,
    /// Whether policies look at every string: what is not a hole has to be searched before.
    scrubs: bool,
    /// The shapes that were learned: first those of the last text, the one that fitted last before the others.
    shapes: Vec<(Says, Shape)>,
    /// How many shapes are those of the last text.
    usable: usize,
    /// Where the text of the last frame with text belongs, and the bytes of that frame.
    last: Option<Says>,
    raw: Vec<u8>,
    /// Whether no other frame has come since.
    follows: bool,
    /// Whether the first shape is that of the last frame with text that went the general way.
    is_first: bool,
    /// Whether the frame under way was read by its shape, and whether nothing is found in its holes.
    by_shape: bool,
    by_clean_shape: bool,
    /// Whether everything that was written since that frame left as it came.
    is_plain: bool,
    /// How many shapes may still be learned, and how many frames have fitted since that number last grew.
    lessons: u8,
    hits: u8,
    /// Whether only frames of the first shape may leave by the lane: what else a frame has, the writer may have to change.
    is_strict: bool,
    /// Each stage's view of the block, while the lane is armed.
    sights: Vec<Sight>,
    /// Whether something has left by the lane of which the writer has not been told.
    has_left: bool,
    /// The text of all of that, where the format says it again.
    left: String,
    /// What has left by the lane and the stages have not been told: frames, and bytes of their text.
    passed: (u32, u32),
    /// What hooks of the next frame did, which goes the general way.
    owed: Vec<(usize, Result<Effects, Failure>)>,
}

/// Where a text belongs, or a piece of arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Says {
    choice: u32,
    slot: Slot,
    what: Payload,
    /// The position of the choice, and the fields: where a text stands moves from frame to frame.
    position: u32,
    fields: u16,
}

/// The payload that frames of a shape carry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Payload {
    Text(Channel),
    /// More of the arguments of a call.
    Arguments(CallFlavor),
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

impl Says {
    /// Where the text of a delta belongs, or its piece of arguments, if that is all it says.
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
                // What a tool of the API's own is told, the reader remembers.
            }) if flavor != CallFlavor::Builtin => Payload::Arguments(flavor),
            _ => return None,
        };
        let Site { position, fields, opens: false, .. } = delta.site else { return None };
        let choice = delta.choice.filter(|_| delta.split.is_none())?;
        Some(Self { choice, slot: delta.slot, what, position, fields })
    }

    /// A delta that says this text there, of no frame.
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

    /// The delta that says this text there, at this place of a frame.
    fn delta_at(&self, text: &str, (element, holder): (Span, Span)) -> Delta {
        let delta = self.delta(text);
        Delta { site: Site { element, holder, ..delta.site }, ..delta }
    }

    /// Whether this is the same, be it of another block.
    fn is_like(&self, other: &Self) -> bool {
        *self == Self { choice: self.choice, slot: self.slot, ..*other }
    }

    /// The channel of the text.
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

    /// From here on every frame goes the general way, and is read in full.
    pub(super) fn turn_off(&mut self) {
        (self.is_on, self.is_plain, self.follows) = (false, false, false);
        (self.by_shape, self.by_clean_shape) = (false, false);
    }

    /// Takes note of a frame that goes the general way, and of what was found in its strings.
    pub(super) fn saw(&mut self, outgoing: &Outgoing, format: &dyn WireFormat, strings: FrameStrings) {
        let by_shape = std::mem::take(&mut self.by_shape);
        self.by_clean_shape = false;
        match strings {
            FrameStrings::Clean | FrameStrings::Kept if by_shape => {
                self.is_plain = true;
                return;
            }
            FrameStrings::Clean => {}
            // Nothing is learned from such a frame: what it has in common with others may have to change.
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

    /// Whether the frame under way was read by its shape, and policies that look at every string find nothing in it but in what
    /// its block shows.
    pub(super) fn is_by_clean_shape(&self) -> bool {
        self.by_clean_shape
    }

    /// Makes the shape of a block that of the next one, if they differ in nothing but what names the block. Its place; `None` if
    /// there is no such shape.
    fn rename(&mut self, frame: &Frame, says: &Says, site: &Site) -> Option<usize> {
        let (data, _) = frame.plain_data().filter(|_| frame.raw().len() <= LONGEST)?;
        let mut alike = self.shapes.iter().enumerate().filter(|(_, (of, _))| of.is_like(says));
        let (at, renamed) =
            alike.find_map(|(at, (_, shape))| Some((at, shape.renamed(frame.raw(), data, site)?)))?;
        self.shapes[at] = (*says, renamed);
        self.usable = 0;
        Some(at)
    }

    /// Takes note of what was written for a frame.
    pub(super) fn wrote(&mut self, frame: Option<&Bytes>, written: &[Bytes]) {
        let is_same = |frame: &Bytes, one: &Bytes| frame.as_ptr() == one.as_ptr() && frame.len() == one.len();
        self.is_plain &= matches!((frame, written), (Some(frame), [one]) if is_same(frame, one));
    }

    /// The frame that starts `input`, if it has the shape of the last frame that went the general way.
    fn fit_again(&self, input: &[u8]) -> Option<Fit> {
        let (_, first) = self.shapes[..self.usable].first().filter(|_| self.is_first)?;
        first.fit(input)
    }

    /// The frame that starts `input`, if the lane knows its shape and is armed for it.
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

    /// Takes note that frames have fitted.
    fn fitted(&mut self, frames: usize) {
        let hits = usize::from(self.hits) + frames;
        let earned = u8::try_from(hits / HITS).unwrap_or(LESSONS);
        self.lessons = self.lessons.saturating_add(earned).min(LESSONS);
        self.hits = u8::try_from(hits % HITS).unwrap_or(0);
    }
}

/// The frame that says one text, or one piece of arguments, and nothing else, in the one plain way.
fn one_text(outgoing: &Outgoing) -> Option<(&Frame, Says, Site)> {
    let [part] = &outgoing.parts[..] else { return None };
    let frame = outgoing.frame.as_ref()?;
    let is_plain =
        frame.odd().is_none() && frame.is_terminated() && !frame.is_stray() && part.fate == Fate::Kept;
    Says::of(&part.delta).filter(|_| is_plain).map(|says| (frame, says, part.delta.site))
}

/// The most shapes that a stream has.
const SHAPES: usize = 4;

/// How many shapes are learned at first: a stream whose frames are all different is not to learn from each of them.
const LESSONS: u8 = 4;

/// How many frames that fit allow one lesson more.
const HITS: usize = 16;
