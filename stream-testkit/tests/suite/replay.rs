//! Replays: time, faults, cuts.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::policies::{NoRm, Shout, SlowHook, SlowJudge};
use stream_core::text_calls::{DialectSet, known};
use stream_core::{
    Action, Attention, Config, ErrorKind, Limits, Needs, Passthrough, Policy, Request, Verdict, each_call,
};
use stream_testkit::conformance::{CallView, Ended};
use stream_testkit::replay::Step;
use stream_testkit::{ChunkLog, Cut, Fragments, Replay, Replayed, Script, WireKind};
use tokio::runtime::{Builder, Runtime};

const SECOND: Duration = Duration::from_secs(1);

fn log(name: &str) -> ChunkLog {
    ChunkLog::load(format!("{}/tests/logs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn millis(replayed: &Replayed) -> Vec<u128> {
    replayed.output.iter().map(|(at, _)| at.as_millis()).collect()
}

fn error(replayed: &Replayed) -> Option<ErrorKind> {
    replayed.outcome.as_ref().unwrap().error.as_ref().map(stream_core::Error::kind)
}

fn runtime(paused: bool) -> Runtime {
    Builder::new_current_thread().enable_time().start_paused(paused).build().unwrap()
}

#[test]
fn what_is_sent_leaves_when_it_came() {
    // Rule 11.
    for kind in WireKind::ALL {
        let log = Script::new().text("Hello.").pace(Duration::from_millis(40)).to_log(kind);
        let replayed = Replay::new(&log).policy(|| Passthrough).run();
        assert_eq!(replayed.output, log.chunks().collect::<Vec<_>>(), "{kind}");
    }
}

#[test]
fn every_cut_gives_the_bytes_of_the_log() {
    // The law of identity.
    for name in ["clean_up.sse", "mail.sse", "poem.sse"] {
        let log = log(name);
        for cut in [Cut::Original, Cut::Whole, Cut::Event, Cut::Byte, Cut::Random { seed: 7 }] {
            for replay in [Replay::new(&log), Replay::new(&log).policy(|| Passthrough)] {
                let replayed = replay.cut(cut).run();
                assert_eq!(replayed.bytes(), log.bytes(), "{name} {cut}");
                assert!(!replayed.is_edited());
                assert_eq!(error(&replayed), None);
            }
        }
    }
}

#[test]
fn split_and_merged_deltas_give_the_same_view() {
    // The law of rechunking.
    for kind in WireKind::ALL {
        let script = Script::new().text("Hello there.").call("c", "rm", "{}").call("d", "ls", r#"{"a":[1]}"#);
        let replay = Replay::new(script.to_log(kind)).policy(|| NoRm).policy(|| Shout);
        let view = replay.run().view();
        assert_eq!(view.choices[0].content, "HELLO THERE.", "{kind}");
        assert_eq!(view.choices[0].calls.len(), 1, "{kind}");
        assert_eq!(replay.clone().split_deltas(5).run().view(), view, "{kind}");
        assert_eq!(replay.clone().split_deltas(6).cut(Cut::Byte).run().view(), view, "{kind}");
        assert_eq!(replay.split_deltas(7).merge_deltas().run().view(), view, "{kind}");
    }
}

#[test]
fn a_slow_judge_costs_no_time_and_its_verdict_comes_when_it_would() {
    // Rule 13.
    let started = Instant::now();
    let replayed = Replay::new(log("clean_up.sse")).policy(|| SlowJudge(25 * SECOND)).run();
    assert!(started.elapsed() < 10 * SECOND);
    let (last, _) = replayed.output.last().unwrap();
    // The second call was complete after 420 ms.
    assert_eq!(last.as_millis(), 25_420);
    let released = replayed.decisions.iter().find(|decision| decision.action == Action::Released).unwrap();
    assert_eq!(released.held, Duration::from_millis(25_420 - 365));
}

#[test]
fn a_hook_that_takes_too_long_closes_the_stream() {
    // Rules 16 and 26.
    let replayed = Replay::new(log("mail.sse")).policy(|| SlowHook(31 * SECOND)).run();
    assert_eq!(error(&replayed), Some(ErrorKind::PolicyTimedOut));
    assert_eq!(replayed.view().ended, Ended::Error);
    assert_eq!(replayed.output.last().unwrap().0, 30 * SECOND);
    assert_eq!(replayed.decisions[0].action, Action::Failed);
}

#[test]
fn keep_alives_come_while_a_hook_waits() {
    // Rule 23.
    let replayed = Replay::new(log("mail.sse")).policy(|| SlowHook(20 * SECOND)).run();
    let pings: Vec<_> = replayed.output.iter().filter(|(at, _)| *at == 15 * SECOND).collect();
    assert_eq!(pings, [&(15 * SECOND, "event: ping\ndata: {\"type\": \"ping\"}\n\n".into())]);
}

#[test]
fn a_silent_upstream_ends_the_stream() {
    // Rules 4 and 26.
    let script = Script::new().text("Hello.").pause(400 * SECOND).text(" There.");
    let replayed = Replay::new(script.to_log(WireKind::OpenAiChat)).policy(|| Passthrough).run();
    assert_eq!(error(&replayed), Some(ErrorKind::Idle));
    assert_eq!(replayed.view().choices[0].content, "Hello.");
    assert_eq!(replayed.output.last().unwrap().0, 300 * SECOND);
}

#[test]
fn a_broken_connection_is_an_error_and_an_early_end_is_none() {
    // Rule 4.
    let log = log("poem.sse");
    let frame = 228;
    let broken = Replay::new(&log).policy(|| Passthrough).transport_error_after(frame).run();
    assert_eq!(error(&broken), Some(ErrorKind::Transport));
    assert_eq!(broken.view().ended, Ended::Error);
    let ended = Replay::new(&log).policy(|| Passthrough).end_after(frame).run();
    assert_eq!(error(&ended), None);
    assert_eq!(ended.view().ended, Ended::Open);
    assert_eq!(ended.bytes(), log.bytes().slice(..frame));
    let nothing = Replay::new(&log).end_after(0).run();
    assert_eq!(nothing.bytes(), "");
}

#[test]
fn a_stop_beyond_the_end_is_the_end() {
    let log = log("poem.sse");
    assert_eq!(Replay::new(&log).end_after(usize::MAX).run().bytes(), log.bytes());
}

#[test]
fn a_whole_response_goes_through_the_same_policies() {
    // Rule 24.
    let log = log("answer.json");
    assert_eq!(Replay::new(&log).policy(|| Passthrough).run().bytes(), log.bytes());
    let replayed = Replay::new(&log).policy(|| NoRm).run();
    let view = replayed.view();
    assert_eq!(view.choices[0].calls, [] as [CallView; 0]);
    assert_eq!(view.choices[0].finish.as_deref(), Some("stop"));
    assert_eq!(replayed.decisions.len(), 1);
}

#[test]
fn it_runs_the_same_inside_of_a_runtime() {
    let replay = Replay::new(log("clean_up.sse")).policy(|| SlowJudge(25 * SECOND));
    let replayed = replay.run();
    assert_eq!(runtime(false).block_on(async { replay.run() }), replayed);
    assert_eq!(runtime(true).block_on(replay.run_async()), replayed);
}

#[test]
fn every_run_makes_its_own_policies() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let replay = Replay::new(log("poem.sse")).policy(move || {
        count.fetch_add(1, Ordering::Relaxed);
        Passthrough
    });
    assert_eq!(replay.run(), replay.run());
    assert_eq!(made.load(Ordering::Relaxed), 2);
}

#[test]
fn the_most_that_was_held_is_told() {
    // The two calls, the frames behind them, and the frame that completed the last.
    let replayed = Replay::new(log("clean_up.sse")).policy(|| SlowJudge(SECOND)).run();
    assert_eq!(replayed.held_max, 254 + 219 + 219 + 254 + 225 + 163 + 182 + 14);
}

#[test]
fn settings_reach_the_stream() {
    // Rule 26.
    let mut limits = Limits::default();
    limits.held = 300;
    let config = Config::default().limits(limits);
    let replayed = Replay::new(log("clean_up.sse")).policy(|| NoRm).config(config).run();
    assert_eq!(error(&replayed), Some(ErrorKind::HeldLimit));
}

#[test]
fn everything_that_came_in_and_left_is_in_the_steps() {
    let log = log("mail.sse");
    let replayed = Replay::new(&log).policy(|| Passthrough).run();
    let mut came = Vec::new();
    let mut written = Vec::new();
    let mut left = Vec::new();
    for (_, step) in &replayed.steps {
        match step {
            Step::In(bytes) => came.extend_from_slice(bytes),
            Step::Written(bytes) => written.extend_from_slice(bytes),
            Step::Out(bytes) => left.extend_from_slice(bytes),
            _ => {}
        }
    }
    assert_eq!(came, log.bytes()[..]);
    assert_eq!(written, log.bytes()[..]);
    assert_eq!(left, log.bytes()[..]);
    assert_eq!(millis(&replayed), [0; 12]);
}

#[test]
#[should_panic(expected = "expected NoRm, which needs tool calls, before Hider, which turns them into text")]
fn policies_that_cannot_work_together_panic() {
    let _ = Replay::new(log("poem.sse")).policy(|| Hider).policy(|| NoRm).run();
}

/// Says that it turns calls into text.
struct Hider;

#[stream_core::async_trait]
impl Policy for Hider {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().calls(Attention::Completed).hides_calls()
    }

    async fn on_chunk(
        &mut self,
        chunk: stream_core::Chunk,
        _state: &stream_core::StreamState,
        ctx: &mut stream_core::Context<'_>,
    ) -> Result<(), stream_core::PolicyError> {
        ctx.send(chunk);
        Ok(())
    }
}

/// A frame of which nothing is shown yet, since it may begin a call in the text, waits: also where it lets one before it go.
#[test]
fn a_frame_that_is_held_is_never_told_as_passing_by() {
    let script = Script::new().text("One <two <three.").text_fragments(Fragments::Chars(5));
    let gate = || each_call(|_, _| Verdict::Release);
    let config = Config::default().text_calls(DialectSet::new().with(known::hermes()));
    let run = Replay::new(script.to_log(WireKind::OpenAiChat)).config(config).policy(gate).run();
    let transcript = run.transcript().to_string();
    let step = |frame: &str| {
        let row = transcript.lines().find(|row| row.split_whitespace().nth(1) == Some(frame));
        row.and_then(|row| row.split_whitespace().nth(3)).map(str::to_owned)
    };
    let steps = ["f2", "f3", "f4"].map(step);
    assert_eq!(steps, [Some("waits".into()), Some("waits".into()), Some("passes".into())], "{transcript}");
}
