//! A host that cannot wait, such as a synchronous filter of a proxy: `cargo run -p snippets --bin sync_host`.

use std::time::Duration;

use futures::FutureExt as _;
use stream_core::engine::{Failure, Work};
use stream_core::{Config, Engine, Policy, PolicyError};
use stream_policies::{Preset, RedactSettings};
use stream_testkit::{Fragments, Script, WireKind};

/// One stream in a host that calls back with bytes and wants bytes at once.
struct Filter<P> {
    engine: Engine,
    policy: P,
}

impl<P: Policy> Filter<P> {
    /// A policy that may wait is refused at start.
    fn new(policy: P) -> Result<Self, &'static str> {
        if policy.awaits() {
            return Err("expected a policy that never waits");
        }
        Ok(Self { engine: Engine::new(Config::default(), &[&policy]), policy })
    }

    /// What the client gets for these bytes.
    fn filter(&mut self, bytes: &[u8], since_start: Duration) -> Vec<u8> {
        self.engine.push(bytes, since_start);
        self.run()
    }

    /// What the client gets when the upstream has ended.
    fn end(&mut self) -> Vec<u8> {
        self.engine.end(None);
        self.run()
    }

    fn run(&mut self) -> Vec<u8> {
        loop {
            match self.engine.poll() {
                Work::Chunk(stage) => {
                    let Some((chunk, state, mut ctx)) = self.engine.chunk(stage) else { break };
                    let done = self.policy.on_chunk(chunk, state, &mut ctx).now_or_never();
                    let effects = ctx.into_effects();
                    settle(&mut self.engine, stage, done, effects);
                }
                Work::End(stage) => {
                    let Some((end, state, mut ctx)) = self.engine.ending(stage) else { break };
                    let done = self.policy.on_end(end, state, &mut ctx).now_or_never();
                    let effects = ctx.into_effects();
                    settle(&mut self.engine, stage, done, effects);
                }
                Work::Abort(_) => self.policy.on_abort(),
                Work::Wait | Work::Done => break,
            }
        }
        std::iter::from_fn(|| self.engine.output()).flatten().collect()
    }
}

/// Carries out what a hook staged. One that is not ready fails closed.
fn settle(
    engine: &mut Engine,
    stage: usize,
    done: Option<Result<(), PolicyError>>,
    effects: stream_core::context::Effects,
) {
    match done {
        // Decisions would have to be waited for: a policy that never waits asks for none.
        Some(Ok(())) => drop(engine.commit(stage, effects)),
        Some(Err(error)) => engine.fail(stage, Failure::Failed(error)),
        None => engine.fail(stage, Failure::TimedOut),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let script = Script::new().text_fragments(Fragments::Chars(5)).text("Write to jane@example.com.");
    let mut filter = Filter::new(RedactSettings::default().preset(Preset::Email).build()?)?;
    let mut sent = Vec::new();
    for (at, bytes) in script.to_log(WireKind::Gemini).chunks() {
        sent.extend(filter.filter(&bytes, at));
    }
    sent.extend(filter.end());
    #[allow(clippy::print_stdout)]
    {
        print!("{}", String::from_utf8_lossy(&sent));
    }
    Ok(())
}
