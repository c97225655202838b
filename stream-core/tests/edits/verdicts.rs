//! Judging beside the stream: verdicts in any order, output always in the stream's (rule 13).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use stream_core::{Action, Context, Decision, Ending, Observer, PolicyError, Replacement, ToolCall, Verdict};
use stream_testkit::conformance::Ended;
use stream_testkit::{Script, WireKind};

use crate::kit::{Mode, assert_ended, assert_says, body, builder, everywhere, quiet, run};
use crate::policies::{Did, hook};
use crate::scripts::{CALLS, Shape, TEXT, THOUGHT, with_calls};

const NOTICE: &str = "[no]";
const OTHER: &str = r#"{"dry_run":true}"#;

/// What a judge does with one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judge {
    Release,
    Drop,
    DropWithNotice,
    Replace,
    Err,
    Panic,
    Hang,
}

impl Judge {
    const ALL: [Self; 7] =
        [Self::Release, Self::Drop, Self::DropWithNotice, Self::Replace, Self::Err, Self::Panic, Self::Hang];

    async fn verdict(self, after: Duration) -> Result<Verdict, PolicyError> {
        tokio::time::sleep(after).await;
        match self {
            Self::Release => Ok(Verdict::Release),
            Self::Drop => Ok(Verdict::drop("no")),
            Self::DropWithNotice => Ok(Verdict::Drop { reason: "no".into(), notice: Some(NOTICE.into()) }),
            Self::Replace => Ok(Verdict::Replace(Replacement::arguments(OTHER).named("other"))),
            Self::Err => Err(PolicyError::new("no judge")),
            Self::Panic => std::panic::resume_unwind(Box::new("no judge")),
            Self::Hang => std::future::pending().await,
        }
    }

    /// What is left of a call under it.
    fn apply(self, script: Script, call: usize) -> Script {
        let (id, name, arguments) = CALLS[call];
        match self {
            Self::Release => script.call(id, name, arguments),
            Self::Replace => script.call(id, "other", OTHER),
            Self::Drop | Self::DropWithNotice | Self::Err | Self::Panic | Self::Hang => script,
        }
    }
}

/// When the judges begin: at the opening of a call, or when it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Opened,
    Complete,
}

/// Puts every call under a decision.
fn judged(
    when: When,
    mut decide: impl FnMut(&ToolCall, &mut Context<'_>) -> Did + Send + 'static,
) -> impl stream_core::Policy + 'static {
    let mut known = Vec::new();
    hook(move |chunk: stream_core::Chunk, state: &stream_core::StreamState, ctx: &mut Context<'_>| -> Did {
        let current = state.current_block().and_then(|block| block.as_tool_call());
        if let Some(call) = current {
            let due = match when {
                When::Opened => true,
                When::Complete => state.just_completed().is_some(),
            };
            if due && !known.contains(&call.key()) {
                known.push(call.key());
                decide(call, ctx)?;
            }
        }
        match chunk.is_tool_call() {
            true if when == When::Complete => ctx.buffer(chunk),
            // Under a decision, it is held without a word.
            true => drop(chunk),
            false => ctx.send(chunk),
        }
        Ok(())
    })
}

fn number(call: &ToolCall) -> usize {
    CALLS.iter().position(|(id, ..)| call.id() == Some(id)).unwrap()
}

#[tokio::test(start_paused = true)]
async fn two_calls_are_judged_beside_each_other_and_leave_in_their_order() {
    for shape in [Shape::Plain, Shape::CallsTogether, Shape::OneChunk] {
        let input = shape.turn(&[0, 1]);
        for (kind, mode) in everywhere() {
            let bytes = body(kind, mode, &input);
            for first in Judge::ALL {
                for second in Judge::ALL {
                    // The first answers last, then the second does.
                    for (one, two) in [(5, 1), (1, 5)] {
                        for when in [When::Opened, When::Complete] {
                            let policy = judged(when, move |call, ctx| {
                                let (judge, after) = [(first, one), (second, two)][number(call)];
                                ctx.decide(call.key(), judge.verdict(Duration::from_secs(after)))?;
                                Ok(())
                            });
                            let out = run(quiet(kind).policy(policy), mode, bytes.clone()).await;
                            let what = format!("{shape:?}, {first:?} {one}, {second:?} {two}, {when:?}");
                            assert_eq!(out.error(), None, "{what}");
                            let notices = [first, second].map(|judge| judge == Judge::DropWithNotice);
                            if notices.contains(&true) {
                                assert_noticed(&what, kind, mode, &bytes, &out.bytes, [first, second]);
                                continue;
                            }
                            let expected = second.apply(first.apply(shape.turn(&[]), 0), 1);
                            assert_says(&what, kind, mode, &input, &out.bytes, &expected);
                            if [first, second] == [Judge::Release; 2] {
                                assert_eq!(out.bytes, bytes, "{what}, {kind}, {mode:?}");
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A notice stands in the place of its call, where there is a place for it.
#[track_caller]
fn assert_noticed(what: &str, kind: WireKind, mode: Mode, input: &[u8], out: &[u8], judges: [Judge; 2]) {
    let seen = crate::kit::view(what, kind, mode, input, out);
    let leaves = |judge: Judge| matches!(judge, Judge::Release | Judge::Replace);
    let mut content = TEXT.to_owned();
    for (at, judge) in judges.into_iter().enumerate() {
        let behind_call = at == 1 && leaves(judges[0]);
        let has_place = kind != WireKind::AnthropicMessages || !behind_call;
        if judge == Judge::DropWithNotice && has_place {
            content.push_str(NOTICE);
        }
    }
    let shown = String::from_utf8_lossy(out);
    assert_eq!(seen.choices[0].content, content, "{what}, {kind}, {mode:?}:\n{shown}");
    assert_eq!(seen.choices[0].reasoning, THOUGHT, "{what}, {kind}, {mode:?}:\n{shown}");
    let names: Vec<&str> = seen.choices[0].calls.iter().map(|call| call.name.as_str()).collect();
    let expected: Vec<&str> = judges
        .into_iter()
        .enumerate()
        .filter(|(_, judge)| leaves(*judge))
        .map(|(at, judge)| if judge == Judge::Replace { "other" } else { CALLS[at].1 })
        .collect();
    assert_eq!(names, expected, "{what}, {kind}, {mode:?}:\n{shown}");
    assert_eq!(seen.ended, Ended::Clean);
}

/// The record of a verdict that ends the stream says how much was held by then, and how long.
#[tokio::test(start_paused = true)]
async fn the_record_of_a_verdict_that_ends_the_stream_tells_what_was_held() {
    for kind in WireKind::ALL {
        let bytes = body(kind, Mode::Streamed, &Shape::ALL[0].turn(&[0]));
        let policy = judged(When::Opened, |call, ctx| {
            ctx.decide(call.key(), async move {
                tokio::time::sleep(Duration::from_secs(2)).await;
                Ok(Verdict::Terminate(Ending::error("no")))
            })?;
            Ok(())
        });
        let holds = Holds::default();
        run(quiet(kind).policy(policy).observer(holds.clone()), Mode::Streamed, bytes).await;
        let holds = holds.0.lock().unwrap();
        let [(bytes, held)] = holds[..] else { panic!("{kind}: {holds:?}") };
        assert_eq!(held, Duration::from_secs(2), "{kind}");
        assert!(bytes > 0, "{kind}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_verdict_can_end_the_stream() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        for (kind, mode) in everywhere() {
            let bytes = body(kind, mode, &input);
            for ending in [Ending::refuse("no"), Ending::error("no")] {
                for at in 0..2 {
                    for other in [1, 3] {
                        let verdict = Verdict::Terminate(ending.clone());
                        let policy = judged(When::Opened, move |call, ctx| {
                            let verdict = verdict.clone();
                            let ends = number(call) == at;
                            ctx.decide(call.key(), async move {
                                tokio::time::sleep(Duration::from_secs(if ends { 2 } else { other })).await;
                                Ok(if ends { verdict } else { Verdict::Release })
                            })?;
                            Ok(())
                        });
                        let out = run(quiet(kind).policy(policy), mode, bytes.clone()).await;
                        let what = format!("{shape:?}, {ending:?}, {at}, {other}");
                        // Nothing behind a held call has left, so that no finish has; a released first call is open
                        // on the wire of chat until something follows.
                        let seen = crate::kit::view(&what, kind, mode, &bytes, &out.bytes);
                        let calls: Vec<&str> = seen
                            .choices
                            .iter()
                            .flat_map(|choice| &choice.calls)
                            .map(|call| &*call.id)
                            .collect();
                        let released: &[&str] = match (at, other, mode) {
                            (1, 1, Mode::Streamed) => &["call_1"],
                            _ => &[],
                        };
                        if mode == Mode::Streamed && shape != Shape::OneChunk && shape != Shape::CallsTogether
                        {
                            assert_eq!(calls, released, "{what}, {kind}, {mode:?}:\n{}", out.text());
                        }
                        assert!(
                            matches!(seen.ended, Ended::Refused | Ended::Error),
                            "{what}, {kind}, {mode:?}"
                        );
                        if ending.kind() == stream_core::EndingKind::Error {
                            assert_ended(&what, kind, mode, &bytes, &out.bytes, Ended::Error);
                        }
                    }
                }
            }
        }
    }
}

/// Where arguments are a JSON value on the wire, a judge's replacement that is none drops the call (rule 25).
#[tokio::test(start_paused = true)]
async fn a_verdict_that_replaces_with_no_object_drops_the_call_where_it_has_to_be_one() {
    let input = Shape::Plain.turn(&[0, 1]);
    for (kind, mode) in everywhere() {
        let needs_object = stream_core::wire::named(kind.name()).unwrap().traits().arguments_are_json;
        let policy = judged(When::Complete, |call, ctx| {
            let first = number(call) == 0;
            ctx.decide(call.key(), async move {
                Ok(if first { Verdict::Replace(Replacement::arguments("[1]")) } else { Verdict::Release })
            })?;
            Ok(())
        });
        let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
        let expected = if needs_object {
            Shape::Plain.turn(&[1])
        } else {
            with_calls(Shape::Plain.turn(&[]).call("call_1", "read_file", "[1]"), &[1])
        };
        assert_says("replaced", kind, mode, &input, &out.bytes, &expected);
    }
}

/// How much was held when a stream was ended, and how long.
#[derive(Clone, Default)]
struct Holds(Arc<Mutex<Vec<(usize, Duration)>>>);

impl Observer for Holds {
    fn decision(&mut self, decision: &Decision) {
        if decision.action == Action::Terminated {
            self.0.lock().unwrap().push((decision.bytes, decision.held));
        }
    }
}

/// What was decided, and why.
type Decided = Vec<(Action, Option<String>)>;

/// Records what was decided.
struct Decisions(Arc<Mutex<Decided>>);

impl Observer for Decisions {
    fn decision(&mut self, decision: &Decision) {
        self.0.lock().unwrap().push((decision.action, decision.reason.clone()));
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_judge_did_is_recorded() {
    let input = Shape::Plain.turn(&[0]);
    let dropped = |reason: &str| vec![(Action::Dropped, Some(reason.to_owned()))];
    let cases = [
        (Judge::Release, vec![(Action::Released, None)]),
        (Judge::Drop, dropped("no")),
        (Judge::Replace, vec![(Action::Edited, None)]),
        (Judge::Err, dropped("the judge failed: no judge")),
        (Judge::Panic, dropped("the judge panicked")),
        (Judge::Hang, dropped("the judge took too long")),
    ];
    for (kind, mode) in everywhere() {
        for (judge, expected) in &cases {
            let decisions = Arc::new(Mutex::new(Vec::new()));
            let judge = *judge;
            let policy = judged(When::Complete, move |call, ctx| {
                ctx.decide(call.key(), judge.verdict(Duration::ZERO))?;
                Ok(())
            });
            let builder = quiet(kind).policy(policy).observer(Decisions(Arc::clone(&decisions)));
            run(builder, mode, body(kind, mode, &input)).await;
            assert_eq!(*decisions.lock().unwrap(), *expected, "{kind}, {mode:?}, {judge:?}");
        }
    }
}

/// A verdict over a call that has left comes too late: nothing is dropped, and the finish still tells of a call.
#[tokio::test]
async fn a_verdict_over_a_call_that_has_left_changes_nothing() {
    for (kind, mode) in everywhere() {
        let input = body(kind, mode, &with_calls(Script::new(), &[0]));
        let policy = hook(|chunk, state, ctx| {
            ctx.send(chunk);
            if let Some(block) = state.just_completed() {
                ctx.settle(block.key(), Verdict::drop("too late"))?;
            }
            Ok(())
        });
        let run = run(builder(kind).policy(policy), mode, input.clone()).await;
        assert_eq!(run.text(), String::from_utf8_lossy(&input), "{kind} {mode:?}");
    }
}
