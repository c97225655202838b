//! The policy.

use std::collections::BTreeMap;
use std::sync::Arc;

use stream_core::{
    Attention, BlockKey, Chunk, ChunkKind, Context, EffectError, End, Ending, Needs, PolicyError, Release,
    Replacement, Request, StreamBlock, StreamState, Structure, SyncPolicy, ToolCall, Verdict,
};

use super::arguments::{self, Redacted};
use super::strings::{JoinedChoices, Strings};
use super::{AtLimit, Place, Preset, RedactSettings};
use crate::SettingsError;
use crate::matcher::{Hit, Lane, Lanes, OVER_LIMIT, Patterns, Piece, fields, signed};

/// Takes secrets out of what the model says. See the [module](super).
///
/// Made by [`RedactSettings::build`], and cloned for each stream: the compiled patterns are shared.
#[derive(Debug, Clone)]
#[must_use]
pub struct Redact {
    pub(super) patterns: Patterns,
    pub(super) settings: Arc<RedactSettings>,
    lanes: Lanes,
    /// What has come of opaque blocks that clients put together.
    fragments: BTreeMap<BlockKey, String>,
}

impl Redact {
    pub(super) fn new(settings: RedactSettings) -> Result<Self, SettingsError> {
        if settings.presets.is_empty() && settings.patterns.is_empty() {
            return Err(SettingsError::new("redact", "a preset or a pattern", "none"));
        }
        let patterns = match settings.patterns.is_empty() {
            true => Preset::compiled(&settings.presets)?,
            false => Patterns::new(&settings.all_patterns())?,
        };
        check_replacement(&settings.replacement, &patterns)?;
        let lanes = Lanes::new(patterns.clone(), settings.hold_limit, settings.block_ends);
        Ok(Self { patterns, settings: Arc::new(settings), lanes, fragments: BTreeMap::new() })
    }

    fn attention(&self, place: Place, attention: Attention) -> Attention {
        if self.settings.places.contains(&place) { attention } else { Attention::Nothing }
    }

    /// Text came: what is decided by it leaves.
    fn text(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) {
        let (Some(key), Some(text)) = (chunk.block(), chunk.text()) else {
            self.opening(&chunk, state);
            ctx.send(chunk);
            return;
        };
        let Some(lane) = self.lanes.of(key, state) else {
            ctx.send(chunk);
            return;
        };
        if lane.push(key, fields(&chunk, state), text, signed::is_whole(key, state)) {
            ctx.send(chunk);
            return;
        }
        ctx.buffer(chunk);
        release(lane, &self.patterns, &self.settings, state, ctx);
    }

    /// More of an opaque block: what clients put together is held until all of it is there.
    fn opaque(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) {
        let block = chunk.block().and_then(|key| state.block(key));
        // A delta of an unknown type in a text shares the fate of nothing that is searched here.
        let is_opaque = matches!(block, Some(StreamBlock::Opaque(_)));
        let (Some(key), Some(fragment), true) = (chunk.block(), chunk.fragment(), is_opaque) else {
            ctx.send(chunk);
            return;
        };
        self.fragments.entry(key).or_default().push_str(fragment);
        ctx.buffer(chunk);
    }

    /// An opaque block is complete.
    fn opaque_end(&mut self, key: BlockKey, ctx: &mut Context<'_>) -> Result<(), EffectError> {
        let Some(said) = self.fragments.remove(&key) else { return Ok(()) };
        match arguments::redact(&said, &self.patterns, |_| String::new()) {
            Redacted::Clean => ctx.settle(key, Verdict::Release),
            Redacted::Changed { rules, .. } | Redacted::Unreadable { rules } => {
                let reason = reason(&self.patterns, rules);
                ctx.settle(key, Verdict::drop(format!("{reason} in what the provider runs")))
            }
        }
    }

    /// A block of text may open without text.
    fn opening(&mut self, chunk: &Chunk, state: &StreamState) {
        if chunk.kind() == ChunkKind::Structure(Structure::Opening)
            && let Some(key) = chunk.block()
            && let Some(lane) = self.lanes.of(key, state)
        {
            lane.opens(key);
        }
    }

    /// A block of text is complete: what is undecided at its end may be decided there.
    fn block_end(&mut self, state: &StreamState, ctx: &mut Context<'_>) {
        let Some(block) = state.just_completed() else { return };
        let Some(lane) = self.lanes.close(block, state) else { return };
        release(lane, &self.patterns, &self.settings, state, ctx);
    }

    /// No more text comes.
    fn finish(&mut self, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        while let Some(key) = self.fragments.keys().next().copied() {
            self.opaque_end(key, ctx)?;
        }
        for (_, lane) in self.lanes.all() {
            lane.finish();
            release(lane, &self.patterns, &self.settings, state, ctx);
        }
        Ok(())
    }

    fn call(&self, call: &ToolCall, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let named = self.patterns.find_all(call.name());
        if !named.is_empty() {
            let reason = reason(&self.patterns, named.iter().map(|hit| hit.rule).collect());
            ctx.settle(call.key(), Verdict::drop(format!("{reason} in the name of a tool")))?;
            return Ok(());
        }
        let put = |hit: &Hit| put(hit.rule, &self.patterns, &self.settings);
        let redacted = if call.flavor() == stream_core::CallFlavor::Custom {
            // Free text, not JSON.
            let hits = self.patterns.find_all(call.arguments());
            let arguments = arguments::replaced(call.arguments(), &hits, put);
            let rules: Vec<usize> = hits.iter().map(|hit| hit.rule).collect();
            if rules.is_empty() { Redacted::Clean } else { Redacted::Changed { arguments, rules } }
        } else {
            arguments::redact(call.arguments(), &self.patterns, put)
        };
        match redacted {
            Redacted::Clean => ctx.settle(call.key(), Verdict::Release)?,
            Redacted::Changed { arguments, rules } => {
                let reason = reason(&self.patterns, rules);
                ctx.settle(call.key(), Verdict::Replace(Replacement::arguments(arguments).because(reason)))?;
            }
            Redacted::Unreadable { rules } => {
                let reason = reason(&self.patterns, rules);
                ctx.settle(call.key(), Verdict::drop(format!("{reason} in arguments that are no JSON")))?;
            }
        }
        Ok(())
    }
}

impl SyncPolicy for Redact {
    fn name(&self) -> &str {
        "redact"
    }

    fn needs(&self, _: &Request) -> Needs {
        let needs = Needs::nothing()
            .content(self.attention(Place::Content, Attention::Chunks))
            .reasoning(self.attention(Place::Reasoning, Attention::Chunks))
            .refusal(self.attention(Place::Refusal, Attention::Chunks))
            .calls(self.attention(Place::Arguments, Attention::Completed))
            .opaque(self.attention(Place::Other, Attention::Chunks))
            .structure(true)
            .joined(JoinedChoices::new(self.patterns.clone(), Arc::clone(&self.settings)));
        if !self.settings.places.contains(&Place::Other) {
            return needs;
        }
        needs.scrub(Strings::new(self.patterns.clone(), Arc::clone(&self.settings)))
    }

    fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if chunk.kind() == ChunkKind::Opaque {
            self.opaque(chunk, state, ctx);
        } else {
            self.text(chunk, state, ctx);
        }
        if let Some(StreamBlock::Opaque(block)) = state.just_completed() {
            self.opaque_end(block.key(), ctx)?;
        }
        if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
            return self.call(call, ctx);
        }
        self.block_end(state, ctx);
        if state.is_terminal() { self.finish(state, ctx) } else { Ok(()) }
    }

    fn on_end(&mut self, _: End, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        self.finish(state, ctx)
    }
}

/// Lets go what is decided of a text.
fn release(
    lane: &mut Lane,
    patterns: &Patterns,
    settings: &RedactSettings,
    state: &StreamState,
    ctx: &mut Context<'_>,
) {
    let mut rules: Vec<usize> = lane.rules().collect();
    if settings.at_limit == AtLimit::Terminate && rules.contains(&OVER_LIMIT) {
        ctx.terminate(Ending::error("the answer could not be checked for what has to be withheld"));
        return;
    }
    let whole = signed::holds_whole(lane, state);
    let count = if whole { signed::ready(lane, state) } else { lane.decided() };
    let mut released = lane.release(count, |rule| put(rule, patterns, settings));
    if whole {
        signed::empty(&mut released);
    }
    let mut released = released.into_iter().peekable();
    rules.retain(|_| released.peek().is_some());
    let reason = (!rules.is_empty()).then(|| reason(patterns, rules));
    while let Some(Piece { key, text }) = released.next() {
        let mut texts = vec![text];
        while let Some(more) = released.next_if(|next| next.key == key) {
            texts.push(more.text);
        }
        let release = Release::first(texts);
        ctx.release(
            key,
            match &reason {
                Some(reason) => release.because(reason),
                None => release,
            },
        );
    }
}

/// What stands for a hit must not be one, and must part what stands on both sides of it: `secsecretret` without the
/// inner word says the outer one.
fn check_replacement(text: &str, patterns: &Patterns) -> Result<(), SettingsError> {
    let error =
        |expected: &str, found: String| Err(SettingsError::new("redact.replacement", expected, found));
    if text.is_empty() {
        return error("a text that parts what stands beside it", "nothing".to_owned());
    }
    for name in patterns.names() {
        if let Some(hit) = patterns.find_all(&text.replace("{name}", name)).first() {
            return error("a text in which nothing is found", format!("{} in it", patterns.name(hit.rule)));
        }
    }
    Ok(())
}

/// What stands for a hit.
pub(super) fn put(rule: usize, patterns: &Patterns, settings: &RedactSettings) -> String {
    settings.replacement.replace("{name}", patterns.name(rule))
}

/// Names what was found, each once.
pub(super) fn reason(patterns: &Patterns, mut rules: Vec<usize>) -> String {
    rules.sort_unstable();
    let mut names: Vec<&str> = rules.into_iter().map(|rule| patterns.name(rule)).collect();
    names.dedup();
    format!("found {}", names.join(", "))
}
