//! The policy.

use std::collections::BTreeSet;

use stream_core::{
    Attention, BlockKey, Chunk, Context, Needs, PolicyError, Release, Request, StreamBlock, StreamState,
    SyncPolicy, TextBlock,
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

impl SyncPolicy for HideReasoning {
    fn name(&self) -> &str {
        "hide_reasoning"
    }

    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().reasoning(Attention::Chunks)
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let Some(key) = chunk.block().filter(|_| chunk.is_payload()) else { return Ok(()) };
        let is_signed = state.block(key).and_then(StreamBlock::as_text).is_some_and(TextBlock::is_signed);
        let placeholder = self.settings.placeholder.clone().filter(|_| !is_signed);
        let text = placeholder.filter(|_| self.told.insert(key));
        ctx.buffer(chunk);
        ctx.release(key, Release::first([Some(text.unwrap_or_default())]).because("reasoning is hidden"));
        Ok(())
    }
}
