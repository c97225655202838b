//! Which block a frame belongs to: the log is folded once more, whatever the policies look at.

use std::collections::BTreeSet;
use std::time::Duration;

use stream_core::{Assembler, Config, StreamBlock, StreamState, wire};
use stream_testkit::Replayed;

use super::super::lane::Lane;
use super::super::scale::Moment;

/// The blocks that came so far.
pub(super) struct Blocks {
    /// Gone when a frame could not be read: nothing behind it is known.
    assembler: Option<Assembler>,
    whole: bool,
    lanes: Vec<Lane>,
    /// How many frames in a row may be one mark.
    merge: usize,
}

impl Blocks {
    pub(super) fn new(replayed: &Replayed, merge: usize) -> Self {
        let format = wire::named(replayed.format.name());
        let config = format.into_iter().fold(Config::default(), Config::format);
        Self { assembler: Some(Assembler::with(config)), whole: replayed.whole, lanes: Vec::new(), merge }
    }

    pub(super) fn came(&mut self, number: usize, at: Duration, moment: Moment, bytes: &[u8]) {
        let Some(assembler) = &mut self.assembler else { return };
        let mut touched = BTreeSet::new();
        let read = if self.whole {
            let read = assembler.push_whole(bytes.to_vec());
            touched.extend(0..assembler.state().blocks().len());
            read
        } else {
            assembler.push_with(bytes, |completed, state| {
                let blocks = completed.into_iter().chain(state.current_block());
                touched.extend(blocks.map(place));
            })
        };
        let state = assembler.state();
        for place in touched {
            let Some(block) = state.blocks().get(place) else { continue };
            if self.lanes.len() <= place {
                self.lanes.resize_with(place + 1, Lane::default);
            }
            let lane = &mut self.lanes[place];
            lane.know(block);
            let all = text(block);
            let more = all.get(lane.text.len()..).unwrap_or_default().to_owned();
            // The opening of another block completes one: that frame brings nothing of it.
            if !more.is_empty() || lane.marks.is_empty() {
                lane.add(number, at, moment, &more, self.merge);
            }
        }
        if read.is_err() {
            self.assembler = None;
        }
    }

    pub(super) fn finish(mut self) -> Vec<Lane> {
        if let Some(assembler) = &mut self.assembler {
            if !self.whole {
                // What cannot be read at the end is told by the replay's own outcome.
                let _ = assembler.finish();
            }
            know_all(&mut self.lanes, assembler.state());
        }
        self.lanes
    }
}

fn know_all(lanes: &mut [Lane], state: &StreamState) {
    for (lane, block) in lanes.iter_mut().zip(state.blocks()) {
        lane.know(block);
    }
}

/// Where a block stands in its state.
fn place(block: &StreamBlock) -> usize {
    index(&block.key().to_string())
}

/// The number of a key that is displayed as `#3`.
pub(super) fn index(key: &str) -> usize {
    key.trim_start_matches('#').parse().unwrap_or_default()
}

fn text(block: &StreamBlock) -> &str {
    match block {
        StreamBlock::ToolCall(call) => call.arguments(),
        other => other.as_text().map_or("", |text| text.text()),
    }
}
