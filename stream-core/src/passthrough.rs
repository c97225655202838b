//! The policy that lets everything leave.

use crate::chunk::Chunk;
use crate::context::Context;
use crate::policy::{Needs, PolicyError, SyncPolicy};
use crate::request::Request;
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

impl SyncPolicy for Passthrough {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing()
    }

    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        ctx.send(chunk);
        Ok(())
    }
}
