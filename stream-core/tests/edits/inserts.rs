//! Text can be put anywhere but behind a call that the format closes with (rule 21).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use stream_core::{Chunk, Context, EffectError, End, Policy, StreamState, Verdict, async_trait};
use stream_testkit::WireKind;

use crate::kit::{Mode, assert_says, body, builder, everywhere, fold, run, view};
use crate::policies::{Did, hook, is_content};
use crate::scripts::{AFTER, Shape, TEXT, THOUGHT, has_text_after_calls, with_calls};

const MORE: &str = "[checked]";

/// Inserts before the first payload, and sends everything.
#[tokio::test]
async fn text_can_be_put_before_everything() {
    for shape in Shape::ALL {
        let inputs = [
            (shape.script().text(TEXT), shape.script().text(format!("{MORE}{TEXT}"))),
            (with_calls(shape.script(), &[0, 1]), with_calls(shape.script().text(MORE), &[0, 1])),
        ];
        for (number, (input, expected)) in inputs.iter().enumerate() {
            for (kind, mode) in everywhere() {
                let mut done = false;
                let policy = hook(move |chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
                    if chunk.is_payload() && !std::mem::replace(&mut done, true) {
                        ctx.insert(MORE)?;
                    }
                    ctx.send(chunk);
                    Ok(())
                });
                let out = run(builder(kind).policy(policy), mode, body(kind, mode, input)).await;
                assert_says(&format!("{shape:?}, {number}"), kind, mode, input, &out.bytes, expected);
            }
        }
    }
}

#[tokio::test]
async fn text_can_be_put_between_text_and_calls() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        let expected = with_calls(shape.script().reasoning(THOUGHT).text(format!("{TEXT}{MORE}")), &[0, 1]);
        for (kind, mode) in everywhere() {
            let mut done = false;
            let policy = hook(move |chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
                if chunk.is_tool_call() && !std::mem::replace(&mut done, true) {
                    ctx.insert(MORE)?;
                }
                ctx.send(chunk);
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

/// Within a text: behind its first chunk.
#[tokio::test]
async fn text_can_be_put_inside_of_a_text() {
    let shape = Shape::Chars;
    let input = shape.turn(&[0]);
    for (kind, mode) in everywhere() {
        let mut done = false;
        let policy = hook(move |chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
            let content = is_content(&chunk);
            ctx.send(chunk);
            if content && !std::mem::replace(&mut done, true) {
                ctx.insert(MORE)?;
            }
            Ok(())
        });
        let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
        let (first, rest) = match mode {
            Mode::Streamed => TEXT.split_at(1),
            Mode::Whole => (TEXT, ""),
        };
        let text = format!("{first}{MORE}{rest}");
        let expected = with_calls(shape.script().reasoning(THOUGHT).text(text), &[0]);
        assert_says("inside", kind, mode, &input, &out.bytes, &expected);
    }
}

/// Behind a call there is a place for text in all formats but Anthropic's.
#[tokio::test]
async fn text_behind_a_call_has_a_place_or_is_refused() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        for (kind, mode) in everywhere() {
            let answers = Arc::new(Mutex::new(Vec::new()));
            let seen = Arc::clone(&answers);
            let policy = hook(move |chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
                let complete = state.just_completed().and_then(|block| block.as_tool_call());
                if complete.is_some_and(|call| call.id() == Some("call_2")) {
                    seen.lock().unwrap().push(ctx.insert(MORE));
                }
                ctx.send(chunk);
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            let what = format!("{shape:?}");
            if has_text_after_calls(kind) {
                assert_eq!(*answers.lock().unwrap(), [Ok(())], "{what}, {kind}, {mode:?}");
                let expected = match (kind, mode) {
                    // There is one string, before the calls.
                    (WireKind::OpenAiChat, Mode::Whole) => {
                        with_calls(shape.script().reasoning(THOUGHT).text(format!("{TEXT}{MORE}")), &[0, 1])
                    }
                    _ => shape.turn(&[0, 1]).text(MORE),
                };
                let seen = view(&what, kind, mode, &body(kind, mode, &input), &out.bytes);
                assert_eq!(seen.choices[0].content, format!("{TEXT}{MORE}"), "{what}, {kind}, {mode:?}");
                if shape != Shape::OneChunk {
                    assert_says(&what, kind, mode, &input, &out.bytes, &expected);
                }
            } else {
                assert_eq!(*answers.lock().unwrap(), [Err(EffectError::NoPlace)], "{what}, {kind}, {mode:?}");
                assert_eq!(out.bytes, body(kind, mode, &input), "{what}, {kind}, {mode:?}");
            }
        }
    }
}

/// All calls were dropped: there is a place again, in every format.
#[tokio::test]
async fn text_can_take_the_place_of_dropped_calls() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        let expected = shape.script().reasoning(THOUGHT).text(format!("{TEXT}{MORE}{MORE}"));
        for (kind, mode) in everywhere() {
            let policy = hook(move |chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
                if let Some(call) = state.just_completed().and_then(|block| block.as_tool_call()) {
                    ctx.insert(MORE)?;
                    ctx.settle(call.key(), Verdict::drop("discarded"))?;
                } else if !chunk.is_tool_call() {
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
async fn text_can_be_put_behind_a_text_that_ends_the_turn() {
    for shape in Shape::ALL {
        let input = shape.script().reasoning(THOUGHT).text(TEXT);
        let expected = shape.script().reasoning(THOUGHT).text(format!("{TEXT}{MORE}"));
        for (kind, mode) in everywhere() {
            let policy = hook(move |chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
                let complete = state.just_completed();
                ctx.send(chunk);
                if complete.is_some_and(|block| matches!(block, stream_core::StreamBlock::Content(_))) {
                    ctx.insert(MORE)?;
                }
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

/// Inserts one text, at this step.
struct InsertAt {
    step: usize,
    at: usize,
    answer: Arc<Mutex<Option<Result<(), EffectError>>>>,
    steps: Arc<AtomicUsize>,
}

impl InsertAt {
    fn step(&mut self, ctx: &mut Context<'_>) {
        if self.step == self.at {
            *self.answer.lock().unwrap() = Some(ctx.insert(MORE));
        }
        self.step += 1;
        self.steps.store(self.step, Ordering::SeqCst);
    }
}

#[async_trait]
impl Policy for InsertAt {
    async fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        self.step(ctx);
        ctx.send(chunk);
        Ok(())
    }

    async fn on_end(&mut self, _: End, _: &StreamState, ctx: &mut Context<'_>) -> Did {
        self.step(ctx);
        Ok(())
    }
}

/// Wherever `insert` says that there is a place, the text is there, once, and the answer is valid; where it says
/// that there is none, nothing changes.
#[tokio::test]
async fn at_every_step_text_is_inserted_once_or_refused() {
    for shape in Shape::ALL {
        let turn = shape.turn(&[0, 1]);
        let only_text = shape.script().text(TEXT);
        for (kind, mode) in everywhere() {
            let mut inputs = vec![turn.clone(), only_text.clone()];
            if has_text_after_calls(kind) {
                inputs.push(shape.turn(&[0]).text(AFTER));
            }
            for (number, input) in inputs.iter().enumerate() {
                let bytes = body(kind, mode, input);
                let mut at = 0;
                loop {
                    let answer = Arc::new(Mutex::new(None));
                    let steps = Arc::new(AtomicUsize::new(0));
                    let policy = InsertAt { step: 0, at, answer: answer.clone(), steps: steps.clone() };
                    let out = run(builder(kind).policy(policy), mode, bytes.clone()).await;
                    let what = format!("{shape:?}, input {number}, step {at}");
                    let answer = answer.lock().unwrap().take();
                    if answer == Some(Ok(())) {
                        let before = view(&what, kind, mode, &bytes, &bytes);
                        let mut after = view(&what, kind, mode, &bytes, &out.bytes);
                        let content = after.choices[0].content.clone();
                        assert_eq!(
                            content.matches(MORE).count(),
                            1,
                            "{what}, {kind}, {mode:?}:\n{}",
                            out.text()
                        );
                        after.choices[0].content = content.replacen(MORE, "", 1);
                        assert_eq!(after, before, "{what}, {kind}, {mode:?}:\n{}", out.text());
                        assert_eq!(fold(mode, &out.bytes).usage, fold(mode, &bytes).usage);
                    } else {
                        assert_eq!(out.bytes, bytes, "{what}, {kind}, {mode:?}: {answer:?}");
                    }
                    at += 1;
                    if at >= steps.load(Ordering::SeqCst) {
                        break;
                    }
                }
            }
        }
    }
}
