//! Signed reasoning leaves as a whole or not at all: it cannot be edited (rule 22), and half of it would be refused in
//! the next turn as much as other words.

use stream_core::{BlockKey, BlockStatus, Channel, Context, StreamState};

use super::Lane;

/// Whether the block leaves as a whole or not at all.
pub(crate) fn is_whole(key: BlockKey, state: &StreamState, ctx: &Context<'_>) -> bool {
    let reasoning = state.block(key).is_some_and(|block| block.channel() == Some(Channel::Reasoning));
    reasoning && ctx.reasoning_is_signed()
}

/// Whether what is held of a text leaves as whole blocks.
pub(crate) fn holds_whole(lane: &Lane, state: &StreamState, ctx: &Context<'_>) -> bool {
    lane.held_blocks().first().is_some_and(|(key, _)| is_whole(*key, state, ctx))
}

/// How far a text whose blocks leave as wholes may: to the end of the last that is decided and over.
pub(crate) fn ready(lane: &Lane, state: &StreamState) -> usize {
    let is_over = |key| state.block(key).is_none_or(|block| block.status() != BlockStatus::Open);
    let blocks = lane.held_blocks();
    let ready = blocks.iter().take_while(|(key, end)| *end <= lane.decided() && is_over(*key));
    ready.last().map_or(0, |(_, end)| *end)
}
