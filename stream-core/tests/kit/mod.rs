//! What the tests of *no leak* share: a run of one body under one policy, and gates that release nothing.

#![allow(dead_code, reason = "each test file uses its own share")]

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use stream_core::{
    Chunk, ChunkKind, Context, End, Ending, Outcome, Policy, PolicyError, Runs, StreamBlock, StreamProcessor,
    StreamState, Verdict, async_trait, processor::Builder,
};

/// How the upstream's bytes end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Eof {
    Clean,
    Broken,
}

/// What left, and how the run ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) out: String,
    pub(crate) outcome: Outcome,
}

/// Runs a body through one policy; time is paused, so that deadlines pass at once.
pub(crate) fn run(body: impl AsRef<[u8]>, policy: impl Policy + 'static) -> Ran {
    run_with(StreamProcessor::builder().policy(policy), body.as_ref(), Eof::Clean)
}

/// What left of a body under one policy.
pub(crate) fn out(body: impl AsRef<[u8]>, policy: impl Policy + 'static) -> String {
    run(body, policy).out
}

pub(crate) fn run_with(builder: Builder, body: &[u8], eof: Eof) -> Ran {
    let mut chunks = vec![Ok(Bytes::copy_from_slice(body))];
    if eof == Eof::Broken {
        chunks.push(Err(std::io::Error::other("reset")));
    }
    block_on(async {
        let mut processor = builder.build(stream::iter(chunks)).unwrap();
        let mut out = Vec::new();
        while let Some(bytes) = processor.next().await {
            out.extend_from_slice(&bytes);
        }
        let outcome = processor.handle().outcome().unwrap();
        Ran { out: String::from_utf8_lossy(&out).into_owned(), outcome }
    })
}

/// What left of a whole response under one policy.
pub(crate) fn whole(body: impl AsRef<[u8]>, policy: impl Policy + 'static) -> String {
    let body = Bytes::copy_from_slice(body.as_ref());
    let whole = block_on(StreamProcessor::builder().policy(policy).whole(body)).unwrap();
    String::from_utf8_lossy(&whole.body).into_owned()
}

/// Runs to the end on a runtime whose time is paused, one for each thread.
fn block_on<F: Future>(future: F) -> F::Output {
    thread_local! {
        static RUNTIME: tokio::runtime::Runtime =
            tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    }
    RUNTIME.with(|runtime| runtime.block_on(future))
}

/// An event without a name, as chat and Gemini send them.
pub(crate) fn data(json: &str) -> String {
    format!("data: {json}\n\n")
}

/// Events named by their type, as Anthropic and Responses send them.
pub(crate) fn named(events: &[&str]) -> String {
    let event = |json: &&str| {
        let value: serde_json::Value = serde_json::from_str(json).unwrap();
        format!("event: {}\ndata: {json}\n\n", value["type"].as_str().unwrap())
    };
    events.iter().map(event).collect()
}

/// What a gate holds back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Calls, and whatever may be one (rule 7).
    Calls,
    /// Content, reasoning and refusals.
    Text,
}

impl Target {
    fn is(self, chunk: &Chunk, state: &StreamState) -> bool {
        match (self, chunk.kind()) {
            (Self::Calls, ChunkKind::ToolCall) => true,
            (Self::Calls, ChunkKind::Opaque) => match state.current_block() {
                Some(StreamBlock::Opaque(block)) => block.runs() == Runs::Unknown,
                _ => true,
            },
            (Self::Text, ChunkKind::Text(_)) => true,
            _ => false,
        }
    }

    fn is_block(self, block: &StreamBlock) -> bool {
        match block {
            StreamBlock::ToolCall(_) => self == Self::Calls,
            StreamBlock::Opaque(block) => self == Self::Calls && block.runs() == Runs::Unknown,
            _ => self == Self::Text,
        }
    }
}

/// The ways never to release a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Says nothing of it.
    Silent,
    /// Buffers and never flushes.
    Buffer,
    /// Asks a judge that never answers.
    Undecided,
    /// Buffers, and discards it when it is complete.
    Discard,
    /// Asks a judge that drops it and leaves a notice.
    Notice,
    /// Buffers, and ends the stream when the first is complete.
    Refuse,
    /// Buffers, and fails when the first is complete.
    Fail,
}

impl Way {
    pub(crate) const ALL: [Self; 7] =
        [Self::Silent, Self::Buffer, Self::Undecided, Self::Discard, Self::Notice, Self::Refuse, Self::Fail];
}

/// Sends everything but its target, which it never releases.
#[derive(Debug)]
pub(crate) struct Gate(pub(crate) Target, pub(crate) Way);

#[async_trait]
impl Policy for Gate {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let Self(target, way) = *self;
        if let Some(block) = state.just_completed().filter(|block| target.is_block(block)) {
            let key = block.key();
            if chunk.is_payload() {
                ctx.buffer(chunk);
            }
            match way {
                Way::Discard => ctx.settle(key, Verdict::drop("discarded"))?,
                Way::Refuse => ctx.terminate(Ending::refuse("no")),
                Way::Fail => return Err(PolicyError::new("no answer")),
                _ => {}
            }
        } else if !target.is(&chunk, state) {
            ctx.send(chunk);
        } else {
            let key = chunk.block().unwrap();
            match way {
                Way::Silent => {}
                Way::Undecided => {
                    let _ = ctx.decide(key, std::future::pending());
                    ctx.buffer(chunk);
                }
                Way::Notice => {
                    let verdict = Verdict::Drop { reason: "no".into(), notice: Some("[gone]".into()) };
                    let _ = ctx.decide(key, async { Ok(verdict) });
                    ctx.buffer(chunk);
                }
                Way::Buffer | Way::Discard | Way::Refuse | Way::Fail => ctx.buffer(chunk),
            }
        }
        Ok(())
    }
}

/// Drops every call without a word, and sends all else.
pub(crate) fn no_calls() -> Gate {
    Gate(Target::Calls, Way::Silent)
}

/// Drops every text without a word, and sends all else.
pub(crate) fn no_text() -> Gate {
    Gate(Target::Text, Way::Silent)
}

/// Holds everything to the end, and flushes it there.
#[derive(Debug)]
pub(crate) struct HoldAll;

#[async_trait]
impl Policy for HoldAll {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        ctx.buffer(chunk);
        Ok(())
    }

    async fn on_end(&mut self, _: End, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        ctx.flush();
        Ok(())
    }
}

/// Looks at everything, and sends it. What nobody looks at passes even where it cannot be read (rule 28).
#[derive(Debug)]
pub(crate) struct SendAll;

#[async_trait]
impl Policy for SendAll {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        ctx.send(chunk);
        Ok(())
    }
}
