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
use stream_core::engine::{Input, Output};
use stream_core::{Config, Engine, Limits, PolicyError, Stage, SyncPolicy, Verdict};
use stream_policies::{
    BufferedJudge, CompletedCall, FinishGate, HideReasoning, InjectSettings, Passthrough, Pattern, Preset,
    QuotaSettings, RedactSettings, StopOnSettings, ToolGate, ValidateParametersSettings,
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
type Factory = Box<dyn Fn() -> Stage>;

fn factory<P: SyncPolicy + Clone + 'static>(policy: P) -> Factory {
    Box::new(move || Stage::new(policy.clone()))
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
        ("buffered judge", Box::new(|| BufferedJudge::new(allow).into())),
        ("tool gate", factory(ToolGate::new(allow))),
        ("finish gate", factory(FinishGate::new())),
        ("validate parameters", factory(validate)),
        ("redact, one pattern", factory(redact.clone())),
        ("redact, all presets", factory(presets.build().unwrap())),
        ("stop on", factory(stop)),
        ("quota of bytes", factory(quota)),
        ("hide reasoning", factory(HideReasoning::default())),
        ("inject", factory(inject)),
        ("monitor of redact, one pattern", Box::new(move || Stage::new(redact.clone()).monitor())),
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
fn cost<P: Into<Stage>>(body: &Bytes, factory: impl Fn() -> P) -> f64 {
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
fn run(policy: impl Into<Stage>, body: &[u8]) -> usize {
    let config = Config::default().limits(Limits::default().held(1 << 30));
    let mut engine = Engine::new(config, policy.into()).unwrap();
    let body = Bytes::copy_from_slice(body);
    let (mut at, mut out) = (0, 0);
    loop {
        match engine.poll() {
            Output::Bytes(bytes) => out += bytes.len(),
            Output::Hook(hook) => hook.run(Duration::ZERO),
            Output::Judge(judging) => {
                // The judges here answer at once.
                let (ticket, verdict) = judging.now_or_never().unwrap().unwrap();
                engine.handle(Input::Verdict(ticket, verdict), Duration::ZERO);
            }
            Output::Wait { .. } if at == body.len() => engine.handle(Input::End, Duration::ZERO),
            Output::Wait { .. } => {
                let end = body.len().min(at + 4096);
                engine.handle(Input::Bytes(body.slice(at..end)), Duration::ZERO);
                at = end;
            }
            Output::Done => return out,
        }
        engine.decisions();
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
