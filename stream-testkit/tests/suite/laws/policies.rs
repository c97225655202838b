//! Policies that keep every law.

use std::collections::HashMap;

use stream_core::{
    BlockKey, Channel, Chunk, ChunkKind, Context, End, Ending, PolicyError, Release, StreamState, SyncPolicy,
    Verdict,
};

pub(crate) type Did = Result<(), PolicyError>;

/// Looks at everything, and sends it.
pub(crate) struct AllowAll;

impl SyncPolicy for AllowAll {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.send(chunk);
        Ok(())
    }
}

/// Holds everything, and lets it go at the end.
pub(crate) struct HoldAll;

impl SyncPolicy for HoldAll {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.buffer(chunk);
        Ok(())
    }

    fn on_end(&mut self, _: End, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.flush();
        Ok(())
    }
}

/// Holds every call until it is complete.
pub(crate) struct HoldCalls;

impl SyncPolicy for HoldCalls {
    fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        if chunk.is_tool_call() {
            ctx.buffer(chunk);
        } else {
            ctx.send(chunk);
        }
        if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
            ctx.settle(call.key(), Verdict::Release)?;
        }
        Ok(())
    }
}

/// Lets no call through.
pub(crate) struct DropCalls;

impl SyncPolicy for DropCalls {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        if !chunk.is_tool_call() {
            ctx.send(chunk);
        }
        Ok(())
    }
}

/// Writes content in capitals. Reasoning is never edited: an edited chunk of it leaves empty (rule 22).
pub(crate) struct Shout;

impl SyncPolicy for Shout {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        let loud = content(&chunk).map(|(_, text)| text.to_uppercase());
        ctx.send(match loud {
            Some(text) => chunk.with_text(text),
            None => chunk,
        });
        Ok(())
    }
}

/// What is looked for.
pub(crate) const SECRET: &str = "secret";

/// Hides the secret in content, also where it is split: what may be its beginning is held.
#[derive(Default)]
pub(crate) struct Redact(HashMap<BlockKey, Held>);

impl SyncPolicy for Redact {
    fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        if let Some((key, text)) = content(&chunk) {
            let held = self.0.entry(key).or_default();
            let scanned = Scanned::of(&held.tail, &text, "[…]");
            if scanned.found {
                held.empty(key, ctx);
                held.before.push_str(&scanned.text);
                held.tail = scanned.tail;
                let chunk = chunk.with_text(format!("{}{}", held.before, held.tail));
                held.let_go(chunk, ctx);
            } else {
                held.go_on(key, &text, scanned, chunk, ctx)?;
            }
        } else {
            ctx.send(chunk);
        }
        if let Some(block) = state.just_completed() {
            ctx.settle(block.key(), Verdict::Release)?;
        }
        Ok(())
    }

    fn on_end(&mut self, _: End, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.flush();
        Ok(())
    }
}

/// Ends the stream where the secret begins.
#[derive(Default)]
pub(crate) struct StopAtSecret(HashMap<BlockKey, Held>);

impl SyncPolicy for StopAtSecret {
    fn on_chunk(&mut self, chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Did {
        if let Some((key, text)) = content(&chunk) {
            let held = self.0.entry(key).or_default();
            let scanned = Scanned::of(&held.tail, &text, "\u{0}");
            if scanned.found {
                let (before, _) = scanned.text.split_once('\u{0}').unwrap();
                let before = format!("{}{before}", held.before);
                held.empty(key, ctx);
                ctx.send(chunk.with_text(before));
                ctx.terminate(Ending::refuse("this answer was stopped"));
            } else {
                held.go_on(key, &text, scanned, chunk, ctx)?;
            }
        } else {
            ctx.send(chunk);
        }
        if let Some(block) = state.just_completed() {
            ctx.settle(block.key(), Verdict::Release)?;
        }
        Ok(())
    }

    fn on_end(&mut self, _: End, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.flush();
        Ok(())
    }
}

fn content(chunk: &Chunk) -> Option<(BlockKey, String)> {
    if chunk.kind() != ChunkKind::Text(Channel::Content) {
        return None;
    }
    Some((chunk.block()?, chunk.text()?.to_owned()))
}

/// What is held of a block: text that is ready, and then what may be the beginning of the secret.
#[derive(Default)]
pub(crate) struct Held {
    before: String,
    tail: String,
    chunks: usize,
}

impl Held {
    /// The text goes on and nothing was found.
    fn go_on(
        &mut self,
        key: BlockKey,
        text: &str,
        scanned: Scanned,
        chunk: Chunk,
        ctx: &mut Context<'_>,
    ) -> Did {
        if scanned.tail.len() <= text.len() {
            self.chunks = 0;
            ctx.settle(key, Verdict::Release)?;
            self.before = text[..text.len() - scanned.tail.len()].to_owned();
        }
        self.tail = scanned.tail;
        self.let_go(chunk, ctx);
        Ok(())
    }

    /// What is held says nothing.
    fn empty(&mut self, key: BlockKey, ctx: &mut Context<'_>) {
        ctx.release(key, Release::first(vec![Some(String::new()); std::mem::take(&mut self.chunks)]));
    }

    /// Sends the chunk unless it ends in what may be the secret.
    fn let_go(&mut self, chunk: Chunk, ctx: &mut Context<'_>) {
        if self.tail.is_empty() {
            self.before.clear();
            ctx.send(chunk);
        } else {
            self.chunks += 1;
            ctx.buffer(chunk);
        }
    }
}

struct Scanned {
    found: bool,
    /// With the secret replaced, up to the tail.
    text: String,
    /// What may be the beginning of the secret.
    tail: String,
}

impl Scanned {
    fn of(tail: &str, text: &str, with: &str) -> Self {
        let all = format!("{tail}{text}");
        let last = all.rfind(SECRET).map_or(0, |at| at + SECRET.len());
        let rest = &all[last..];
        let begins = (1..SECRET.len()).rev().find(|len| rest.ends_with(&SECRET[..*len])).unwrap_or(0);
        let (done, tail) = all.split_at(all.len() - begins);
        Self { found: last > 0, text: done.replace(SECRET, with), tail: tail.to_owned() }
    }
}
