//! A host that cannot wait: bytes go in and come out in a callback, without a runtime, as in the body filters of many
//! proxies. It drives the engine itself, and takes a policy that never waits: the compiler refuses any other.
//!
//! `cargo run -p sync_host`

use std::time::Instant;

use bytes::Bytes;
use stream_core::engine::{Input, Output};
use stream_core::{BuildError, Config, Ending, Engine, SyncPolicy, Verdict, each_call};

struct Filter {
    engine: Engine,
    start: Instant,
}

impl Filter {
    fn new(policy: impl SyncPolicy + 'static) -> Result<Self, BuildError> {
        Ok(Self { engine: Engine::new(Config::default(), policy)?, start: Instant::now() })
    }

    /// The callback: some bytes of the answer, or its end.
    fn filter(&mut self, bytes: Option<Bytes>) -> Vec<u8> {
        let now = self.start.elapsed();
        self.engine.handle(bytes.map_or(Input::End, Input::Bytes), now);
        let mut out = Vec::new();
        loop {
            match self.engine.poll() {
                Output::Bytes(bytes) => out.extend_from_slice(&bytes),
                Output::Hook(hook) => hook.run(now),
                // Nobody polls a judge here: its block is dropped when the stream ends.
                Output::Judge(judging) => drop(judging),
                Output::Wait { .. } | Output::Done => return out,
                // Nothing can follow an output that this host does not know.
                _ => self
                    .engine
                    .handle(Input::Stop(Ending::failure("expected an output of this version")), now),
            }
        }
    }
}

fn main() -> Result<(), BuildError> {
    let mut filter = Filter::new(each_call(|call, _| match call.name() {
        "rm" => Verdict::drop("rm is not run here"),
        _ => Verdict::Release,
    }))?;
    for bytes in ANSWER {
        print!("{}", String::from_utf8_lossy(&filter.filter(Some(Bytes::from_static(bytes.as_bytes())))));
    }
    print!("{}", String::from_utf8_lossy(&filter.filter(None)));
    Ok(())
}

/// What a model might answer, as it comes from the network.
const ANSWER: [&str; 3] = [
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"On it.\"}]},\"index\":0}]}\n\ndata: {\"cand",
    "idates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"rm\",\"args\":{\"path\":\"/\"}}}]},\"index\":0}]}\n\n",
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"functionCall\":{\"name\":\"ls\",\"args\":{}}}]},\"finishReason\":\"STOP\",\"index\":0}]}\n\n",
];
