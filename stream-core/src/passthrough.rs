//! The policy that lets everything leave.

use async_trait::async_trait;

use crate::chunk::Chunk;
use crate::context::Context;
use crate::policy::{Needs, Policy, PolicyError};
use crate::state::StreamState;

/// Looks at nothing and changes nothing.
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
