//! What happened in a replay, step by step.

use bytes::Bytes;
use stream_core::record::{Staged, StepView};
use stream_core::{BlockKey, ChunkKind, Decision, End, Error, FinishReason, StreamBlock, Structure};

/// One step of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// A frame of the upstream was read.
    In(Bytes),
    /// A policy was shown a step.
    Shown(Shown),
    /// A hook returned, and what it staged was carried out.
    Staged {
        /// The stage, counted from 0.
        stage: usize,
        /// The name of its policy.
        policy: String,
        /// How the stream ended, if it was `on_end`.
        end: Option<End>,
        /// What was staged, in order.
        effects: Vec<Staged>,
        /// How many bytes were held afterwards.
        held: usize,
    },
    /// A judge returned its verdict over a block, or its deadline passed.
    Judged {
        /// The stage, counted from 0.
        stage: usize,
        /// The name of its policy.
        policy: String,
        /// The block that was judged.
        block: BlockKey,
        /// How many bytes were held afterwards.
        held: usize,
    },
    /// A decision was carried out.
    Decided(Decision),
    /// Bytes were written for the client.
    Written(Bytes),
    /// The client got bytes.
    Out(Bytes),
    /// The stream was closed for an error.
    Closed(Error),
}

/// A step, as a policy was shown it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Shown {
    /// The stage, counted from 0.
    pub stage: usize,
    /// The name of its policy.
    pub policy: String,
    /// The kind of the step.
    pub kind: ChunkKind,
    /// The choice it belongs to.
    pub choice: Option<u32>,
    /// The block it belongs to.
    pub block: Option<BlockKey>,
    /// The kind of that block: `content`, `tool call` …
    pub block_kind: Option<&'static str>,
    /// `true` if the step completed the block.
    pub completes: bool,
    /// The name, for a call that opens, an opaque block and a finish reason.
    pub name: Option<String>,
    /// The text, or the fragment of arguments.
    pub text: Option<String>,
    /// The number of bytes that were held before.
    pub held: usize,
}

impl Shown {
    /// With `opens`, nothing of its block was shown before.
    pub(super) fn of(step: &StepView<'_>, opens: bool) -> Self {
        let StepView { chunk, state, .. } = step;
        let block = chunk.block().and_then(|key| state.block(key));
        let text = chunk.text().or(chunk.arguments());
        let name = match (chunk.kind(), block) {
            (ChunkKind::ToolCall, Some(StreamBlock::ToolCall(call))) => opens.then(|| call.name()),
            (ChunkKind::Opaque, Some(StreamBlock::Opaque(opaque))) => Some(opaque.kind()),
            (ChunkKind::Structure(Structure::Finish), _) => {
                let reason = chunk.choice().and_then(|choice| state.finish_reason_of(choice));
                reason.map(FinishReason::raw)
            }
            _ => None,
        };
        Self {
            stage: step.stage,
            policy: step.policy.to_owned(),
            kind: chunk.kind(),
            choice: chunk.choice(),
            block: chunk.block(),
            block_kind: block.map(StreamBlock::kind_name),
            completes: state.just_completed().is_some(),
            name: name.map(str::to_owned),
            text: text.map(str::to_owned),
            held: step.held,
        }
    }
}
