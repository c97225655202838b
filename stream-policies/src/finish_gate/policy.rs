//! The gate.

use std::collections::{BTreeSet, HashMap};

use serde::de::IgnoredAny;
use stream_core::text_calls::UNPARSED;
use stream_core::wire::Ending;
use stream_core::{
    Attention, BlockKey, CallFlavor, Chunk, ChunkKind, Context, Decide, EffectError, End, FinishKind, Needs,
    PolicyError, Request, StreamBlock, StreamState, Structure, SyncPolicy, Verdict,
};

use super::settings::{FinishGateSettings, Release, WithoutFinish};
use crate::judge::is_call;

/// Holds each call until it is finished. See the [module](super).
#[derive(Debug, Clone, Default)]
pub struct FinishGate {
    settings: FinishGateSettings,
    /// Complete, and waiting for their finish.
    waiting: BTreeSet<BlockKey>,
    /// How whole the arguments of each call are whose deadline runs.
    arguments: HashMap<BlockKey, ArgumentsSoFar>,
}

/// Whether arguments are one whole JSON value, as they come: nothing is read twice, however many deltas there are.
#[derive(Debug, Clone, Default)]
struct ArgumentsSoFar {
    depth: usize,
    in_string: bool,
    escaped: bool,
    whole: bool,
}

impl ArgumentsSoFar {
    /// More of them came; `all` is what came so far.
    fn add(&mut self, more: &str, all: &str) {
        for byte in more.bytes() {
            match byte {
                _ if self.escaped => self.escaped = false,
                b'\\' if self.in_string => self.escaped = true,
                b'"' => self.in_string = !self.in_string,
                b'{' | b'[' if !self.in_string => self.depth += 1,
                b'}' | b']' if !self.in_string => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        // White space changes nothing, and a parser stops at the end of the first value.
        if !more.trim().is_empty() {
            self.whole = self.depth == 0 && !self.in_string && is_json(all);
        }
    }
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

    /// More of a call came, complete or not: from now on it waits for its finish, though not for ever.
    fn came(&mut self, chunk: &Chunk, block: &StreamBlock, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let Some(deadline) = self.settings.deadline else { return Ok(()) };
        let whole = match (self.settings.without_finish, block.as_tool_call()) {
            (WithoutFinish::Release, Some(call)) if call.flavor() != CallFlavor::Custom => {
                let known = self.arguments.entry(call.key()).or_default();
                known.add(chunk.arguments().unwrap_or_default(), call.arguments());
                known.whole || call.arguments().is_empty()
            }
            _ => !is_unparsed(block),
        };
        Ok(ctx.decide(block.key(), Decide::after(deadline, self.without_finish(whole)))?)
    }

    /// What becomes of a call whose finish does not come.
    fn without_finish(&self, whole: bool) -> Verdict {
        match self.settings.without_finish {
            WithoutFinish::Release if whole => Verdict::Release,
            WithoutFinish::Release => Verdict::drop(NOT_WHOLE),
            WithoutFinish::Drop => Verdict::drop(NO_FINISH),
            WithoutFinish::End => Verdict::Terminate(Ending::error("the answer did not finish")),
        }
    }

    /// Something else of the choice follows: what is complete before it was not cut off.
    fn followed(
        &mut self,
        by: BlockKey,
        choice: u32,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), EffectError> {
        for block in self.take(state, |block| block.choice() == choice && block.key() != by) {
            let verdict = if is_whole(block) { Verdict::Release } else { Verdict::drop(NOT_WHOLE) };
            ctx.settle(block.key(), verdict)?;
        }
        Ok(())
    }

    /// A choice, or all, have finished.
    fn finished(
        &mut self,
        choice: Option<u32>,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), EffectError> {
        let last = |choice: u32| state.blocks().iter().rev().find(|block| block.choice() == choice);
        for block in self.take(state, |block| choice.is_none_or(|choice| block.choice() == choice)) {
            if !self.settings.terminal_finishes && state.finish_reason_of(block.choice()).is_none() {
                ctx.settle(block.key(), self.without_finish(is_whole(block)))?;
                continue;
            }
            let cut = state.finish_reason_of(block.choice()).is_some_and(|reason| {
                matches!(reason.kind(), FinishKind::Length | FinishKind::Filter | FinishKind::Error)
            });
            let finished = match block {
                StreamBlock::ToolCall(call) => call.is_finished(),
                other if is_unparsed(other) => false,
                // Of something opaque only its place tells whether it was cut off.
                other => !cut || last(other.choice()).is_some_and(|last| last.key() != other.key()),
            };
            let verdict = match block {
                _ if finished => Verdict::Release,
                block if is_whole(block) => Verdict::drop(CUT_OFF),
                _ => Verdict::drop(NOT_WHOLE),
            };
            ctx.settle(block.key(), verdict)?;
        }
        Ok(())
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

impl SyncPolicy for FinishGate {
    fn name(&self) -> &str {
        "finish_gate"
    }

    fn needs(&self, _: &Request) -> Needs {
        match self.settings.release {
            Release::Finished => {
                // The deadline counts from the last delta: every one is looked at.
                Needs::nothing().calls(Attention::Chunks).opaque(Attention::Chunks).structure(true)
            }
            // What follows a call tells that it is whole.
            Release::Complete => Needs::everything(),
        }
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let kind = chunk.kind();
        if chunk.is_payload() {
            if let (Some(block), Release::Complete) = (state.current_block(), self.settings.release) {
                self.followed(block.key(), block.choice(), state, ctx)?;
            }
            match state.current_block() {
                Some(block) if !is_call(block) => ctx.send(chunk),
                Some(block) => {
                    self.came(&chunk, block, ctx)?;
                    ctx.buffer(chunk);
                }
                None => ctx.buffer(chunk),
            }
        } else if kind == ChunkKind::Structure(Structure::Finish) {
            self.finished(chunk.choice(), state, ctx)?;
        } else if kind == ChunkKind::Structure(Structure::Terminal) {
            self.finished(None, state, ctx)?;
        }
        if let Some(block) = state.just_completed().filter(|block| is_call(block)) {
            self.waiting.insert(block.key());
        }
        Ok(())
    }

    fn on_end(&mut self, end: End, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        if end == End::Finished {
            return Ok(self.finished(None, state, ctx)?);
        }
        for block in self.take(state, |_| true) {
            let verdict = match end {
                End::Cut(None) => self.without_finish(is_whole(block)),
                _ => Verdict::drop(NO_FINISH),
            };
            ctx.settle(block.key(), verdict)?;
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
                || is_json(call.arguments())
        })
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<IgnoredAny>(text).is_ok()
}

const NO_FINISH: &str = "no finish came";
const NOT_WHOLE: &str = "its arguments are not one whole JSON value";
const CUT_OFF: &str = "the answer was cut off in or behind it";
