//! A policy in four lines: text flows at once, a tool call waits until it is complete, and `rm` never leaves.
//!
//! `cargo run -p snippets --example policy`

use std::convert::Infallible;

use futures::{StreamExt as _, stream};
use stream_core::{BuildError, StreamProcessor, Verdict, each_call};
use stream_testkit::{Script, WireKind};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), BuildError> {
    // What a model might answer. Any stream of bytes will do, in any of the wire formats.
    let answer =
        Script::new().text("On it.").call("call_1", "rm", r#"{"path":"/"}"#).call("call_2", "ls", "{}");
    let upstream = stream::iter([Ok::<_, Infallible>(answer.bytes(WireKind::Gemini))]);

    let no_rm = each_call(|call, _| match call.name() {
        "rm" => Verdict::drop("rm is not allowed"),
        _ => Verdict::Release,
    });
    let mut policed = StreamProcessor::new(upstream, no_rm)?;
    while let Some(bytes) = policed.next().await {
        print!("{}", String::from_utf8_lossy(&bytes));
    }
    Ok(())
}
