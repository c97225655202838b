//! The judge that lets nothing leave before it was asked.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use stream_core::wire::Ending;
use stream_core::{
    BlockKey, Chunk, Context, End, Needs, Policy, PolicyError, Request, StreamBlock, StreamState, Verdict,
};

use super::settings::BufferedJudgeSettings;
use crate::judge::{CompletedCall, Judge, ask, is_call, is_server_call};
use crate::tool_gate::policy::fill;

/// Holds everything until a completed call was judged. See the [module](super).
pub struct BufferedJudge {
    judge: Arc<dyn Judge>,
    settings: BufferedJudgeSettings,
    /// What of the held may leave at the next approval.
    free: BTreeSet<BlockKey>,
}

impl BufferedJudge {
    /// A policy that asks this judge.
    #[must_use]
    pub fn new(judge: impl Judge + 'static) -> Self {
        Self { judge: Arc::new(judge), settings: BufferedJudgeSettings::default(), free: BTreeSet::new() }
    }

    /// The same policy with other settings.
    #[must_use]
    pub fn settings(mut self, settings: BufferedJudgeSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Lets everything go that needs no approval or has it. Calls of other choices may still be open.
    fn flush(&mut self, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        for key in std::mem::take(&mut self.free) {
            ctx.settle(key, Verdict::Release)?;
        }
        Ok(())
    }
}

#[async_trait]
impl Policy for BufferedJudge {
    fn name(&self) -> &str {
        "buffered_judge"
    }

    fn needs(&self, _: &Request) -> Needs {
        Needs::everything().structure(false)
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.is_payload() {
            // A late part of something opaque is not of the block that was approved: it stays held.
            let judged = |block: &StreamBlock| {
                is_call(block) || (is_server_call(block) && self.judge.judges_server_calls())
            };
            let free = state.current_block().filter(|block| !judged(block));
            self.free.extend(free.map(StreamBlock::key));
            ctx.buffer(chunk);
        }
        let Some(block) = state.just_completed() else { return Ok(()) };
        let server = || CompletedCall::of_server(block, state).filter(|_| self.judge.judges_server_calls());
        let Some(call) = CompletedCall::of(block, state).or_else(server) else { return Ok(()) };
        match ask(&*self.judge, call).await? {
            Verdict::Release => {
                self.free.insert(block.key());
                self.flush(ctx)?;
            }
            Verdict::Replace(with) => {
                ctx.settle(block.key(), Verdict::Replace(with))?;
                self.flush(ctx)?;
            }
            Verdict::Drop { reason, .. } => {
                ctx.terminate(Ending::refuse(fill(&self.settings.message, &reason)));
            }
            Verdict::Terminate(ending) => ctx.terminate(ending),
            _ => return Err(PolicyError::new("expected a verdict this policy knows, found another")),
        }
        Ok(())
    }

    async fn on_end(&mut self, _: End, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        self.flush(ctx)
    }
}

impl fmt::Debug for BufferedJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferedJudge").field("settings", &self.settings).finish_non_exhaustive()
    }
}
