//! A policy in 25 lines: `cargo run -p snippets --bin policy`.

use futures::{StreamExt as _, stream};
use stream_core::{
    Attention, Chunk, Context, Needs, Policy, PolicyError, StreamProcessor, StreamState, async_trait,
};

/// Text flows; every tool call is held until it is complete, and `rm` never leaves.
struct NoRm;

#[async_trait]
impl Policy for NoRm {
    fn needs(&self) -> Needs {
        Needs::nothing().calls(Attention::Completed)
    }

    async fn on_chunk(
        &mut self,
        _: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) else { return Ok(()) };
        match call.name() {
            "rm" => ctx.discard_because(call.key(), "rm is not allowed"),
            _ => ctx.flush_block(call.key()),
        }
        Ok(())
    }
}

#[tokio::main]
async fn main() {
    let upstream = stream::iter(UPSTREAM.map(Ok::<_, std::convert::Infallible>));
    let mut policed = StreamProcessor::new(upstream, NoRm);
    while let Some(bytes) = policed.next().await {
        #[allow(clippy::print_stdout)]
        {
            print!("{}", String::from_utf8_lossy(&bytes));
        }
    }
}

const UPSTREAM: [&str; 4] = [
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"I clean up.\"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"1\",\"type\":\"function\",\"function\":{\"name\":\"rm\",\"arguments\":\"{}\"}}]}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\n",
    "data: [DONE]\n\n",
];
