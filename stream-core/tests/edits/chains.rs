//! Policies behind each other: the output of one is the input of the next (rule 15).

use std::sync::{Arc, Mutex};

use stream_core::{
    BuildError, Chunk, Context, End, Ending, Needs, Policy, Replacement, Request, StreamProcessor,
    StreamState, Verdict, async_trait,
};
use stream_testkit::conformance::Ended;

use crate::kit::{assert_ended, assert_says, body, builder, everywhere, run};
use crate::policies::{Did, at_calls, counted, hook, send_all, text_only};
use crate::scripts::{Shape, TEXT, THOUGHT, with_calls};

/// What a policy saw of complete calls: name and arguments; and the end.
type Saw = Arc<Mutex<Vec<(String, String)>>>;

/// Sends everything, and remembers the complete calls.
fn witness() -> (impl Policy + 'static, Saw) {
    let saw = Saw::default();
    let seen = Arc::clone(&saw);
    let policy = hook(move |chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
        if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
            seen.lock().unwrap().push((call.name().to_owned(), call.arguments().to_owned()));
        }
        ctx.send(chunk);
        Ok(())
    });
    (policy, saw)
}

fn named(calls: &[(&str, &str)]) -> Vec<(String, String)> {
    calls.iter().map(|(name, arguments)| ((*name).to_owned(), (*arguments).to_owned())).collect()
}

#[tokio::test]
async fn a_call_that_one_policy_drops_is_not_seen_by_the_next() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1, 2]);
        for (kind, mode) in everywhere() {
            let dropper = at_calls(|call, ctx| {
                if call.name() == "delete_file" {
                    ctx.settle(call.key(), Verdict::drop("discarded"))?;
                } else {
                    ctx.settle(call.key(), Verdict::Release)?;
                }
                Ok(())
            });
            let (witness, saw) = witness();
            let chain = builder(kind).policy(dropper).policy(witness);
            let out = run(chain, mode, body(kind, mode, &input)).await;
            let what = format!("{shape:?}");
            assert_says(&what, kind, mode, &input, &out.bytes, &shape.turn(&[0, 2]));
            let expected = named(&[("read_file", r#"{"path":"a.txt"}"#), ("list", "{}")]);
            assert_eq!(*saw.lock().unwrap(), expected, "{what}, {kind}, {mode:?}");
        }
    }
}

#[tokio::test]
async fn a_replacement_is_what_the_next_policy_sees() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        for (kind, mode) in everywhere() {
            let first = at_calls(|call, ctx| {
                ctx.settle(
                    call.key(),
                    Verdict::Replace(Replacement::arguments(r#"{"a":1}"#).named("other")),
                )?;
                Ok(())
            });
            let (witness, saw) = witness();
            let second = at_calls(|call, ctx| {
                if call.id() == Some("call_1") {
                    ctx.settle(call.key(), Verdict::drop("discarded"))?;
                } else {
                    ctx.settle(call.key(), Verdict::Replace(Replacement::arguments(r#"{"b":2}"#)))?;
                }
                Ok(())
            });
            let chain = builder(kind).policy(first).policy(witness).policy(second);
            let out = run(chain, mode, body(kind, mode, &input)).await;
            let what = format!("{shape:?}");
            let expected = shape.turn(&[]).call("call_2", "other", r#"{"b":2}"#);
            assert_says(&what, kind, mode, &input, &out.bytes, &expected);
            let expected = named(&[("other", r#"{"a":1}"#), ("other", r#"{"a":1}"#)]);
            assert_eq!(*saw.lock().unwrap(), expected, "{what}, {kind}, {mode:?}");
        }
    }
}

#[tokio::test]
async fn text_is_edited_by_one_and_again_by_the_next() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0]);
        let expected =
            with_calls(shape.script().reasoning(THOUGHT).text(TEXT.to_uppercase().replace('E', "3")), &[0]);
        for (kind, mode) in everywhere() {
            let edit = |with: fn(&str) -> String| {
                hook(move |chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
                    if crate::policies::is_content(&chunk) {
                        let text = with(chunk.text().unwrap_or_default());
                        ctx.send(chunk.with_text(text));
                    } else {
                        ctx.send(chunk);
                    }
                    Ok(())
                })
            };
            let chain =
                builder(kind).policy(edit(str::to_uppercase)).policy(edit(|text| text.replace('E', "3")));
            let out = run(chain, mode, body(kind, mode, &input)).await;
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

#[tokio::test]
async fn a_stream_that_no_policy_of_a_chain_touches_leaves_as_it_came() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        for (kind, mode) in everywhere() {
            let release = || {
                at_calls(|call, ctx| {
                    ctx.settle(call.key(), Verdict::Release)?;
                    Ok(())
                })
            };
            let chain = builder(kind).policy(release()).policy(send_all()).policy(release());
            let bytes = body(kind, mode, &input);
            let out = run(chain, mode, bytes.clone()).await;
            assert_eq!(out.bytes, bytes, "{shape:?}, {kind}, {mode:?}");
        }
    }
}

/// Counts the ends it is told.
struct Witness(Arc<Mutex<Vec<End>>>);

#[async_trait]
impl Policy for Witness {
    async fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.send(chunk);
        Ok(())
    }

    async fn on_end(&mut self, end: End, _: &StreamState, _: &mut Context<'_>) -> Did {
        self.0.lock().unwrap().push(end);
        Ok(())
    }
}

/// Ends the stream at the first call.
fn terminator() -> impl Policy + 'static {
    hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
        if chunk.is_tool_call() {
            ctx.terminate(Ending::refuse("no calls"));
        } else {
            ctx.send(chunk);
        }
        Ok(())
    })
}

/// Terminate in a stage: later ones see `on_end`, earlier ones `on_abort`.
#[tokio::test]
async fn a_policy_that_ends_the_stream_aborts_those_before_and_ends_those_behind() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        for (kind, mode) in everywhere() {
            let bytes = body(kind, mode, &input);
            for at in 0..2 {
                let ends = Arc::new(Mutex::new(Vec::new()));
                let (witness, seen) = counted(Witness(Arc::clone(&ends)));
                let (ender, ended) = counted(terminator());
                let chain = match at {
                    0 => builder(kind).policy(ender).policy(witness),
                    _ => builder(kind).policy(witness).policy(ender),
                };
                let out = run(chain, mode, bytes.clone()).await;
                let what = format!("{shape:?}, {at}");
                assert_ended(&what, kind, mode, &bytes, &out.bytes, Ended::Refused);
                let (_, ends_called, aborts) = seen.counts();
                let expected = if at == 0 { (1, 0) } else { (0, 1) };
                assert_eq!((ends_called, aborts), expected, "{what}, {kind}, {mode:?}");
                let (_, ends_called, aborts) = ended.counts();
                assert_eq!((ends_called, aborts), (0, 0), "{what}, {kind}, {mode:?}");
                if at == 0 {
                    let told = End::Terminated(Ending::refuse("no calls"));
                    assert_eq!(*ends.lock().unwrap(), [told], "{what}, {kind}, {mode:?}");
                }
            }
        }
    }
}

/// A policy behind that fails, or that the stream outlives, is told once.
#[tokio::test]
async fn each_policy_of_a_finished_stream_is_told_the_end_once() {
    let input = Shape::Plain.turn(&[0, 1]);
    for (kind, mode) in everywhere() {
        let (one, first) = counted(send_all());
        let (two, second) = counted(send_all());
        run(builder(kind).policy(one).policy(two), mode, body(kind, mode, &input)).await;
        for calls in [first, second] {
            let (_, ends, aborts) = calls.counts();
            assert_eq!((ends, aborts), (1, 0), "{kind}, {mode:?}");
        }
    }
}

/// Turns calls into text, it says.
struct Hider;

#[async_trait]
impl Policy for Hider {
    fn name(&self) -> &str {
        "hider"
    }

    fn needs(&self, _: &Request) -> Needs {
        Needs::everything().hides_calls()
    }

    async fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        ctx.send(chunk);
        Ok(())
    }
}

#[tokio::test]
async fn a_policy_that_would_see_no_calls_is_refused_when_the_chain_is_built() {
    let nothing = || futures::stream::empty::<Result<bytes::Bytes, std::convert::Infallible>>();
    let blind = StreamProcessor::builder().policy(Hider).policy(text_only()).policy(send_all());
    let expected = BuildError::BlindPolicy { hider: "hider".into(), blind: "hook".into() };
    assert_eq!(blind.build(nothing()).err(), Some(expected.clone()));
    let blind = StreamProcessor::builder().policy(Hider).policy(send_all());
    assert_eq!(blind.whole("{}").await.err(), Some(expected));
    let fine = StreamProcessor::builder().policy(send_all()).policy(Hider).policy(text_only());
    assert!(fine.build(nothing()).is_ok());
    let many = (0..65).fold(StreamProcessor::builder(), |builder, _| builder.policy(send_all()));
    assert_eq!(many.build(nothing()).err(), Some(BuildError::TooMany { limit: 64, found: 65 }));
}
