//! From the steps of a replay to what stands on the page.

mod blocks;
mod stages;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use stream_core::{Action, Decision};
use stream_testkit::Replayed;
use stream_testkit::replay::Step;

use self::blocks::Blocks;
use self::stages::Stages;
use super::lane::Lane;
use super::mark::{Came, Deed, Leaves, Left};
use super::scale::{Moment, Scale};

/// What happened in a replay, with a place for everything.
#[derive(Debug, Default)]
pub(super) struct Timeline {
    pub(super) scale: Scale,
    pub(super) frames: Vec<Came>,
    pub(super) pieces: Vec<Left>,
    pub(super) lanes: Vec<Lane>,
    /// Decisions over no block: text that was inserted, a stream that was ended.
    pub(super) deeds: Vec<Deed>,
}

impl Timeline {
    pub(super) fn of(replayed: &Replayed) -> Self {
        let mut reader = Reader::new(replayed);
        for (at, step) in &replayed.steps {
            reader.step(*at, step);
        }
        reader.finish()
    }
}

/// A timeline under way.
struct Reader {
    timeline: Timeline,
    blocks: Blocks,
    stages: Stages,
    /// Decisions, each with its moment; they find their lanes in the end.
    decisions: Vec<(Duration, Moment, Decision)>,
    /// Frames that have not left, by their place.
    waiting: Vec<usize>,
    on_the_way: VecDeque<Bytes>,
    anew: usize,
}

impl Reader {
    fn new(replayed: &Replayed) -> Self {
        let frames = replayed.steps.iter().filter(|(_, step)| matches!(step, Step::In(_))).count();
        Self {
            timeline: Timeline::default(),
            blocks: Blocks::new(replayed, frames.div_ceil(MARKS).max(1)),
            stages: Stages::default(),
            decisions: Vec::new(),
            waiting: Vec::new(),
            on_the_way: VecDeque::new(),
            anew: 0,
        }
    }

    fn step(&mut self, at: Duration, step: &Step) {
        match step {
            Step::In(bytes) => self.came(at, bytes),
            Step::Shown(shown) => self.stages.shown(shown),
            Step::Decided(decision) => {
                let moment = self.timeline.scale.at(at);
                self.stages.decided(decision);
                self.decisions.push((at, moment, decision.clone()));
            }
            Step::Written(bytes) => {
                self.on_the_way.push_back(bytes.clone());
                self.leaves(at, bytes, false);
            }
            Step::Out(bytes) => {
                if self.on_the_way.front() == Some(bytes) {
                    self.on_the_way.pop_front();
                } else {
                    self.leaves(at, bytes, true);
                }
            }
            _ => {
                self.timeline.scale.at(at);
            }
        }
    }

    fn came(&mut self, at: Duration, bytes: &Bytes) {
        let moment = self.timeline.scale.moment(at);
        let number = self.timeline.frames.len() + 1;
        self.blocks.came(number, at, moment, bytes);
        self.waiting.push(number - 1);
        self.timeline.frames.push(Came { number, at, moment, bytes: bytes.clone(), left: None });
    }

    fn leaves(&mut self, at: Duration, bytes: &Bytes, beside: bool) {
        let moment = self.timeline.scale.at(at);
        let frames = &mut self.timeline.frames;
        let came = self.waiting.iter().position(|place| frames[*place].bytes == bytes);
        let as_what = match came {
            Some(place) => {
                let frame = &mut frames[self.waiting.remove(place)];
                frame.left = Some(moment);
                Leaves::AsItCame(frame.number)
            }
            None if beside || is_keep_alive(bytes) => Leaves::KeepAlive,
            None => {
                self.anew += 1;
                Leaves::Anew(self.anew)
            }
        };
        self.timeline.pieces.push(Left { at, moment, bytes: bytes.clone(), as_what });
    }

    fn finish(mut self) -> Timeline {
        let Timeline { scale, frames, lanes, deeds, .. } = &mut self.timeline;
        *lanes = self.blocks.finish();
        for (at, moment, decision) in &self.decisions {
            let since = at.saturating_sub(decision.held);
            match decision.block.map(|key| self.stages.lane(key, lanes)) {
                Some(lane) => {
                    let from = start(&lanes[lane], decision, since, *moment);
                    let from = from.unwrap_or_else(|| scale.first_of(since)).min(*moment);
                    lanes[lane].deeds.push(Deed::new(decision, from, *moment));
                }
                None => deeds.push(Deed::new(decision, *moment, *moment)),
            }
        }
        wait(lanes, frames, scale);
        scale.settle();
        self.timeline
    }
}

/// Where the stretch of a block begins that a decision is about.
fn start(lane: &Lane, decision: &Decision, since: Duration, decided: Moment) -> Option<Moment> {
    let mut marks = lane.marks.iter().map(|mark| (mark.at, mark.from));
    if decision.held.is_zero() && decision.action == Action::Edited {
        // It was about what had just come.
        return marks.map(|(_, from)| from).filter(|from| *from <= decided).max();
    }
    marks.find(|(at, _)| *at >= since).map(|(_, from)| from)
}

/// Finds the blocks that had to wait for something before them.
fn wait(lanes: &mut [Lane], frames: &[Came], scale: &Scale) {
    for lane in lanes.iter_mut().filter(|lane| lane.deeds.iter().all(|deed| deed.held.is_zero())) {
        let frames = lane.marks.iter().flat_map(|mark| &frames[mark.frames.0 - 1..mark.frames.1]);
        let waits = frames.filter_map(|frame| {
            let left = frame.left?;
            let lasted = scale.time(left).saturating_sub(frame.at);
            (!lasted.is_zero()).then_some((frame.moment, left, lasted))
        });
        lane.waited = waits.max_by_key(|(.., lasted)| *lasted);
    }
}

/// Whether it says nothing: a comment, a blank line or a ping.
fn is_keep_alive(bytes: &[u8]) -> bool {
    bytes.starts_with(b":") || bytes.starts_with(b"event: ping") || bytes.iter().all(u8::is_ascii_whitespace)
}

/// About how many marks a lane has at most; frames in a row are one mark where there are more.
const MARKS: usize = 1000;
