//! Wrappers around small policies, in every format.

use std::future::pending;
use std::time::Duration;

use stream_core::{
    Action, Attention, Chain, Chunk, Config, Context, End, ErrorKind, Needs, Policy, PolicyError, Request,
    Stage, StreamProcessor, StreamState, Tool, Verdict, async_trait, each_call_async,
};
use stream_testkit::laws::Law;
use stream_testkit::{Replay, Replayed, Script, WireKind};

use super::*;
use crate::testing::{assert_lawful, everywhere, lawful, seen};

/// Drops all it looks at.
#[derive(Debug, Clone)]
struct DropAll(Needs);

impl DropAll {
    fn calls() -> Self {
        Self(Needs::nothing().calls(Attention::Completed))
    }
}

#[async_trait]
impl Policy for DropAll {
    fn needs(&self, _: &Request) -> Needs {
        self.0.clone()
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if let Some(block) = state.just_completed() {
            ctx.settle(block.key(), Verdict::drop("all is dropped"))?;
        }
        if chunk.is_payload() {
            ctx.buffer(chunk);
        }
        Ok(())
    }
}

fn script() -> Script {
    Script::new()
        .text("Looking.")
        .call("call_1", "Bash", r#"{"a":1}"#)
        .call("call_2", "read", r#"{"b":2}"#)
        .usage(3, 4)
}

fn names(replayed: &Replayed) -> Vec<String> {
    let view = seen(&replayed.name, replayed);
    view.choices.iter().flat_map(|choice| choice.calls.iter().map(|call| call.name.clone())).collect()
}

#[test]
fn a_policy_runs_for_the_models_of_its_condition_and_passes_all_else_untouched() {
    let policy = || When::new(Condition::model("small-*").unwrap(), DropAll::calls());
    for (_, log) in everywhere(&script()) {
        let run = |request: Request| {
            Replay::new(&log).config(Config::default().request(request)).policy(policy).run()
        };
        assert_eq!(names(&run(Request::new().model("SMALL-1"))), Vec::<String>::new(), "{}", log.name());
        let large = run(Request::new().model("large-1"));
        assert_eq!((large.bytes(), large.decisions), (log.bytes().clone(), vec![]), "{}", log.name());
        // Nobody said which model it is: the policy is run.
        assert_eq!(names(&run(Request::new())), Vec::<String>::new(), "{}", log.name());
    }
}

#[test]
fn where_a_condition_does_not_hold_nothing_is_held() {
    let log = Script::new().text("ab").to_log(WireKind::OpenAiChat);
    let needs = Needs::nothing().content(Attention::Completed);
    let policy = move || When::new(Condition::offers("bash").unwrap(), DropAll(needs.clone()));
    let replayed = Replay::new(&log).policy(policy).run();
    assert_eq!((replayed.bytes(), replayed.held_max), (log.bytes().clone(), 0));
}

#[test]
fn conditions_join() {
    let small = || Condition::model("small").unwrap();
    let bash = || Condition::offers("ba?h").unwrap();
    let both = Request::new().model("small").tool(Tool::new("BASH"));
    let neither = Request::new().model("large");
    let unknown = Request::new();
    for (condition, expected) in [
        (small().and(bash()), [Some(true), Some(false), Some(false)]),
        (small().or(bash()), [Some(true), Some(false), None]),
        (small().not(), [Some(false), Some(true), None]),
        (small().and(bash()).not(), [Some(false), Some(true), Some(true)]),
        (Condition::always(), [Some(true); 3]),
    ] {
        assert_eq!(
            [&both, &neither, &unknown].map(|request| condition.holds(request)),
            expected,
            "{condition:?}"
        );
    }
    assert_eq!(
        Condition::model("{a,b}").unwrap_err().to_string(),
        "model: expected a glob of text, * and ?, found '{' in it (a regex can say more)"
    );
}

#[test]
fn a_policy_runs_for_the_tools_of_its_condition_whatever_their_case() {
    for needs in [Needs::everything(), Needs::nothing().calls(Attention::Completed)] {
        let policy = When::new(Condition::always(), DropAll(needs)).tools(["bash"]).unwrap();
        for (_, log) in everywhere(&script()) {
            let replayed = crate::testing::run(&policy, &log);
            let view = seen(log.name(), &replayed);
            assert_eq!(names(&replayed), ["read"], "{}", log.name());
            assert_eq!(view.choices[0].content, "Looking.", "{}", log.name());
        }
    }
}

#[test]
fn a_policy_under_a_condition_keeps_every_law() {
    assert_lawful(&When::new(Condition::always(), DropAll::calls()).tools(["bash"]).unwrap(), &script(), &[]);
    let watched = lawful(|| Stage::new(DropAll(Needs::everything())).monitor(), &script());
    watched.assert_held_but(&[Law::NoLeak, Law::Agreement]);
}

/// Fails, or never answers.
#[derive(Debug, Clone, Copy)]
enum Bad {
    Fails,
    Waits,
    Judges,
}

#[async_trait]
impl Policy for Bad {
    fn needs(&self, _: &Request) -> Needs {
        Needs::nothing().calls(Attention::Completed)
    }

    async fn on_chunk(
        &mut self,
        _: Chunk,
        state: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        let Some(block) = state.just_completed() else { return Ok(()) };
        match self {
            Self::Fails => Err(PolicyError::new("out of order")),
            Self::Waits => pending().await,
            Self::Judges => Ok(ctx.decide(block.key(), pending())?),
        }
    }
}

#[test]
fn failing_open_releases_what_was_held_and_failing_closed_does_not() {
    for (_, log) in everywhere(&script()) {
        for bad in [Bad::Fails, Bad::Waits, Bad::Judges] {
            let limit = Duration::from_millis(50);
            let open = Replay::new(&log).policy(move || Stage::new(bad).within(limit).fail_open()).run();
            assert_eq!(open.bytes(), log.bytes(), "{bad:?} {}", log.name());
            let closed = Replay::new(&log).policy(move || Stage::new(bad).fail_open().fail_closed()).run();
            let calls = closed.view().choices.iter().map(|choice| choice.calls.len()).sum::<usize>();
            assert_eq!(calls, 0, "{bad:?} {}", log.name());
        }
    }
}

#[test]
fn a_timeout_is_a_timeout_of_the_policy_and_the_tighter_one_counts() {
    let log = script().to_log(WireKind::OpenAiChat);
    const SHORT: Duration = Duration::from_millis(50);
    const LONG: Duration = Duration::from_secs(5);
    for policy in [
        || Stage::new(Bad::Waits).within(LONG).within(SHORT),
        || Stage::new(Bad::Waits).within(SHORT).within(LONG),
    ] {
        let replayed = Replay::new(&log).policy(policy).run();
        let error = replayed.outcome.unwrap().error.unwrap();
        assert_eq!(error.kind(), ErrorKind::PolicyTimedOut);
        assert_eq!(error.to_string(), "policy: expected Bad to return, found none after 50ms");
    }
    let judged = Replay::new(&log).policy(move || Stage::new(Bad::Judges).within(SHORT)).run();
    assert_eq!(judged.decisions[0].reason.as_deref(), Some("the judge took too long"));
    assert_eq!(judged.decisions[0].held, SHORT);
}

#[test]
fn a_monitored_policy_changes_nothing_and_reports_what_it_would_have_done() {
    for (_, log) in everywhere(&script()) {
        let slow = || {
            each_call_async(|_, _| async {
                tokio::time::sleep(Duration::from_secs(1)).await;
                Ok(Verdict::drop("slowly"))
            })
        };
        let replayed = Replay::new(&log).policy(move || Stage::new(slow()).monitor()).run();
        assert_eq!(replayed.bytes(), log.bytes(), "{}", log.name());
        let told: Vec<_> =
            replayed.decisions.iter().map(|decision| (decision.action, decision.enforced)).collect();
        assert_eq!(told, [(Action::Dropped, false), (Action::Dropped, false)], "{}", log.name());
        assert_eq!(replayed.decisions[0].held, Duration::from_secs(1), "{}", log.name());
    }
}

#[test]
fn a_chain_hands_the_output_of_one_to_the_next() {
    let log = script().to_log(WireKind::OpenAiChat);
    let chain = || {
        Chain::new()
            .then(When::new(Condition::always(), DropAll::calls()).tools(["bash"]).unwrap())
            .then_all(Chain::new().then(Stage::new(DropAll::calls()).monitor()))
    };
    let replay = chain().into_iter().enumerate().fold(Replay::new(&log), |replay, (at, _)| {
        replay.policy(move || chain().into_iter().nth(at).unwrap())
    });
    let replayed = replay.run();
    assert_eq!(names(&replayed), ["read"]);
    // The second never saw the call that the first dropped.
    let told: Vec<_> =
        replayed.decisions.iter().map(|decision| (decision.action, decision.enforced)).collect();
    assert_eq!(told, [(Action::Dropped, true), (Action::Released, true), (Action::Dropped, false)]);
}

#[test]
fn a_chain_that_cannot_work_is_refused() {
    let hides = DropAll(Needs::nothing().calls(Attention::Completed).hides_calls());
    let build = |chain: Chain| {
        let nothing = futures::stream::empty::<Result<Vec<u8>, std::convert::Infallible>>();
        StreamProcessor::builder().chain(chain).build(nothing).map(|_| ()).map_err(|error| error.to_string())
    };
    let blind = "expected DropAll, which needs tool calls, before DropAll, which turns them into text; found it behind";
    assert_eq!(build(Chain::new().then(hides.clone()).then(DropAll::calls())), Err(blind.to_owned()));
    // One that only watches hides nothing.
    assert_eq!(build(Chain::new().then(Stage::new(hides).monitor()).then(DropAll::calls())), Ok(()));
}

/// Says whether `on_end` and `on_abort` came.
struct Ends(std::sync::Arc<std::sync::Mutex<Vec<&'static str>>>);

#[async_trait]
impl Policy for Ends {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        ctx.send(chunk);
        Ok(())
    }

    async fn on_end(&mut self, _: End, _: &StreamState, _: &mut Context<'_>) -> Result<(), PolicyError> {
        self.0.lock().unwrap().push("end");
        Ok(())
    }

    fn on_abort(&mut self) {
        self.0.lock().unwrap().push("abort");
    }
}

#[test]
fn a_policy_is_told_of_the_end_only_where_its_condition_holds() {
    let log = script().to_log(WireKind::OpenAiChat);
    for (model, expected) in [("small", vec!["end"]), ("large", vec![])] {
        let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let sink = std::sync::Arc::clone(&told);
        let policy =
            move || When::new(Condition::model("small").unwrap(), Ends(std::sync::Arc::clone(&sink)));
        let config = Config::default().request(Request::new().model(model));
        let _ = Replay::new(&log).config(config).policy(policy).run();
        assert_eq!(*told.lock().unwrap(), expected, "{model}");
    }
}
