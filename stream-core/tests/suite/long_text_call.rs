//! A call that the model writes as text, with a long argument: the time for each byte is flat.

use std::time::Duration;

use bytes::Bytes;
use cpu_time::ThreadTime;
use stream_core::engine::{Input, Output};
use stream_core::text_calls::{DialectSet, known};
use stream_core::{Config, Engine, Passthrough};
use stream_testkit::{Fragments, Script, WireKind};

/// Time for a call with an argument of `size` bytes, in deltas of 8 bytes.
fn time_for(size: usize) -> Duration {
    let argument = "words ".repeat(size / 6);
    let text =
        format!("<tool_call>{{\"name\":\"write\",\"arguments\":{{\"text\":\"{argument}\"}}}}</tool_call>");
    let body: Bytes =
        Script::new().text(text).text_fragments(Fragments::Bytes(8)).bytes(WireKind::OpenAiChat);
    let config = Config::default().text_calls(DialectSet::new().with(known::hermes()));
    let mut engine = Engine::new(config, Passthrough).expect("a policy that works alone");
    let mut passed = Vec::with_capacity(body.len());
    // The thread's own time: other work on the machine does not count.
    let start = ThreadTime::now();
    let mut reads = [Input::Bytes(body.clone()), Input::End].into_iter();
    loop {
        match engine.poll() {
            Output::Bytes(bytes) => passed.extend_from_slice(&bytes),
            Output::Hook(hook) => hook.run(Duration::ZERO),
            Output::Wait { .. } => engine.handle(reads.next().expect("the end ends it"), Duration::ZERO),
            Output::Done => break,
            other => unreachable!("no policy here asks a judge: {other:?}"),
        }
    }
    assert_eq!(passed, body, "an allowed call passes as its bytes");
    start.elapsed()
}

#[test]
fn a_long_argument_of_a_call_in_text_takes_linear_time() {
    let small = time_for(50_000).max(Duration::from_millis(1));
    let large = time_for(500_000);
    // Ten times the bytes; quadratic work would take a hundred times as long.
    assert!(large < small * 30, "{small:?} for 50 kB, {large:?} for 500 kB");
}
