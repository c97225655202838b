//! The policy.

use std::sync::Arc;

use stream_core::text_calls::Dialect;
use stream_core::{
    Attention, Chunk, Context, Needs, PolicyError, Replacement, Request, StreamState, SyncPolicy, Verdict,
};

/// Turns structured calls into text. See the [module](super).
#[derive(Debug, Clone)]
#[must_use]
pub struct DemoteCalls(Arc<Dialect>);

impl DemoteCalls {
    /// Creates a policy that writes calls in this dialect.
    pub fn to(dialect: Dialect) -> Self {
        Self(Arc::new(dialect))
    }
}

impl SyncPolicy for DemoteCalls {
    fn name(&self) -> &str {
        "demote_calls"
    }

    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().calls(Attention::Completed).hides_calls().guards(false)
    }

    fn on_chunk(&mut self, _: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) else {
            return Ok(());
        };
        if call.written().is_some() {
            ctx.settle(call.key(), Verdict::Release)?;
            return Ok(());
        }
        let arguments = if call.arguments().trim().is_empty() { "{}" } else { call.arguments() };
        match self.0.write(call.name(), arguments) {
            Some(text) => {
                let reason = format!("it leaves as text, in the dialect {}", self.0.name());
                ctx.settle(call.key(), Verdict::Replace(Replacement::text(text).because(reason)))?;
            }
            None => ctx.settle(call.key(), Verdict::drop("it cannot be said in the dialect"))?,
        }
        Ok(())
    }
}
