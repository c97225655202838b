//! What each policy costs per chunk over passthrough, from 1 kB to 1 MB, and how judging overlaps, in one run.
//!
//! `cargo bench -p stream-policies --features patterns --bench policies`: each line gives nanoseconds per chunk (the
//! median of several runs), behind it the ratio to passthrough at the same length. A ratio that does not grow from left
//! to right is flat in the length of the stream. The last line is virtual time, and exact.

#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::time::Duration;

use bytes::Bytes;
use cpu_time::ThreadTime;
use futures::FutureExt as _;
use stream_core::engine::{Failure, Judging, Work};
use stream_core::{Config, Engine, Limits, Policy, PolicyError, Verdict};
use stream_policies::{
    BufferedJudge, CompletedCall, FinishGate, HideReasoning, InjectSettings, Monitor, Passthrough, Pattern,
    Preset, QuotaSettings, RedactSettings, StopOnSettings, ToolGate, ValidateParametersSettings,
};
use stream_testkit::{Fragments, Replay, Script, WireKind};

const SIZES: [usize; 3] = [1_000, 100_000, 1_000_000];
const FRAGMENT: usize = 64;

fn main() {
    println!("{:<44}{:>14}{:>18}{:>18}", "ns per chunk", "1 kB", "100 kB", "1 MB");
    for (what, script) in [("text", text as fn(usize) -> Script), ("argument", argument)] {
        let bodies = SIZES.map(|size| script(size).bytes(WireKind::OpenAiChat));
        let base = bodies.each_ref().map(|body| cost(body, || Passthrough));
        println!("{:<44}{:>14.0}{:>18.0}{:>18.0}", format!("{what}: passthrough"), base[0], base[1], base[2]);
        for (name, policy) in policies() {
            let costs = bodies.each_ref().map(|body| cost(body, &policy));
            let [a, b, c] = [0, 1, 2].map(|at| format!("{:.0} ×{:>5.2}", costs[at], costs[at] / base[at]));
            println!("{:<44}{a:>14}{b:>18}{c:>18}", format!("{what}: {name}"));
        }
    }
    overlap();
}

/// A policy for each stream.
type Factory = Box<dyn Fn() -> Box<dyn Policy>>;

fn factory<P: Policy + Clone + 'static>(policy: P) -> Factory {
    Box::new(move || Box::new(policy.clone()))
}

/// Every bundled policy, with settings under which all of it leaves.
fn policies() -> Vec<(&'static str, Factory)> {
    let words = || Pattern::regex("ticket", "TCK-[0-9]{6}");
    let presets = Preset::ALL.into_iter().fold(RedactSettings::default(), RedactSettings::preset);
    let redact = RedactSettings::default().pattern(words()).build().unwrap();
    let stop = StopOnSettings::default().pattern(words()).build().unwrap();
    let quota = QuotaSettings::default().bytes(usize::MAX).build().unwrap();
    let validate = ValidateParametersSettings::new().alias("command", ["cmd"]).build().unwrap();
    let inject = InjectSettings::default().before("[a] ").after(" [b]").build().unwrap();
    vec![
        ("buffered judge", Box::new(|| Box::new(BufferedJudge::new(allow)))),
        ("tool gate", factory(ToolGate::new(allow))),
        ("finish gate", factory(FinishGate::new())),
        ("validate parameters", factory(validate)),
        ("redact, one pattern", factory(redact.clone())),
        ("redact, all presets", factory(presets.build().unwrap())),
        ("stop on", factory(stop)),
        ("quota of bytes", factory(quota)),
        ("hide reasoning", factory(HideReasoning::default())),
        ("inject", factory(inject)),
        ("monitor of redact, one pattern", factory(Monitor::new(redact))),
    ]
}

async fn allow(_: CompletedCall) -> Result<Verdict, PolicyError> {
    Ok(Verdict::Release)
}

fn text(size: usize) -> Script {
    Script::new().text("words ".repeat(size / 6)).text_fragments(Fragments::Bytes(FRAGMENT))
}

fn argument(size: usize) -> Script {
    let value = format!("{{\"path\":\"{}\"}}", "words ".repeat(size / 6));
    Script::new().call("call_1", "write", &value).argument_fragments(Fragments::Bytes(FRAGMENT))
}

/// Nanoseconds on the processor for each event of the stream.
fn cost<P: Policy>(body: &Bytes, factory: impl Fn() -> P) -> f64 {
    let chunks = body.windows(2).filter(|pair| pair == b"\n\n").count();
    let runs = (3_000_000 / body.len()).clamp(5, 200);
    let mut times: Vec<Duration> = (0..runs)
        .map(|_| {
            let policy = factory();
            // Time on the processor: what else the machine does does not count.
            let start = ThreadTime::now();
            assert!(run(policy, body) >= body.len(), "the stream did not pass");
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    #[allow(clippy::cast_precision_loss)]
    let cost = times[times.len() / 2].as_nanos() as f64 / chunks as f64;
    cost
}

/// Drives the engine without a runtime, and counts what left.
fn run(mut policy: impl Policy, body: &[u8]) -> usize {
    let mut engine = Engine::new(Config::default().limits(Limits::default().held(1 << 30)), &[&policy]);
    let mut out = 0;
    let mut pieces = body.chunks(4096);
    loop {
        match engine.poll() {
            Work::Chunk(stage) => {
                let (chunk, state, mut ctx) = engine.chunk(stage).unwrap();
                policy.on_chunk(chunk, state, &mut ctx).now_or_never().unwrap().unwrap();
                let effects = ctx.into_effects();
                let judging = engine.commit(stage, effects);
                judge(&mut engine, judging);
            }
            Work::End(stage) => {
                let (end, state, mut ctx) = engine.ending(stage).unwrap();
                policy.on_end(end, state, &mut ctx).now_or_never().unwrap().unwrap();
                let effects = ctx.into_effects();
                let judging = engine.commit(stage, effects);
                judge(&mut engine, judging);
            }
            Work::Abort(_) => return 0,
            Work::Wait => match pieces.next() {
                Some(piece) => engine.push(piece, Duration::ZERO),
                None => engine.end(None),
            },
            Work::Done => break,
        }
        while let Some(bytes) = engine.output() {
            out += bytes.len();
        }
        engine.decisions();
    }
    while let Some(bytes) = engine.output() {
        out += bytes.len();
    }
    out
}

/// The judges here answer at once.
fn judge(engine: &mut Engine, judging: Vec<Judging>) {
    for Judging { ticket, future } in judging {
        let verdict = future.now_or_never().unwrap();
        engine.verdict(ticket, verdict.map_err(Failure::Failed));
    }
}

/// Two calls in a stream that comes at once, and a judge that takes 200 ms over each.
fn overlap() {
    const JUDGED: Duration = Duration::from_millis(200);
    let script = Script::new().call("call_1", "read_file", "{}").call("call_2", "read_file", "{}");
    for kind in WireKind::ALL {
        let judge = |_: CompletedCall| async {
            tokio::time::sleep(JUDGED).await;
            Ok(Verdict::Release)
        };
        let replayed = Replay::new(script.to_log(kind)).policy(move || ToolGate::new(judge)).run();
        let (last, _) = replayed.output.last().unwrap();
        assert_eq!(*last, JUDGED, "judgements overlap");
        println!("{:<44}{:>14}", format!("{kind}: two calls judged for 200 ms each"), format!("{last:?}"));
    }
}
