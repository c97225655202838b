//! The policy.

use std::sync::Arc;

use stream_core::text_calls::Dialect;
use stream_core::{Attention, Chunk, Context, Needs, Policy, PolicyError, StreamState, async_trait};

/// Turns structured calls into text. See the [module](super).
#[derive(Debug, Clone)]
#[must_use]
pub struct DemoteCalls(Arc<Dialect>);

impl DemoteCalls {
    /// Calls leave in this dialect.
    pub fn to(dialect: Dialect) -> Self {
        Self(Arc::new(dialect))
    }
}

#[async_trait]
impl Policy for DemoteCalls {
    fn name(&self) -> &str {
        "demote_calls"
    }

    fn needs(&self) -> Needs {
        Needs::nothing().calls(Attention::Completed).hides_calls().guards(false)
    }

    fn awaits(&self) -> bool {
        false
    }

    async fn on_chunk(
        &mut self,
        _: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) else {
            return Ok(());
        };
        if call.written().is_some() {
            ctx.flush_block(call.key());
            return Ok(());
        }
        let arguments = if call.arguments().trim().is_empty() { "{}" } else { call.arguments() };
        match self.0.write(call.name(), arguments) {
            Some(text) => ctx.replace_with_text(call.key(), text, "it leaves as text")?,
            None => ctx.discard_because(call.key(), "it cannot be said in the dialect"),
        }
        Ok(())
    }
}
