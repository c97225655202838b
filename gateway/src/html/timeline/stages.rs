//! Which block of the upstream a block of a later stage is.
//!
//! Every stage folds on its own: what one drops, the next never sees, and its numbers are lower from there on.

use std::collections::{BTreeSet, HashMap};

use stream_core::{Action, BlockKey, Decision};
use stream_testkit::replay::Shown;

use super::super::lane::Lane;
use super::blocks::index;

/// What is known of the stages' blocks.
#[derive(Debug, Default)]
pub(super) struct Stages {
    blocks: HashMap<BlockKey, Seen>,
    /// The places of the blocks that a stage dropped whole.
    dropped: HashMap<usize, BTreeSet<usize>>,
    /// Lanes of blocks that the upstream did not send.
    made: HashMap<BlockKey, usize>,
}

/// A block, as a stage's policy was shown it.
#[derive(Debug)]
struct Seen {
    stage: usize,
    kind: &'static str,
}

impl Stages {
    pub(super) fn shown(&mut self, shown: &Shown) {
        if let (Some(key), Some(kind)) = (shown.block, shown.block_kind) {
            self.blocks.entry(key).or_insert(Seen { stage: shown.stage, kind });
        }
    }

    pub(super) fn decided(&mut self, decision: &Decision) {
        let Some(key) = decision.block.filter(|_| decision.enforced) else { return };
        let Some(seen) = self.blocks.get(&key) else { return };
        let dropped = self.dropped.entry(seen.stage).or_default();
        let place = index(&key.to_string());
        match decision.action {
            Action::Dropped => dropped.insert(place),
            Action::Released | Action::Edited => dropped.remove(&place),
            _ => false,
        };
    }

    /// The lane of a block; one of its own if the upstream did not send it.
    pub(super) fn lane(&mut self, key: BlockKey, lanes: &mut Vec<Lane>) -> usize {
        let seen = self.blocks.get(&key);
        let stage = seen.map_or(0, |seen| seen.stage);
        let mut place = index(&key.to_string());
        for before in (0..stage).rev() {
            for dropped in self.dropped.get(&before).into_iter().flatten() {
                if *dropped <= place {
                    place += 1;
                }
            }
        }
        if lanes.get(place).is_some_and(|lane| seen.is_none_or(|seen| seen.kind == lane.kind)) {
            return place;
        }
        let kind = seen.map_or("block", |seen| seen.kind);
        *self.made.entry(key).or_insert_with(|| {
            lanes.push(Lane { key: "made".to_owned(), kind: kind.to_owned(), ..Lane::default() });
            lanes.len() - 1
        })
    }
}
