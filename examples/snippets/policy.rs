//! A policy in 25 lines: text flows at once, a tool call waits until it is complete, and `rm` never leaves.
//!
//! `cargo run -p snippets --example policy`

use std::convert::Infallible;

use futures::{StreamExt as _, stream};
use stream_core::{
    Attention, Chunk, Context, Needs, Policy, PolicyError, StreamProcessor, StreamState, async_trait,
};
use stream_testkit::{Script, WireKind};

struct NoRm;

#[async_trait]
impl Policy for NoRm {
    fn needs(&self) -> Needs {
        // Held for us until they are complete; all else passes by.
        Needs::nothing().calls(Attention::Completed)
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
        if call.name() == "rm" {
            ctx.discard_because(call.key(), "rm is not allowed");
        } else {
            ctx.flush_block(call.key());
        }
        Ok(())
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // What a model might answer. Any stream of bytes will do, in any of the wire formats.
    let answer =
        Script::new().text("On it.").call("call_1", "rm", r#"{"path":"/"}"#).call("call_2", "ls", "{}");
    let upstream = stream::iter([Ok::<_, Infallible>(answer.bytes(WireKind::Gemini))]);

    let mut policed = StreamProcessor::new(upstream, NoRm);
    while let Some(bytes) = policed.next().await {
        print!("{}", String::from_utf8_lossy(&bytes));
    }
}
