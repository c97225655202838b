//! What is dropped is gone, and the rest is as if it had never been there.

use stream_core::{Chunk, Context, StreamState, Verdict};
use stream_testkit::Script;

use crate::kit::{assert_says, assert_says_in, body, builder, everywhere, run};
use crate::policies::{Did, at_calls, hook, is_content};
use crate::scripts::{AFTER, CALLS, Shape, TEXT, THOUGHT, has_text_after_calls, with_calls};

const NOTICE: &str = "[withheld by policy]";

#[tokio::test]
async fn any_of_three_calls_can_be_dropped() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1, 2]);
        for dropped in 0..1 << 3 {
            let kept: Vec<usize> = (0..3).filter(|call| dropped & 1 << call == 0).collect();
            for (kind, mode) in everywhere() {
                let policy = at_calls(move |call, ctx| {
                    let number = CALLS.iter().position(|(id, ..)| call.id() == Some(id)).unwrap();
                    if dropped & 1 << number != 0 {
                        ctx.settle(call.key(), Verdict::drop("discarded"))?;
                    } else {
                        ctx.settle(call.key(), Verdict::Release)?;
                    }
                    Ok(())
                });
                let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
                let what = format!("{shape:?}, kept {kept:?}");
                assert_says(&what, kind, mode, &input, &out.bytes, &shape.turn(&kept));
                if dropped == 0 {
                    assert_eq!(out.bytes, body(kind, mode, &input), "{what}, {kind}, {mode:?}");
                }
            }
        }
    }
}

/// A payload step that the hook neither sent, buffered nor decided is discarded (rule 10): no step of the call is held.
#[tokio::test]
async fn a_call_that_is_never_held_is_dropped_as_it_comes() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        for (dropped, (id, ..)) in CALLS.into_iter().take(2).enumerate() {
            for (kind, mode) in everywhere() {
                let policy = hook(move |chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
                    let call = state.current_block().and_then(|block| block.as_tool_call());
                    if call.is_none_or(|call| call.id() != Some(id)) {
                        ctx.send(chunk);
                    }
                    Ok(())
                });
                let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
                let what = format!("{shape:?}, dropped {dropped}");
                assert_says(&what, kind, mode, &input, &out.bytes, &shape.turn(&[1 - dropped]));
            }
        }
    }
}

#[tokio::test]
async fn text_can_be_dropped_and_the_calls_stay() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        let expected = with_calls(shape.script().reasoning(THOUGHT), &[0, 1]);
        for (kind, mode) in everywhere() {
            let policy = hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
                if !is_content(&chunk) {
                    ctx.send(chunk);
                }
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

/// Rule 22: signed thinking keeps its frame and signature, without text.
#[tokio::test]
async fn reasoning_can_be_dropped_and_all_else_stays() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        let expected = with_calls(shape.script().text(TEXT), &[0, 1]);
        for (kind, mode) in everywhere() {
            let policy = hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
                if chunk.kind() != stream_core::ChunkKind::Text(stream_core::Channel::Reasoning) {
                    ctx.send(chunk);
                }
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

#[tokio::test]
async fn text_behind_calls_can_be_dropped_alone_and_stays_when_the_calls_go() {
    for shape in [Shape::Plain, Shape::Chars] {
        let input = shape.turn(&[0, 1]).text(AFTER);
        for (kind, mode) in everywhere().filter(|(kind, _)| has_text_after_calls(*kind)) {
            let no_calls = at_calls(|call, ctx| {
                ctx.settle(call.key(), Verdict::drop("discarded"))?;
                Ok(())
            });
            let out = run(builder(kind).policy(no_calls), mode, body(kind, mode, &input)).await;
            let expected = shape.turn(&[]).text(AFTER);
            assert_says(&format!("{shape:?}, calls"), kind, mode, &input, &out.bytes, &expected);

            let no_text = hook(|chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
                if !is_content(&chunk) || state.tool_calls().next().is_none() {
                    ctx.send(chunk);
                }
                Ok(())
            });
            let out = run(builder(kind).policy(no_text), mode, body(kind, mode, &input)).await;
            let expected = shape.turn(&[0, 1]);
            if mode == crate::kit::Mode::Whole && kind == stream_testkit::WireKind::OpenAiChat {
                // The text of a whole chat answer is one string, before the calls.
                continue;
            }
            assert_says(&format!("{shape:?}, text"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

/// Rule 21: a notice stands in for an answer of which everything was dropped.
#[tokio::test]
async fn a_turn_of_which_everything_was_dropped_says_so() {
    let nothing = || hook(|_: Chunk, _: &StreamState, _: &mut Context<'_>| -> Did { Ok(()) });
    for shape in Shape::ALL {
        let inputs = [
            shape.script().text(TEXT),
            with_calls(shape.script(), &[0]),
            with_calls(shape.script(), &[0, 1]),
            with_calls(shape.script().text(TEXT), &[0, 1]),
            shape.turn(&[0, 1]),
        ];
        let expected = Shape::Plain.script().text(NOTICE);
        for (number, input) in inputs.iter().enumerate() {
            for (kind, mode) in everywhere() {
                let out = run(builder(kind).policy(nothing()), mode, body(kind, mode, input)).await;
                assert_says(&format!("{shape:?}, {number}"), kind, mode, input, &out.bytes, &expected);
            }
        }
    }
}

#[tokio::test]
async fn each_choice_loses_its_own_calls() {
    use stream_testkit::WireKind::{Gemini, OpenAiChat};
    let turn = |first: &[usize], second: &[usize]| {
        let script = with_calls(Script::new().usage(3, 4).text("one"), first);
        with_calls(script.choice(1).text("two"), second)
    };
    for interleaved in [false, true] {
        let shape = |script: Script| if interleaved { script.interleaved() } else { script };
        let input = shape(turn(&[0, 1], &[2, 1]));
        for (kind, mode) in everywhere().filter(|(kind, _)| matches!(kind, OpenAiChat | Gemini)) {
            for id in ["call_1", "call_2", "call_3"] {
                let policy = at_calls(move |call, ctx| {
                    if call.id() == Some(id) {
                        ctx.settle(call.key(), Verdict::drop("discarded"))?;
                    } else {
                        ctx.settle(call.key(), Verdict::Release)?;
                    }
                    Ok(())
                });
                let keep = |calls: &[usize]| -> Vec<usize> {
                    calls.iter().copied().filter(|call| CALLS[*call].0 != id).collect()
                };
                let config = crate::kit::config(kind).interleaved_calls(interleaved);
                let builder = builder(kind).config(config.clone()).policy(policy);
                let out = run(builder, mode, body(kind, mode, &input)).await;
                let expected = turn(&keep(&[0, 1]), &keep(&[2, 1]));
                let what = format!("{id}, {interleaved}");
                assert_says_in(&config, &what, kind, mode, &input, &out.bytes, &expected);
            }
        }
    }
}
