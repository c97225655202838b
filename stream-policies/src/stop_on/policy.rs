//! The policy.

use std::collections::BTreeSet;
use std::sync::Arc;

use stream_core::{
    Attention, BlockKey, Chunk, ChunkKind, Context, End, Ending, Needs, PolicyError, Release, Replacement,
    Request, Scrub, StreamBlock, StreamState, Structure, SyncPolicy, Verdict,
};

use super::{Ends, StopOnSettings, StopPlace};
use crate::SettingsError;
use crate::matcher::{BlockEnds, Lane, Lanes, Patterns, Piece, fields, signed};

/// Ends the stream at a phrase. See the [module](super).
///
/// Made by [`StopOnSettings::build`], and cloned for each stream: the compiled patterns are shared.
#[derive(Debug, Clone)]
#[must_use]
pub struct StopOn {
    patterns: Patterns,
    settings: Arc<StopOnSettings>,
    lanes: Lanes,
    /// Choices that were ended silently.
    stopped: BTreeSet<u32>,
}

impl StopOn {
    pub(super) fn new(settings: StopOnSettings) -> Result<Self, SettingsError> {
        let patterns = Patterns::new(&settings.patterns)?;
        let lanes = Lanes::new(patterns.clone(), settings.hold_limit, BlockEnds::default());
        Ok(Self { patterns, settings: Arc::new(settings), lanes, stopped: BTreeSet::new() })
    }

    fn attention(&self, place: StopPlace) -> Attention {
        let silently = self.settings.ends == Ends::Silently;
        let looks = silently || self.settings.places.contains(&place);
        if looks { Attention::Chunks } else { Attention::Nothing }
    }

    /// Whether phrases are looked for in a block.
    fn looks_at(&self, key: BlockKey, state: &StreamState) -> bool {
        let place = match state.block(key).and_then(StreamBlock::channel) {
            Some(stream_core::Channel::Content) => StopPlace::Content,
            Some(stream_core::Channel::Reasoning) => StopPlace::Reasoning,
            Some(stream_core::Channel::Refusal) => StopPlace::Refusal,
            _ => return false,
        };
        self.settings.places.contains(&place)
    }

    fn payload(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let Some(key) = chunk.block() else {
            ctx.send(chunk);
            return Ok(());
        };
        if self.stopped.contains(&chunk.choice().unwrap_or(0)) {
            ctx.buffer(chunk);
            return Ok(ctx.settle(key, Verdict::drop("behind a phrase that ends the answer"))?);
        }
        let looks = self.looks_at(key, state);
        if chunk.kind() == ChunkKind::Structure(Structure::Opening)
            && looks
            && let Some(lane) = self.lanes.of(key, state)
        {
            lane.opens(key);
        }
        let lane = looks.then(|| self.lanes.of(key, state)).flatten();
        let (Some(lane), Some(text)) = (lane, chunk.text()) else {
            ctx.send(chunk);
            return Ok(());
        };
        if lane.push(key, fields(&chunk, state), text, signed::is_whole(key, state)) {
            ctx.send(chunk);
            return Ok(());
        }
        ctx.buffer(chunk);
        self.decide(key, state, ctx);
        Ok(())
    }

    /// Lets go what is decided of a block's text, or ends it.
    fn decide(&mut self, key: BlockKey, state: &StreamState, ctx: &mut Context<'_>) {
        let choice = state.block(key).map_or(0, StreamBlock::choice);
        let Some(lane) = self.lanes.of(key, state) else { return };
        if release(lane, &self.patterns, state, ctx) {
            self.stop(choice, ctx);
        }
    }

    fn stop(&mut self, choice: u32, ctx: &mut Context<'_>) {
        let message = self.settings.message.as_str();
        match self.settings.ends {
            Ends::Refuse => ctx.terminate(Ending::refuse(message)),
            Ends::Error => ctx.terminate(Ending::error(message)),
            Ends::Silently => {
                self.stopped.insert(choice);
            }
        }
    }

    /// No more text comes.
    fn finish(&mut self, state: &StreamState, ctx: &mut Context<'_>) {
        let mut stopped = Vec::new();
        for (choice, lane) in self.lanes.all() {
            lane.finish();
            if release(lane, &self.patterns, state, ctx) {
                stopped.push(choice);
            }
        }
        for choice in stopped {
            self.stop(choice, ctx);
        }
    }
}

impl SyncPolicy for StopOn {
    fn name(&self) -> &str {
        "stop_on"
    }

    fn needs(&self, _: &Request) -> Needs {
        let rest = if self.settings.ends == Ends::Silently { Attention::Chunks } else { Attention::Nothing };
        Needs::nothing()
            .content(self.attention(StopPlace::Content))
            .reasoning(self.attention(StopPlace::Reasoning))
            .refusal(self.attention(StopPlace::Refusal))
            .calls(rest)
            .opaque(rest)
            .structure(true)
            .joined(JoinedChoices { patterns: self.patterns.clone(), settings: Arc::clone(&self.settings) })
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        self.payload(chunk, state, ctx)?;
        if let Some(block) = state.just_completed()
            && self.looks_at(block.key(), state)
        {
            self.lanes.close(block, state);
            self.decide(block.key(), state, ctx);
        }
        if state.is_terminal() {
            self.finish(state, ctx);
        }
        Ok(())
    }

    fn on_end(&mut self, _: End, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        self.finish(state, ctx);
        Ok(())
    }
}

/// Looks for phrases in the texts of several choices, put together.
#[derive(Debug)]
struct JoinedChoices {
    patterns: Patterns,
    settings: Arc<StopOnSettings>,
}

impl Scrub for JoinedChoices {
    fn scrub(&self, text: &str) -> Option<Replacement> {
        let hit = self.patterns.find_all(text).into_iter().next()?;
        let reason = format!("found {} over several choices", self.patterns.name(hit.rule));
        Some(Replacement::text(text.get(..hit.start).unwrap_or_default()).because(reason))
    }

    fn ending(&self) -> Option<Ending> {
        let message = self.settings.message.as_str();
        match self.settings.ends {
            Ends::Refuse => Some(Ending::refuse(message)),
            Ends::Error => Some(Ending::error(message)),
            Ends::Silently => None,
        }
    }
}

/// Lets go what is decided of a text, up to the first phrase. True if there is one.
fn release(lane: &mut Lane, patterns: &Patterns, state: &StreamState, ctx: &mut Context<'_>) -> bool {
    let whole = signed::holds_whole(lane, state);
    let (phrase, mut released) = match lane.cut() {
        Some((rule, released)) => (Some(rule), released),
        None if whole => (None, lane.release(signed::ready(lane, state), |_| String::new())),
        None => (None, lane.release(lane.decided(), |_| String::new())),
    };
    let reason = phrase.map(|rule| format!("found {}", patterns.name(rule)));
    let cut = released.iter().find(|release| release.text.is_some()).map(|release| release.key);
    if whole {
        signed::empty(&mut released);
    }
    for Piece { key, text } in released {
        let release = Release::first([text]);
        ctx.release(
            key,
            match &reason {
                Some(reason) => release.because(reason),
                None => release,
            },
        );
    }
    if let Some(key) = cut.filter(|_| phrase.is_some()) {
        ctx.release(key, Release::first([]).and_cut());
    }
    phrase.is_some()
}
