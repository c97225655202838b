//! A host that cannot wait: bytes go in and come out in a callback, without a runtime, as in the body filters of many
//! proxies. It drives the engine itself, and refuses a policy that might wait.
//!
//! `cargo run -p snippets --example sync_host`

use std::time::Instant;

use futures::FutureExt as _;
use stream_core::context::Effects;
use stream_core::engine::{Failure, Work};
use stream_core::{Config, Engine, Policy, PolicyError, Verdict};
use stream_policies::judge::rules::{Otherwise, Rule, RulesSettings};
use stream_policies::{CompletedCall, SettingsError, ToolGate};
use stream_testkit::{Script, WireKind};

struct Filter<P> {
    engine: Engine,
    policy: P,
    start: Instant,
}

impl<P: Policy> Filter<P> {
    fn new(policy: P) -> Result<Self, String> {
        if policy.awaits() {
            return Err(format!("expected a policy that never waits, found {}", policy.name()));
        }
        Ok(Self { engine: Engine::new(Config::default(), &[&policy]), policy, start: Instant::now() })
    }

    /// The callback: some bytes of the answer, or its end.
    fn filter(&mut self, bytes: Option<&[u8]>) -> Vec<u8> {
        match bytes {
            Some(bytes) => self.engine.push(bytes, self.start.elapsed()),
            None => self.engine.end(None),
        }
        loop {
            match self.engine.poll() {
                Work::Chunk(stage) => {
                    let Some((chunk, state, mut ctx)) = self.engine.chunk(stage) else { break };
                    let returned = self.policy.on_chunk(chunk, state, &mut ctx).now_or_never();
                    let effects = ctx.into_effects();
                    self.carry_out(stage, returned, effects);
                }
                Work::End(stage) => {
                    let Some((end, state, mut ctx)) = self.engine.ending(stage) else { break };
                    let returned = self.policy.on_end(end, state, &mut ctx).now_or_never();
                    let effects = ctx.into_effects();
                    self.carry_out(stage, returned, effects);
                }
                Work::Abort(_) => self.policy.on_abort(),
                Work::Wait | Work::Done => break,
            }
        }
        std::iter::from_fn(|| self.engine.output()).flatten().collect()
    }

    fn carry_out(&mut self, stage: usize, returned: Option<Result<(), PolicyError>>, effects: Effects) {
        if let Err(failure) = now(returned) {
            return self.engine.fail(stage, failure);
        }
        for judging in self.engine.commit(stage, effects) {
            self.engine.verdict(judging.ticket, now(judging.future.now_or_never()));
        }
    }
}

/// What was not ready at once has taken too long.
fn now<T>(returned: Option<Result<T, PolicyError>>) -> Result<T, Failure> {
    returned.map_or(Err(Failure::TimedOut), |result| result.map_err(Failure::Failed))
}

fn main() -> Result<(), SettingsError> {
    let asks_somebody = ToolGate::new(async |_: CompletedCall| Ok(Verdict::Release));
    println!("{}", Filter::new(asks_somebody).err().unwrap_or_default());

    let rules = RulesSettings::otherwise(Otherwise::Allow).deny(Rule::tools(["rm"])).build()?;
    let mut filter = Filter::new(ToolGate::new(rules)).expect("rules answer at once");
    let answer =
        Script::new().text("On it.").call("call_1", "rm", r#"{"path":"/"}"#).call("call_2", "ls", "{}");
    for (_, bytes) in answer.to_log(WireKind::Gemini).chunks() {
        print!("{}", String::from_utf8_lossy(&filter.filter(Some(&bytes))));
    }
    print!("{}", String::from_utf8_lossy(&filter.filter(None)));
    Ok(())
}
