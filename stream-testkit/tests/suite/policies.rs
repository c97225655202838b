//! Policies for the tests of the kit.

use std::time::Duration;

use stream_core::{Chunk, Context, Ending, Policy, PolicyError, StreamState, ToolCall, Verdict, async_trait};

/// Lets text flow, and holds every call until it is complete; `rm` never leaves.
pub(crate) struct NoRm;

#[async_trait]
impl Policy for NoRm {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        match completed_call(state) {
            Some(call) if call.name() == "rm" => {
                ctx.settle(call.key(), Verdict::drop("rm is not allowed"))?;
            }
            Some(call) => ctx.settle(call.key(), Verdict::Release)?,
            None if chunk.is_tool_call() => ctx.buffer(chunk),
            None => ctx.send(chunk),
        }
        Ok(())
    }
}

/// Sends text in upper case.
pub(crate) struct Shout;

#[async_trait]
impl Policy for Shout {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let shouted = chunk.text().map(str::to_uppercase);
        ctx.send(match shouted {
            Some(text) => chunk.with_text(text),
            None => chunk,
        });
        Ok(())
    }
}

/// Asks a judge that takes its time over each complete call, while the stream goes on.
pub(crate) struct SlowJudge(pub(crate) Duration);

#[async_trait]
impl Policy for SlowJudge {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if let Some(call) = completed_call(state) {
            let (takes, allowed) = (self.0, call.name() != "rm");
            ctx.decide(call.key(), async move {
                tokio::time::sleep(takes).await;
                Ok(if allowed { Verdict::Release } else { Verdict::drop("the judge said no") })
            })?;
        } else if chunk.is_tool_call() {
            ctx.buffer(chunk);
        } else {
            ctx.send(chunk);
        }
        Ok(())
    }
}

/// Takes its time in the hook, over each complete call.
pub(crate) struct SlowHook(pub(crate) Duration);

#[async_trait]
impl Policy for SlowHook {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if let Some(call) = completed_call(state) {
            tokio::time::sleep(self.0).await;
            ctx.settle(call.key(), Verdict::Release)?;
        } else if chunk.is_tool_call() {
            ctx.buffer(chunk);
        } else {
            ctx.send(chunk);
        }
        Ok(())
    }
}

/// Ends the stream at the first call.
pub(crate) struct NoCalls;

#[async_trait]
impl Policy for NoCalls {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.is_tool_call() {
            ctx.terminate(Ending::refuse("no tools here"));
        } else {
            ctx.send(chunk);
        }
        Ok(())
    }
}

/// Fails at the first call.
pub(crate) struct Fails;

#[async_trait]
impl Policy for Fails {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.is_tool_call() {
            return Err(PolicyError::new("the judge is out of office"));
        }
        ctx.send(chunk);
        Ok(())
    }
}

fn completed_call(state: &StreamState) -> Option<&ToolCall> {
    state.just_completed().and_then(|block| block.as_tool_call())
}
