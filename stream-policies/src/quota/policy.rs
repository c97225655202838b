//! The policy.

use std::time::Duration;

use stream_core::{
    Attention, Chunk, Context, Ending, Needs, PolicyError, Request, StreamBlock, StreamState, SyncPolicy,
    TextBlock, Verdict,
};

use super::QuotaSettings;

/// Ends answers that are too long, too many or too slow. See the [module](super).
#[derive(Debug, Clone)]
#[must_use]
pub struct Quota {
    settings: QuotaSettings,
    time: Option<Duration>,
    bytes: usize,
    blocks: usize,
    calls: usize,
}

impl Quota {
    pub(super) fn new(time: Option<Duration>, settings: QuotaSettings) -> Self {
        Self { settings, time, bytes: 0, blocks: 0, calls: 0 }
    }

    fn end(&self, ctx: &mut Context<'_>) {
        let message = self.settings.message.as_str();
        ctx.terminate(if self.settings.error { Ending::error(message) } else { Ending::refuse(message) });
    }

    /// Whether there are too many blocks or calls, or it is too late.
    fn is_over(&mut self, state: &StreamState, ctx: &Context<'_>) -> bool {
        let new = &state.blocks()[self.blocks..];
        self.calls += new.iter().filter(|block| block.as_tool_call().is_some()).count();
        self.blocks += new.len();
        let over = |limit: Option<usize>, count: usize| limit.is_some_and(|limit| count > limit);
        over(self.settings.blocks, self.blocks)
            || over(self.settings.calls, self.calls)
            || self.time.is_some_and(|time| ctx.elapsed() > time)
    }

    /// How many of the chunk's bytes may leave.
    fn allowance(&mut self, chunk: &Chunk) -> Option<usize> {
        let body = chunk.text().or(chunk.arguments()).unwrap_or_default();
        let left = self.settings.bytes?.saturating_sub(self.bytes);
        self.bytes += body.len();
        (body.len() > left).then(|| (0..=left).rev().find(|end| body.is_char_boundary(*end)).unwrap_or(0))
    }
}

impl SyncPolicy for Quota {
    fn name(&self) -> &str {
        "quota"
    }

    fn needs(&self, _: &Request) -> Needs {
        let QuotaSettings { bytes, blocks, .. } = &self.settings;
        let everything = bytes.is_some() || blocks.is_some() || self.time.is_some();
        if everything {
            return Needs::everything();
        }
        Needs::nothing().calls(Attention::Chunks)
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.is_payload() && self.is_over(state, ctx) {
            self.end(ctx);
            return Ok(());
        }
        // Neither can be cut: half a call could only end in an error, signed reasoning is never edited (rule 22).
        let is_thought = state.current_block().is_some_and(is_signed);
        let holds = self.settings.bytes.is_some() && (chunk.is_tool_call() || is_thought);
        match self.allowance(&chunk) {
            Some(_) if holds => {
                self.end(ctx);
                return Ok(());
            }
            Some(bytes) => {
                let text = chunk.text().unwrap_or_default()[..bytes].to_owned();
                ctx.send(chunk.with_text(text));
                self.end(ctx);
                return Ok(());
            }
            None if holds => ctx.buffer(chunk),
            None => ctx.send(chunk),
        }
        if let Some(block) = state.just_completed()
            && self.settings.bytes.is_some()
            && (block.as_tool_call().is_some() || is_signed(block))
        {
            ctx.settle(block.key(), Verdict::Release)?;
        }
        Ok(())
    }
}

/// Whether a signature stands for the block's text.
fn is_signed(block: &StreamBlock) -> bool {
    block.as_text().is_some_and(TextBlock::is_signed)
}
