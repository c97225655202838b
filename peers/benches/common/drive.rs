//! A stream through the engine, without a runtime.

use std::time::Duration;

use bytes::Bytes;
use futures::FutureExt as _;
use stream_core::engine::{Input, Output};
use stream_core::{Config, Engine, Stage};

/// Takes the reads of a stream through a policy; how many bytes passed.
pub fn drive(config: Config, policy: Stage, reads: impl IntoIterator<Item = Bytes>) -> usize {
    let mut engine = Engine::new(config, policy).expect("a policy that works alone");
    let (mut reads, mut passed) = (reads.into_iter(), 0);
    loop {
        match engine.poll() {
            Output::Bytes(bytes) => passed += bytes.len(),
            Output::Hook(hook) => hook.run(Duration::ZERO),
            Output::Judge(judging) => {
                let judged = judging.now_or_never().expect("a judge that answers at once");
                let (ticket, verdict) = judged.expect("a judge that answers");
                engine.handle(Input::Verdict(ticket, verdict), Duration::ZERO);
            }
            Output::Wait { .. } => {
                engine.handle(reads.next().map_or(Input::End, Input::Bytes), Duration::ZERO);
            }
            Output::Done => return passed,
            other => unreachable!("{other:?}"),
        }
        engine.decisions();
    }
}
