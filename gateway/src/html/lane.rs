//! The lane of a block: what came of it, and what was decided over it.

use std::time::Duration;

use stream_core::{Action, BlockStatus, StreamBlock};

use super::mark::Deed;
use super::scale::Moment;

/// A block.
#[derive(Debug, Default)]
pub(super) struct Lane {
    /// `#1`.
    pub(super) key: String,
    /// `tool call`.
    pub(super) kind: String,
    /// The name of a call, or what kind of opaque thing it is.
    pub(super) name: Option<String>,
    pub(super) choice: u32,
    /// All text or arguments.
    pub(super) text: String,
    pub(super) status: Option<BlockStatus>,
    pub(super) marks: Vec<Mark>,
    pub(super) deeds: Vec<Deed>,
    /// It had to wait for something before it: since when, until when, and for how long.
    pub(super) waited: Option<(Moment, Moment, Duration)>,
}

/// A stretch of a block that one frame brought, or several in a row.
#[derive(Debug, Clone)]
pub(super) struct Mark {
    /// The numbers of the first and the last frame.
    pub(super) frames: (usize, usize),
    pub(super) at: Duration,
    pub(super) from: Moment,
    pub(super) to: Moment,
    pub(super) text: String,
}

/// What became of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Fate {
    Passed,
    Waited,
    Released,
    Rewritten,
    Dropped,
}

impl Fate {
    /// The class that colours it.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Waited => "waited",
            Self::Released => "released",
            Self::Rewritten => "rewritten",
            Self::Dropped => "dropped",
        }
    }

    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed at once",
            Self::Waited => "waited its turn",
            Self::Released => "held, released",
            Self::Rewritten => "rewritten",
            Self::Dropped => "dropped",
        }
    }
}

impl Lane {
    /// Takes over what is known of a block.
    pub(super) fn know(&mut self, block: &StreamBlock) {
        self.key = block.key().to_string();
        block.kind_name().clone_into(&mut self.kind);
        self.choice = block.choice();
        self.status = Some(block.status());
        match block {
            StreamBlock::ToolCall(call) => self.name = Some(call.name().to_owned()),
            StreamBlock::Opaque(opaque) => self.name = Some(opaque.kind().to_owned()),
            _ => {}
        }
    }

    /// What a frame brought of it.
    pub(super) fn add(&mut self, frame: usize, at: Duration, moment: Moment, text: &str, merge: usize) {
        self.text.push_str(text);
        match self.marks.last_mut() {
            Some(last) if last.frames.1 == frame => last.text.push_str(text),
            Some(last) if frame - last.frames.0 < merge => {
                last.frames.1 = frame;
                last.to = moment;
                last.text.push_str(text);
            }
            _ => self.marks.push(Mark {
                frames: (frame, frame),
                at,
                from: moment,
                to: moment,
                text: text.to_owned(),
            }),
        }
    }

    /// What became of it.
    pub(super) fn fate(&self) -> Fate {
        let of = |deed: &Deed| match deed.action {
            Action::Released if deed.held.is_zero() => Fate::Passed,
            Action::Released => Fate::Released,
            Action::Dropped => Fate::Dropped,
            Action::Edited => Fate::Rewritten,
            _ => Fate::Passed,
        };
        let decided = self.deeds.iter().filter(|deed| deed.enforced).map(of).max();
        let waited = if self.waited.is_some() { Fate::Waited } else { Fate::Passed };
        decided.unwrap_or(Fate::Passed).max(waited)
    }
}
