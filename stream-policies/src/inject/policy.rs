//! The policy.

use std::collections::BTreeSet;

use stream_core::{
    Attention, Channel, Chunk, ChunkKind, Context, EffectError, Needs, PolicyError, Request, StreamState,
    SyncPolicy, chunk::Structure,
};

use super::InjectSettings;

/// Puts a notice before or after an answer. See the [module](super).
#[derive(Debug, Clone)]
#[must_use]
pub struct Inject {
    settings: InjectSettings,
    opened: BTreeSet<u32>,
    closed: BTreeSet<u32>,
}

impl Inject {
    pub(super) fn new(settings: InjectSettings) -> Self {
        Self { settings, opened: BTreeSet::new(), closed: BTreeSet::new() }
    }

    fn say(&self, text: Option<&String>, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let Some(text) = text else { return Ok(()) };
        match ctx.insert(text.as_str()) {
            Err(EffectError::NoPlace) if !self.settings.required => Ok(()),
            said => Ok(said?),
        }
    }
}

impl SyncPolicy for Inject {
    fn name(&self) -> &str {
        "inject"
    }

    fn needs(&self, _: &Request) -> Needs {
        let start = if self.settings.before.is_some() { Attention::Chunks } else { Attention::Nothing };
        Needs::nothing()
            .content(start)
            .refusal(start)
            .calls(start)
            .opaque(start)
            .structure(self.settings.after.is_some())
    }

    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let choice = chunk.choice().unwrap_or(0);
        let is_answer = chunk.is_payload() && chunk.kind() != ChunkKind::Text(Channel::Reasoning);
        if is_answer && self.opened.insert(choice) {
            self.say(self.settings.before.as_ref(), ctx)?;
        }
        let is_finish = chunk.kind() == ChunkKind::Structure(Structure::Finish);
        if is_finish && self.closed.insert(choice) {
            self.say(self.settings.after.as_ref(), ctx)?;
        }
        ctx.send(chunk);
        Ok(())
    }
}
