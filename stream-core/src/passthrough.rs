//! The policy that lets everything leave.

use async_trait::async_trait;

use crate::chunk::Chunk;
use crate::context::Context;
use crate::policy::{Needs, Policy, PolicyError};
use crate::state::StreamState;

/// Looks at nothing and changes nothing. It has no settings and holds nothing back.
///
/// ```
/// use stream_core::Passthrough;
/// use stream_testkit::{Replay, Script, WireKind};
///
/// let log = Script::new().text("Hello.").call("call_1", "look", "{}").to_log(WireKind::OpenAiChat);
/// let replayed = Replay::new(&log).policy(|| Passthrough).run();
/// assert_eq!(replayed.bytes(), log.bytes());
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Passthrough;

#[async_trait]
impl Policy for Passthrough {
    fn needs(&self) -> Needs {
        Needs::nothing()
    }

    fn awaits(&self) -> bool {
        false
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        ctx.send(chunk);
        Ok(())
    }
}
