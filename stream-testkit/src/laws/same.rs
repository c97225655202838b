//! Whether the fold reads what a strict client reads.

use stream_core::{Channel, StreamBlock, StreamState, TextBlock};

use crate::conformance::View;
use crate::models::Call;

/// The first text or list of calls that the fold has otherwise than the client: what the client has, and what the fold
/// has.
pub(crate) fn difference(state: &StreamState, view: &View) -> Option<(String, String)> {
    for choice in &view.choices {
        let blocks = || state.blocks().iter().filter(|block| u64::from(block.choice()) == choice.index);
        for (channel, is_spoken, read) in [
            (Channel::Content, false, &choice.content),
            (Channel::Content, true, &choice.spoken),
            (Channel::Reasoning, false, &choice.reasoning),
            (Channel::Refusal, false, &choice.refusal),
        ] {
            let of_channel = blocks().filter(|block| block.channel() == Some(channel));
            let texts =
                of_channel.filter_map(StreamBlock::as_text).filter(|text| text.is_spoken() == is_spoken);
            let folded: String = texts.map(TextBlock::text).collect();
            if folded != *read {
                return Some((format!("{channel:?} {read:?}"), format!("{folded:?}")));
            }
        }
        let folded: Vec<Call> = blocks()
            .filter_map(StreamBlock::as_tool_call)
            .map(|call| Call::function(call.name(), call.arguments()))
            .collect();
        let read: Vec<Call> =
            choice.calls.iter().map(|call| Call::function(&call.name, &call.arguments)).collect();
        let same = |(one, other): (&Call, &Call)| one.is_same(other);
        if folded.len() != read.len() || !folded.iter().zip(&read).all(same) {
            return Some((format!("the calls {read:?}"), format!("{folded:?}")));
        }
    }
    None
}
