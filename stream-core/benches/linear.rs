//! Cost per byte of one long argument and one long text, from 10 kB to 10 MB, in one run.
//!
//! `cargo bench -p stream-core --bench linear`: each line gives nanoseconds per byte of payload (the median of several
//! runs) and, behind it, the ratio to the 10 kB of the same line. Flat means a ratio around 1.

#![allow(clippy::print_stdout)]

use std::time::Duration;

use bytes::Bytes;
use cpu_time::ThreadTime;
use stream_core::engine::{Input, Output};
use stream_core::{
    Assembler, Chunk, Config, Context, Engine, Passthrough, Policy, PolicyError, Stage, StreamState, Verdict,
    async_trait,
};
use stream_testkit::{Fragments, Script, WireKind};

const SIZES: [usize; 4] = [10_000, 100_000, 1_000_000, 10_000_000];
const FRAGMENT: usize = 64;

fn main() {
    println!("{:<44}{:>12}{:>16}{:>16}{:>16}", "ns per byte of payload", "10 kB", "100 kB", "1 MB", "10 MB");
    for kind in WireKind::ALL {
        for (what, script) in [("argument", argument as fn(usize) -> Script), ("text", text)] {
            let bodies: Vec<_> = SIZES.iter().map(|size| (*size, script(*size).bytes(kind))).collect();
            line(&format!("{kind} {what}: fold"), &bodies, |body| {
                let mut assembler = Assembler::with(Config::default().limits(limits()));
                assembler.push(body).and_then(|()| assembler.finish()).is_ok()
            });
            line(&format!("{kind} {what}: pass"), &bodies, |body| run(Passthrough, body));
            line(&format!("{kind} {what}: look and send"), &bodies, |body| run(Send, body));
            line(&format!("{kind} {what}: hold, then flush"), &bodies, |body| run(Hold, body));
        }
    }
}

fn argument(size: usize) -> Script {
    let value = format!("{{\"path\":\"{}\"}}", "x".repeat(size));
    Script::new().call("call_1", "write", &value).argument_fragments(Fragments::Bytes(FRAGMENT))
}

fn text(size: usize) -> Script {
    Script::new().text("word ".repeat(size / 5)).text_fragments(Fragments::Bytes(FRAGMENT))
}

fn limits() -> stream_core::Limits {
    stream_core::Limits::default().held(1 << 30)
}

fn line(name: &str, bodies: &[(usize, bytes::Bytes)], run: impl Fn(&[u8]) -> bool) {
    let mut first = None;
    print!("{name:<44}");
    for (size, body) in bodies {
        let runs = (3_000_000 / size).clamp(3, 50);
        let mut times: Vec<Duration> = (0..runs)
            .map(|_| {
                // Time on the processor: what else the machine does does not count.
                let start = ThreadTime::now();
                assert!(run(body), "{name}: the stream did not pass");
                start.elapsed()
            })
            .collect();
        times.sort_unstable();
        #[allow(clippy::cast_precision_loss)]
        let cost = times[times.len() / 2].as_nanos() as f64 / *size as f64;
        let base = *first.get_or_insert(cost);
        if (base - cost).abs() < f64::EPSILON {
            print!("{cost:>12.1}");
        } else {
            print!("{cost:>9.1} ×{:>5.2}", cost / base);
        }
    }
    println!();
}

/// Drives the engine without a runtime; true if everything left.
fn run(policy: impl Into<Stage>, body: &[u8]) -> bool {
    let Ok(mut engine) = Engine::new(Config::default().limits(limits()), policy.into()) else { return false };
    let mut out = 0;
    let body = Bytes::copy_from_slice(body);
    let mut at = 0;
    loop {
        match engine.poll() {
            Output::Bytes(bytes) => out += bytes.len(),
            Output::Hook(hook) => hook.run(Duration::ZERO),
            Output::Judge(_) => return false,
            Output::Wait { .. } if at == body.len() => engine.handle(Input::End, Duration::ZERO),
            Output::Wait { .. } => {
                let end = body.len().min(at + 4096);
                engine.handle(Input::Bytes(body.slice(at..end)), Duration::ZERO);
                at = end;
            }
            Output::Done => return out == body.len(),
        }
        engine.decisions();
    }
}

struct Send;

#[async_trait]
impl Policy for Send {
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

struct Hold;

#[async_trait]
impl Policy for Hold {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        match state.just_completed() {
            Some(block) => ctx.settle(block.key(), Verdict::Release)?,
            None => ctx.buffer(chunk),
        }
        Ok(())
    }
}
