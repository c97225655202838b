//! Policies that keep every law.

use std::collections::HashMap;

use stream_core::{
    BlockKey, Channel, Chunk, ChunkKind, Context, End, Ending, Policy, PolicyError, StreamState, async_trait,
};

/// Implements `on_chunk`, and `on_end` if there is one.
macro_rules! policy {
    ($name:ty, |$this:ident, $chunk:ident, $state:ident, $ctx:ident| $body:block $(, end |$end_ctx:ident| $end:block)?) => {
        #[async_trait]
        impl Policy for $name {
            async fn on_chunk(
                &mut self,
                $chunk: Chunk,
                $state: &StreamState,
                $ctx: &mut Context<'_>,
            ) -> Result<(), PolicyError> {
                let $this = self;
                let _ = (&$this, $state);
                $body
                Ok(())
            }
            $(
                async fn on_end(&mut self, _: End, _: &StreamState, $end_ctx: &mut Context<'_>) -> Result<(), PolicyError> {
                    $end
                    Ok(())
                }
            )?
        }
    };
}
pub(crate) use policy;

/// Looks at everything, and sends it.
pub(crate) struct AllowAll;

policy!(AllowAll, |this, chunk, state, ctx| {
    ctx.send(chunk);
});

/// Holds everything, and lets it go at the end.
pub(crate) struct HoldAll;

policy!(
    HoldAll,
    |this, chunk, state, ctx| {
        ctx.buffer(chunk);
    },
    end | ctx | {
        ctx.flush();
    }
);

/// Holds every call until it is complete.
pub(crate) struct HoldCalls;

policy!(HoldCalls, |this, chunk, state, ctx| {
    if chunk.is_tool_call() {
        ctx.buffer(chunk);
    } else {
        ctx.send(chunk);
    }
    if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
        ctx.flush_block(call.key());
    }
});

/// Lets no call through.
pub(crate) struct DropCalls;

policy!(DropCalls, |this, chunk, state, ctx| {
    if !chunk.is_tool_call() {
        ctx.send(chunk);
    }
});

/// Writes all text in capitals.
pub(crate) struct Shout;

policy!(Shout, |this, chunk, state, ctx| {
    let loud = chunk.text().map(str::to_uppercase);
    ctx.send(match loud {
        Some(text) => chunk.with_text(text),
        None => chunk,
    });
});

/// What is looked for.
pub(crate) const SECRET: &str = "secret";

/// Hides the secret in content, also where it is split: what may be its beginning is held.
#[derive(Default)]
pub(crate) struct Redact(HashMap<BlockKey, Held>);

policy!(
    Redact,
    |this, chunk, state, ctx| {
        if let Some((key, text)) = content(&chunk) {
            let held = this.0.entry(key).or_default();
            let scanned = Scanned::of(&held.tail, &text, "[…]");
            if scanned.found {
                ctx.discard(key);
                held.before.push_str(&scanned.text);
                held.tail = scanned.tail;
                let chunk = chunk.with_text(format!("{}{}", held.before, held.tail));
                held.let_go(chunk, ctx);
            } else {
                held.go_on(key, &text, scanned, chunk, ctx);
            }
        } else {
            ctx.send(chunk);
        }
        if let Some(block) = state.just_completed() {
            ctx.flush_block(block.key());
        }
    },
    end | ctx | {
        ctx.flush();
    }
);

/// Ends the stream where the secret begins.
#[derive(Default)]
pub(crate) struct StopAtSecret(HashMap<BlockKey, Held>);

policy!(
    StopAtSecret,
    |this, chunk, state, ctx| {
        if let Some((key, text)) = content(&chunk) {
            let held = this.0.entry(key).or_default();
            let scanned = Scanned::of(&held.tail, &text, "\u{0}");
            if scanned.found {
                let (before, _) = scanned.text.split_once('\u{0}').unwrap();
                let before = format!("{}{before}", held.before);
                ctx.discard(key);
                ctx.send(chunk.with_text(before));
                ctx.terminate(Ending::refuse("this answer was stopped"));
            } else {
                held.go_on(key, &text, scanned, chunk, ctx);
            }
        } else {
            ctx.send(chunk);
        }
        if let Some(block) = state.just_completed() {
            ctx.flush_block(block.key());
        }
    },
    end | ctx | {
        ctx.flush();
    }
);

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
}

impl Held {
    /// The text goes on and nothing was found.
    fn go_on(&mut self, key: BlockKey, text: &str, scanned: Scanned, chunk: Chunk, ctx: &mut Context<'_>) {
        if scanned.tail.len() <= text.len() {
            ctx.flush_block(key);
            self.before = text[..text.len() - scanned.tail.len()].to_owned();
        }
        self.tail = scanned.tail;
        self.let_go(chunk, ctx);
    }

    /// Sends the chunk unless it ends in what may be the secret.
    fn let_go(&mut self, chunk: Chunk, ctx: &mut Context<'_>) {
        if self.tail.is_empty() {
            self.before.clear();
            ctx.send(chunk);
        } else {
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
