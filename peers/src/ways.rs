//! The ways a stream can go: those of others, and those of this project.

use std::hint::black_box;
use std::time::Duration;

use async_openai::types::chat::CreateChatCompletionStreamResponse;
use async_openai::types::responses::ResponseStreamEvent;
use bytes::Bytes;
use eventsource_stream::Eventsource as _;
use futures::executor::block_on;
use futures::{StreamExt as _, stream};
use serde::de::IgnoredAny;
use stream_core::engine::{Input, Output};
use stream_core::sse::Framer;
use stream_core::{
    Attention, Chain, Chunk, Config, Context, Engine, Needs, Passthrough, Policy, PolicyError, Request,
    StreamState, async_trait,
};

#[path = "../../stream-core/benches/ways/mod.rs"]
mod own;

use own::{OWN, Sees, decode, process};

/// A way: what is done with every stream.
#[derive(Clone, Copy)]
pub struct Way(own::Way);

/// The ways of others, and those that only this program takes: framing alone, a hook that could wait, and the engine without a processor.
const OTHER: [(&str, own::Way); 11] = [
    ("typed-chat", decode::<CreateChatCompletionStreamResponse>),
    ("typed-responses", decode::<ResponseStreamEvent>),
    ("value", decode::<serde_json::Value>),
    ("ignored", decode::<IgnoredAny>),
    ("framer", |reads| {
        let mut framer = Framer::new(1 << 20);
        for read in reads {
            framer.push(&read);
            while let Ok(Some(frame)) = framer.next_frame() {
                black_box((frame.event(), frame.data()));
            }
        }
    }),
    ("sse-core", |reads| {
        let mut decoder = sse_core::SseDecoder::new();
        for mut read in reads {
            while let Some(event) = decoder.next(&mut read) {
                drop(black_box(event));
            }
        }
    }),
    ("eventsource-stream", |reads| {
        let events = stream::iter(reads.into_iter().map(Ok::<_, std::io::Error>)).eventsource();
        block_on(events.for_each(|event| std::future::ready(drop(black_box(event)))));
    }),
    ("sse-stream", |reads| {
        let bytes = stream::iter(reads.into_iter().map(Ok::<_, std::io::Error>));
        let events = sse_stream::SseStream::from_bytes_stream(bytes);
        block_on(events.for_each(|event| std::future::ready(drop(black_box(event)))));
    }),
    ("waits", |reads| process(Waits.into(), reads, true)),
    ("engine-pass", |reads| drive(Passthrough.into(), reads)),
    ("engine-sees", |reads| drive(Sees.into(), reads)),
];

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    OTHER.into_iter().chain(OWN).map(|(name, _)| name)
}

impl Way {
    pub fn named(name: &str) -> Option<Self> {
        OTHER.into_iter().chain(OWN).find(|(of, _)| *of == name).map(|(_, way)| Self(way))
    }

    pub fn take(self, streams: Vec<Vec<Bytes>>) {
        streams.into_iter().for_each(self.0);
    }
}

fn drive(chain: Chain, reads: Vec<Bytes>) {
    let mut engine = Engine::new(Config::default(), chain).expect("policies that work together");
    let mut reads = reads.into_iter();
    loop {
        match engine.poll() {
            Output::Bytes(bytes) => drop(black_box(bytes)),
            Output::Hook(hook) => hook.run(Duration::ZERO),
            Output::Wait { .. } => {
                engine.handle(reads.next().map_or(Input::End, Input::Bytes), Duration::ZERO);
            }
            Output::Done => break,
            other => unreachable!("no policy here asks a judge: {other:?}"),
        }
    }
}

/// Sees and sends every text, in a hook that could wait.
struct Waits;

#[async_trait]
impl Policy for Waits {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().content(Attention::Chunks).reasoning(Attention::Chunks)
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        black_box(chunk.text());
        ctx.send(chunk);
        Ok(())
    }
}
