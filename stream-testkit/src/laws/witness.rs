//! A policy behind the one that is tested: what it is shown is what was released.

use std::sync::{Arc, Mutex, PoisonError};

use stream_core::{
    BlockKey, CallFlavor, Chunk, Context, End, Needs, PolicyError, Request, StreamBlock, StreamState,
    SyncPolicy, Verdict,
};

use crate::models::{Call, CallKind};

/// Sends everything, and writes down the calls it was shown.
pub(crate) struct Witness {
    pub(crate) needs: Needs,
    pub(crate) seen: Seen,
}

/// The calls that came past the witness. Clones are the same list.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<Vec<(BlockKey, Call)>>>);

impl Seen {
    pub(crate) fn calls(&self) -> Vec<Call> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.iter().map(|(_, call)| call.clone()).collect()
    }

    fn see(&self, block: &StreamBlock) {
        let told = match block {
            StreamBlock::ToolCall(call) => {
                let kind = match call.flavor() {
                    CallFlavor::Custom => CallKind::Custom,
                    CallFlavor::Builtin => CallKind::Builtin(call.name().to_owned()),
                    _ => CallKind::Function,
                };
                Call { kind, name: call.name().to_owned(), arguments: call.arguments().to_owned() }
            }
            // A tool that the provider runs: some clients hand it out as a call of their own.
            StreamBlock::Opaque(block) => match block.name() {
                Some(name) => Call::function(name, block.arguments()),
                None => return,
            },
            _ => return,
        };
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match seen.iter_mut().find(|(key, _)| *key == block.key()) {
            Some((_, known)) => *known = told,
            None => seen.push((block.key(), told)),
        }
    }
}

impl SyncPolicy for Witness {
    fn needs(&self, _: &Request) -> Needs {
        self.needs.clone()
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        for block in [state.current_block(), state.just_completed()].into_iter().flatten() {
            self.seen.see(block);
        }
        let done = state.just_completed().map(StreamBlock::key);
        if chunk.is_payload() {
            ctx.send(chunk);
        }
        if let Some(key) = done {
            ctx.settle(key, Verdict::Release)?;
        }
        Ok(())
    }

    fn on_end(&mut self, _: End, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        for block in state.blocks() {
            self.seen.see(block);
        }
        ctx.flush();
        Ok(())
    }
}
