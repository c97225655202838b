//! `gateway replay`: a log through a policy, the resulting bytes on standard output.

use std::io::Write as _;
use std::process::ExitCode;

use bytes::Bytes;
use futures::{StreamExt as _, stream};
use stream_core::wire::SharedFormat;
use stream_core::{
    Chunk, Config, Context, Handle, Policy, PolicyError, StreamProcessor, StreamState, async_trait,
};
use stream_testkit::{ChunkLog, Cut};

/// Runs a log through an allow-all policy.
pub(crate) async fn run(log: &ChunkLog, cut: Cut, format: Option<SharedFormat>) -> Result<ExitCode, String> {
    let config = format.into_iter().fold(Config::default(), Config::format);
    let builder = StreamProcessor::builder().policy(AllowAll).config(config);
    let mut out = std::io::stdout().lock();
    let mut write = |bytes: &[u8]| out.write_all(bytes).map_err(|error| format!("standard output: {error}"));
    let outcome = if log.is_whole() {
        let whole = builder.whole(log.bytes().clone()).await.map_err(|error| error.to_string())?;
        write(&whole.body)?;
        whole.outcome
    } else {
        let chunks =
            cut.apply(log).into_iter().map(|(_, bytes)| Ok::<Bytes, std::convert::Infallible>(bytes));
        let mut processor = builder.build(stream::iter(chunks)).map_err(|error| error.to_string())?;
        while let Some(bytes) = processor.next().await {
            write(&bytes)?;
        }
        Handle::outcome(&processor.handle())
    };
    out.flush().map_err(|error| format!("standard output: {error}"))?;
    match outcome.and_then(|outcome| outcome.error) {
        None => Ok(ExitCode::SUCCESS),
        Some(error) => Err(format!("{}: {error}", log.name())),
    }
}

/// Looks at every step, and sends it.
struct AllowAll;

#[async_trait]
impl Policy for AllowAll {
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
