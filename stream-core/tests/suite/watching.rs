//! Policies that only watch: the stream is as if they were not there, and what they would have done is recorded.

use std::time::Duration;

use stream_core::{
    Action, Attention, Chunk, Config, Context, End, Ending, Limits, Needs, PolicyError, Replacement, Request,
    Stage, StreamState, SyncPolicy, Verdict, each_call,
};
use stream_testkit::{ChunkLog, Cut, Replay, Replayed, Script, WireKind};
use tokio::time::sleep;

/// What to do with every completed call.
#[derive(Debug, Clone, Copy)]
enum Deed {
    Drop,
    Replace,
    Terminate,
    Fail,
    Judge(Duration),
}

struct Watcher(Deed);

fn watcher(deed: Deed) -> Stage {
    Stage::new(Watcher(deed)).monitor()
}

impl SyncPolicy for Watcher {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().calls(Attention::Completed)
    }

    fn on_chunk(&mut self, _: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) else { return Ok(()) };
        match self.0 {
            Deed::Drop => ctx.settle(call.key(), Verdict::drop("not allowed"))?,
            Deed::Replace => ctx.settle(call.key(), Verdict::Replace(Replacement::arguments("{}")))?,
            Deed::Terminate => ctx.terminate(Ending::refuse("not allowed")),
            Deed::Fail => return Err(PolicyError::new("out of order")),
            Deed::Judge(time) => ctx.decide(call.key(), async move {
                sleep(time).await;
                Ok(Verdict::drop("judged"))
            })?,
        }
        Ok(())
    }

    fn on_end(&mut self, end: End, _: &StreamState, _: &mut Context<'_>) -> Result<(), PolicyError> {
        assert_eq!(end, End::Finished);
        Ok(())
    }
}

fn script() -> Script {
    Script::new().text("Wait.").call("call_1", "rm", r#"{"path":"/"}"#).usage(3, 5)
}

fn told(replayed: &Replayed) -> Vec<(Action, Option<&str>, bool)> {
    let decisions = replayed.decisions.iter();
    decisions.map(|decision| (decision.action, decision.reason.as_deref(), decision.enforced)).collect()
}

#[test]
fn the_stream_is_as_if_the_policy_were_not_there_and_its_deeds_are_recorded() {
    use Action::*;
    let failed = "policy: expected Watcher to return, found an error: out of order";
    for (deed, expected) in [
        (Deed::Drop, vec![(Dropped, Some("not allowed"), false)]),
        (Deed::Replace, vec![(Edited, None, false)]),
        (
            Deed::Terminate,
            vec![(Terminated, Some("not allowed"), false), (Dropped, Some("still held at the end"), false)],
        ),
        (Deed::Fail, vec![(Failed, Some(failed), false), (Dropped, Some("still held at the end"), false)]),
        (Deed::Judge(Duration::from_secs(2)), vec![(Dropped, Some("judged"), false)]),
        (Deed::Judge(Duration::from_secs(99)), vec![(Dropped, Some("the judge took too long"), false)]),
    ] {
        for kind in WireKind::ALL {
            for log in [script().to_log(kind), ChunkLog::from_whole("whole", script().whole(kind))] {
                let replayed = Replay::new(&log).cut(Cut::Byte).policy(move || watcher(deed)).run();
                assert_eq!(replayed.bytes(), log.bytes(), "{deed:?} {}", log.name());
                assert_eq!(told(&replayed), expected, "{deed:?} {}", log.name());
                assert!(!replayed.is_edited());
                let outcome = replayed.outcome.unwrap();
                assert_eq!((outcome.error, outcome.usage.unwrap().output), (None, Some(5)));
            }
        }
    }
}

#[test]
fn all_output_leaves_before_a_slow_judge_of_a_watcher_answers() {
    for kind in WireKind::ALL {
        let log = script().to_log(kind);
        let replayed = Replay::new(&log).policy(|| watcher(Deed::Judge(Duration::from_secs(2)))).run();
        let last = replayed.output.last().unwrap().0;
        assert_eq!(last, Duration::ZERO, "{kind}");
        assert_eq!(replayed.decisions[0].held, Duration::from_secs(2), "{kind}");
    }
}

#[test]
fn a_watcher_sees_what_the_stage_before_it_let_go() {
    for kind in WireKind::ALL {
        let log = script().to_log(kind);
        let no_calls = || each_call(|_, _| Verdict::drop("discarded"));
        let alone = Replay::new(&log).policy(no_calls).run();
        let before = Replay::new(&log).policy(|| watcher(Deed::Drop)).policy(no_calls).run();
        let behind = Replay::new(&log).policy(no_calls).policy(|| watcher(Deed::Drop)).run();
        assert_eq!((before.bytes(), behind.bytes()), (alone.bytes(), alone.bytes()), "{kind}");
        assert_eq!(told(&before).len(), 2, "{kind}");
        assert_eq!(told(&behind), [(Action::Dropped, Some("discarded"), true)], "{kind}");
    }
}

#[test]
fn what_a_watcher_holds_is_bound_and_never_closes_the_stream() {
    let log = script().to_log(WireKind::AnthropicMessages);
    let config = Config::default().limits(Limits::default().held(40));
    let replayed = Replay::new(&log).config(config).policy(|| watcher(Deed::Drop)).run();
    assert_eq!(replayed.bytes(), log.bytes());
    let limit = "limit: expected at most 40 bytes held back, found more";
    assert_eq!(
        told(&replayed),
        [(Action::Failed, Some(limit), false), (Action::Dropped, Some("still held at the end"), false)]
    );
}
