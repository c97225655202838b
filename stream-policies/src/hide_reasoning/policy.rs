//! The policy.

use std::collections::BTreeSet;

use stream_core::{
    Attention, BlockKey, Chunk, Context, Needs, Policy, PolicyError, StreamState, async_trait,
};

use super::HideReasoningSettings;

/// Keeps the model's reasoning from the client. See the [module](super).
#[derive(Debug, Clone, Default)]
#[must_use]
pub struct HideReasoning {
    settings: HideReasoningSettings,
    /// The blocks that a placeholder stands for.
    told: BTreeSet<BlockKey>,
}

impl HideReasoning {
    pub(super) fn new(settings: HideReasoningSettings) -> Self {
        Self { settings, told: BTreeSet::new() }
    }
}

#[async_trait]
impl Policy for HideReasoning {
    fn name(&self) -> &str {
        "hide_reasoning"
    }

    fn needs(&self) -> Needs {
        Needs::nothing().reasoning(Attention::Chunks)
    }

    fn awaits(&self) -> bool {
        false
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let Some(key) = chunk.block().filter(|_| chunk.is_payload()) else { return Ok(()) };
        let placeholder = self.settings.placeholder.clone().filter(|_| !ctx.reasoning_is_signed());
        let text = placeholder.filter(|_| self.told.insert(key));
        ctx.buffer(chunk);
        ctx.flush_first(key, [Some(text.unwrap_or_default())], Some("reasoning is hidden".to_owned()));
        Ok(())
    }
}
