//! Effects of one hook take place in the order they were staged.

use stream_core::{Chunk, Context, Policy, PolicyError, StreamState, async_trait};
use stream_testkit::{Fragments, Replay, Script, WireKind};

/// Lets go of the chunk before, and holds this one.
struct OneBehind;

#[async_trait]
impl Policy for OneBehind {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.is_payload() {
            ctx.flush();
            ctx.buffer(chunk);
        }
        Ok(())
    }
}

#[test]
fn a_chunk_that_is_buffered_after_a_flush_in_the_same_hook_is_held() {
    let script = Script::new().text("abc").text_fragments(Fragments::Chars(1));
    for kind in WireKind::ALL {
        let replayed = Replay::new(script.to_log(kind)).policy(|| OneBehind).run();
        assert_eq!(replayed.view().choices[0].content, "ab", "{kind}");
    }
}
