//! The gate.

use std::collections::BTreeSet;

use async_trait::async_trait;
use serde::de::IgnoredAny;
use stream_core::text_calls::UNPARSED;
use stream_core::wire::Ending;
use stream_core::{
    Attention, BlockKey, CallFlavor, Chunk, ChunkKind, Context, End, FinishKind, Needs, Policy, PolicyError,
    StreamBlock, StreamState, Structure, Verdict,
};

use super::settings::{FinishGateSettings, Release, WithoutFinish};
use crate::judge::is_call;

/// Holds each call until it is finished. See the [module](super).
#[derive(Debug, Clone, Default)]
pub struct FinishGate {
    settings: FinishGateSettings,
    /// Complete, and waiting for their finish.
    waiting: BTreeSet<BlockKey>,
}

impl FinishGate {
    /// A gate with the default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same gate with other settings.
    #[must_use]
    pub fn settings(mut self, settings: FinishGateSettings) -> Self {
        self.settings = settings;
        self
    }

    /// A block is complete: it waits for its finish, though not for ever.
    fn completed(&mut self, block: &StreamBlock, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        if !is_call(block) {
            return Ok(());
        }
        self.waiting.insert(block.key());
        if let Some(deadline) = self.settings.deadline {
            ctx.settle_after(block.key(), deadline, self.without_finish(block))?;
        }
        Ok(())
    }

    /// What becomes of a complete call whose finish does not come.
    fn without_finish(&self, block: &StreamBlock) -> Verdict {
        match self.settings.without_finish {
            WithoutFinish::Release if is_whole(block) => Verdict::Release,
            WithoutFinish::Release => Verdict::drop(NOT_WHOLE),
            WithoutFinish::Drop => Verdict::drop(NO_FINISH),
            WithoutFinish::End => Verdict::Terminate(Ending::error("the answer did not finish")),
        }
    }

    /// Something else of the choice follows: what is complete before it was not cut off.
    fn followed(&mut self, by: BlockKey, choice: u32, state: &StreamState, ctx: &mut Context<'_>) {
        for block in self.take(state, |block| block.choice() == choice && block.key() != by) {
            if is_whole(block) {
                ctx.flush_block(block.key());
            } else {
                ctx.discard_because(block.key(), NOT_WHOLE);
            }
        }
    }

    /// A choice, or all, have finished.
    fn finished(&mut self, choice: Option<u32>, state: &StreamState, ctx: &mut Context<'_>) {
        let last = |choice: u32| state.blocks().iter().rev().find(|block| block.choice() == choice);
        for block in self.take(state, |block| choice.is_none_or(|choice| block.choice() == choice)) {
            let cut = state.finish_reason_of(block.choice()).is_some_and(|reason| {
                matches!(reason.kind(), FinishKind::Length | FinishKind::Filter | FinishKind::Error)
            });
            let finished = match block {
                StreamBlock::ToolCall(call) => call.is_finished(),
                other if is_unparsed(other) => false,
                // Of something opaque only its place tells whether it was cut off.
                other => !cut || last(other.choice()).is_some_and(|last| last.key() != other.key()),
            };
            if finished {
                ctx.flush_block(block.key());
            } else if is_whole(block) {
                ctx.discard_because(block.key(), CUT_OFF);
            } else {
                ctx.discard_because(block.key(), NOT_WHOLE);
            }
        }
    }

    /// Takes those of the waiting for which `wanted` holds.
    fn take<'s>(
        &mut self,
        state: &'s StreamState,
        wanted: impl Fn(&StreamBlock) -> bool,
    ) -> Vec<&'s StreamBlock> {
        let blocks = self.waiting.iter().filter_map(|key| state.block(*key));
        let taken: Vec<&StreamBlock> = blocks.filter(|block| wanted(block)).collect();
        for block in &taken {
            self.waiting.remove(&block.key());
        }
        taken
    }
}

#[async_trait]
impl Policy for FinishGate {
    fn name(&self) -> &str {
        "finish_gate"
    }

    fn needs(&self) -> Needs {
        match self.settings.release {
            Release::Finished => {
                Needs::nothing().calls(Attention::Completed).opaque(Attention::Chunks).structure(true)
            }
            // What follows a call tells that it is whole.
            Release::Complete => Needs::everything(),
        }
    }

    fn awaits(&self) -> bool {
        false
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let kind = chunk.kind();
        if chunk.is_payload() {
            if let (Some(block), Release::Complete) = (state.current_block(), self.settings.release) {
                self.followed(block.key(), block.choice(), state, ctx);
            }
            match state.current_block() {
                Some(block) if !is_call(block) => ctx.send(chunk),
                _ => ctx.buffer(chunk),
            }
        } else if kind == ChunkKind::Structure(Structure::Finish) {
            self.finished(chunk.choice(), state, ctx);
        } else if kind == ChunkKind::Structure(Structure::Terminal) {
            self.finished(None, state, ctx);
        }
        match state.just_completed() {
            Some(block) => self.completed(block, ctx),
            None => Ok(()),
        }
    }

    async fn on_end(
        &mut self,
        end: End,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        match end {
            End::Finished => self.finished(None, state, ctx),
            End::Cut(None) => {
                for block in self.take(state, |_| true) {
                    match self.without_finish(block) {
                        Verdict::Release => ctx.flush_block(block.key()),
                        Verdict::Drop { reason, .. } => ctx.discard_because(block.key(), reason),
                        Verdict::Terminate(ending) => ctx.terminate(ending),
                        _ => {}
                    }
                }
            }
            _ => {
                for block in self.take(state, |_| true) {
                    ctx.discard_because(block.key(), NO_FINISH);
                }
            }
        }
        Ok(())
    }
}

/// Whether it began like a call in the text, and is none.
fn is_unparsed(block: &StreamBlock) -> bool {
    matches!(block, StreamBlock::Opaque(block) if block.kind() == UNPARSED)
}

/// Whether its arguments are empty or one whole JSON value (rule 3).
fn is_whole(block: &StreamBlock) -> bool {
    !is_unparsed(block)
        && block.as_tool_call().is_none_or(|call| {
            call.flavor() == CallFlavor::Custom
                || call.arguments().trim().is_empty()
                || serde_json::from_str::<IgnoredAny>(call.arguments()).is_ok()
        })
}

const NO_FINISH: &str = "no finish came";
const NOT_WHOLE: &str = "its arguments are not one whole JSON value";
const CUT_OFF: &str = "the answer was cut off in or behind it";
