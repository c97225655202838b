//! The ways a stream can go here, for whatever counts what they cost.

use std::hint::black_box;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use serde::de::DeserializeOwned;
use stream_core::{
    Attention, Chain, Chunk, Config, Context, Needs, Passthrough, PolicyError, Request, StreamProcessor,
    StreamState, SyncPolicy, Verdict, each_call,
};

/// A way: what is done with the reads of one stream.
pub(crate) type Way = fn(Vec<Bytes>);

/// The ways through the processor: a policy that looks at nothing, a gate for calls, a policy that sees and sends every text,
/// five of these; the same on the general path alone.
pub(crate) const OWN: [(&str, Way); 8] = [
    ("pass", |reads| process(Passthrough.into(), reads, true)),
    ("gate", |reads| process(gate(), reads, true)),
    ("sees", |reads| process(Sees.into(), reads, true)),
    ("five", |reads| process(five(), reads, true)),
    ("pass-general", |reads| process(Passthrough.into(), reads, false)),
    ("gate-general", |reads| process(gate(), reads, false)),
    ("sees-general", |reads| process(Sees.into(), reads, false)),
    ("five-general", |reads| process(five(), reads, false)),
];

/// Reads the data of every event that has some on one line.
pub(crate) fn decode<T: DeserializeOwned>(reads: Vec<Bytes>) {
    for read in reads {
        for line in read.split(|byte| *byte == b'\n') {
            if let Some(data) = line.strip_prefix(b"data: ") {
                drop(black_box(serde_json::from_slice::<T>(data)));
            }
        }
    }
}

/// Takes a stream through the processor.
pub(crate) fn process(chain: Chain, reads: Vec<Bytes>, lane: bool) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    let upstream = stream::iter(reads.into_iter().map(Ok::<_, std::convert::Infallible>));
    let builder = StreamProcessor::builder().chain(chain).config(Config::default().lane(lane));
    let mut processor = builder.build(upstream).expect("policies that work together");
    runtime.block_on(async {
        while let Some(bytes) = processor.next().await {
            black_box(bytes);
        }
    });
}

fn gate() -> Chain {
    each_call(|_, _| Verdict::Release).into()
}

fn five() -> Chain {
    (0..5).fold(Chain::new(), |chain, _| chain.then(Sees))
}

/// Sees and sends every text.
pub(crate) struct Sees;

impl SyncPolicy for Sees {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().content(Attention::Chunks).reasoning(Attention::Chunks)
    }

    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        black_box(chunk.text());
        ctx.send(chunk);
        Ok(())
    }
}
