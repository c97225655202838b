//! The gate.

use std::fmt;
use std::sync::Arc;

use stream_core::wire::Ending;
use stream_core::{
    Attention, Chunk, Context, Decide, Needs, PolicyError, Request, StreamBlock, StreamState, SyncPolicy,
    Verdict,
};

use super::settings::{OnDeny, ToolGateSettings};
use crate::judge::{CompletedCall, Judge, ask, is_call, is_server_call};

/// Holds each tool call until it is judged. See the [module](super).
#[derive(Clone)]
pub struct ToolGate {
    judge: Arc<dyn Judge>,
    settings: Arc<ToolGateSettings>,
}

impl ToolGate {
    /// A gate that asks this judge.
    #[must_use]
    pub fn new(judge: impl Judge + 'static) -> Self {
        Self { judge: Arc::new(judge), settings: Arc::default() }
    }

    /// The same gate with other settings.
    #[must_use]
    pub fn settings(mut self, settings: ToolGateSettings) -> Self {
        self.settings = Arc::new(settings);
        self
    }

    fn holds(&self, block: &StreamBlock) -> bool {
        is_call(block) || (is_server_call(block) && self.judge.judges_server_calls())
    }

    fn decide(
        &self,
        block: &StreamBlock,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let server = || CompletedCall::of_server(block, state).filter(|_| self.judge.judges_server_calls());
        let Some(call) = CompletedCall::of(block, state).or_else(server) else { return Ok(()) };
        let judge = Arc::clone(&self.judge);
        let settings = Arc::clone(&self.settings);
        let decide = Decide::by(async move { Ok(settings.carry(ask(&*judge, call).await?)) });
        ctx.decide(
            block.key(),
            match self.settings.deadline {
                Some(deadline) => decide.within(deadline),
                None => decide,
            },
        )?;
        Ok(())
    }
}

impl SyncPolicy for ToolGate {
    fn name(&self) -> &str {
        "tool_gate"
    }

    fn needs(&self, _: &Request) -> Needs {
        // What is opaque is looked at chunk by chunk: what the provider runs must not wait.
        Needs::nothing().calls(Attention::Completed).opaque(Attention::Chunks)
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.is_payload() {
            match state.current_block() {
                Some(block) if !self.holds(block) => ctx.send(chunk),
                _ => ctx.buffer(chunk),
            }
        }
        match state.just_completed() {
            Some(block) => self.decide(block, state, ctx),
            None => Ok(()),
        }
    }
}

impl ToolGateSettings {
    /// What the gate makes of a judge's verdict.
    fn carry(&self, verdict: Verdict) -> Verdict {
        match verdict {
            Verdict::Drop { reason, .. } if self.on_deny == OnDeny::End => {
                Verdict::Terminate(Ending::refuse(fill(&self.message, &reason)))
            }
            Verdict::Drop { reason, notice: None } => {
                let notice = self.notice.as_deref().map(|notice| fill(notice, &reason));
                Verdict::Drop { reason, notice }
            }
            verdict => verdict,
        }
    }
}

impl fmt::Debug for ToolGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolGate").field("settings", &self.settings).finish_non_exhaustive()
    }
}

/// Puts the reason into a text.
pub(crate) fn fill(text: &str, reason: &str) -> String {
    text.replace("{reason}", reason)
}
