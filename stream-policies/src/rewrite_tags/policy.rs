//! The policy.

use std::sync::Arc;

use stream_core::text_calls::{Dialect, TextCall};
use stream_core::{
    Attention, Chunk, Context, Needs, Policy, PolicyError, Replacement, StreamState, ToolCall, async_trait,
};

/// Writes calls that stand in the text in other tags. See the [module](super).
#[derive(Debug, Clone)]
#[must_use]
pub struct RewriteTags(Arc<To>);

/// How calls leave.
#[derive(Debug)]
pub(super) enum To {
    Tags { open: String, close: String },
    Dialect(Box<Dialect>),
}

impl RewriteTags {
    /// Calls leave in this dialect, which may be one of your own.
    pub fn to(dialect: Dialect) -> Self {
        Self::new(To::Dialect(Box::new(dialect)))
    }

    pub(super) fn new(to: To) -> Self {
        Self(Arc::new(to))
    }

    /// The call's new text; `None` where it cannot be said.
    fn rewrite(&self, call: &ToolCall, written: &TextCall) -> Option<String> {
        match &*self.0 {
            To::Tags { open, close } => Some(format!("{open}{}{close}", written.told())),
            To::Dialect(dialect) => dialect.write(call.name(), call.arguments()),
        }
    }
}

#[async_trait]
impl Policy for RewriteTags {
    fn name(&self) -> &str {
        "rewrite_tags"
    }

    fn needs(&self) -> Needs {
        Needs::nothing().calls(Attention::Completed).guards(false).text_calls()
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
        match call.written().and_then(|written| self.rewrite(call, written)) {
            Some(text) => ctx.replace(call.key(), Replacement::written(text).because("other tags"))?,
            None => ctx.flush_block(call.key()),
        }
        Ok(())
    }
}
