//! Signed reasoning leaves as a whole or not at all: it cannot be edited (rule 22), and half of it would be refused in
//! the next turn as much as other words.

use std::collections::BTreeSet;

use stream_core::{BlockKey, BlockStatus, StreamBlock, StreamState, TextBlock};

use super::{Lane, Piece};

/// Whether the block leaves as a whole or not at all.
pub(crate) fn is_whole(key: BlockKey, state: &StreamState) -> bool {
    state.block(key).and_then(StreamBlock::as_text).is_some_and(TextBlock::is_signed)
}

/// Whether what is held of a text leaves as whole blocks.
pub(crate) fn holds_whole(lane: &Lane, state: &StreamState) -> bool {
    lane.first_held().is_some_and(|key| is_whole(key, state))
}

/// How many chunks of a text whose blocks leave as wholes may leave: those of blocks that are decided and over.
pub(crate) fn ready(lane: &Lane, state: &StreamState) -> usize {
    let is_over = |key| state.block(key).is_none_or(|block| block.status() != BlockStatus::Open);
    // A long block comes in many chunks, and each of them asks.
    if lane.first_held().is_some_and(is_over) { lane.decided_blocks(is_over) } else { 0 }
}

/// Takes all text from the blocks of which something is to change.
pub(crate) fn empty(released: &mut [Piece]) {
    let changed = released.iter().filter(|release| release.text.is_some());
    let changed: BTreeSet<BlockKey> = changed.map(|release| release.key).collect();
    let of_changed = released.iter_mut().filter(|release| changed.contains(&release.key));
    of_changed.for_each(|release| release.text = Some(String::new()));
}
