//! What is rewritten leaves with the new words in every copy, and with its id.

use stream_core::{
    Channel, Chunk, ChunkKind, Context, EffectError, Replacement, StreamState, ToolCall, Verdict,
};
use stream_testkit::WireKind;

use crate::kit::{Mode, assert_says, body, builder, everywhere, run};
use crate::policies::{Did, at_calls, hook, is_content};
use crate::scripts::{AFTER, CALLS, Shape, TEXT, THOUGHT, has_text_after_calls, with_calls};

const OTHER: &str = r#"{"dry_run":true,"note":"größe \"x\""}"#;

#[tokio::test]
async fn each_call_can_be_given_other_arguments() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1, 2]);
        for (changed, (changed_id, ..)) in CALLS.into_iter().take(3).enumerate() {
            for (kind, mode) in everywhere() {
                let policy = at_calls(move |call, ctx| {
                    if call.id() == Some(changed_id) {
                        ctx.settle(call.key(), Verdict::Replace(Replacement::arguments(OTHER)))?;
                    } else {
                        ctx.settle(call.key(), Verdict::Release)?;
                    }
                    Ok(())
                });
                let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
                let expected = (0..3).fold(shape.turn(&[]), |script, call| {
                    let (id, name, arguments) = CALLS[call];
                    script.call(id, name, if call == changed { OTHER } else { arguments })
                });
                assert_says(&format!("{shape:?}, {changed}"), kind, mode, &input, &out.bytes, &expected);
            }
        }
    }
}

#[tokio::test]
async fn each_call_can_be_given_another_name_and_other_arguments() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        for (changed, (changed_id, ..)) in CALLS.into_iter().take(2).enumerate() {
            for (kind, mode) in everywhere() {
                let policy = at_calls(move |call, ctx| {
                    if call.id() == Some(changed_id) {
                        ctx.settle(
                            call.key(),
                            Verdict::Replace(Replacement::arguments(OTHER).named("other")),
                        )?;
                    } else {
                        ctx.settle(call.key(), Verdict::Release)?;
                    }
                    Ok(())
                });
                let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
                let expected = (0..2).fold(shape.turn(&[]), |script, call| match CALLS[call] {
                    (id, ..) if call == changed => script.call(id, "other", OTHER),
                    (id, name, arguments) => script.call(id, name, arguments),
                });
                assert_says(&format!("{shape:?}, {changed}"), kind, mode, &input, &out.bytes, &expected);
            }
        }
    }
}

/// One is dropped, its neighbour rewritten: numbers and copies are right for both.
#[tokio::test]
async fn a_call_behind_a_dropped_one_can_be_rewritten() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1, 2]);
        for (kind, mode) in everywhere() {
            let policy = at_calls(|call, ctx| {
                match call.name() {
                    "read_file" => ctx.settle(call.key(), Verdict::drop("discarded"))?,
                    "delete_file" => {
                        ctx.settle(call.key(), Verdict::Replace(Replacement::arguments(OTHER)))?;
                    }
                    _ => ctx.settle(call.key(), Verdict::Release)?,
                }
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            let expected = with_calls(shape.turn(&[]).call("call_2", "delete_file", OTHER), &[2]);
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

#[tokio::test]
async fn every_chunk_of_text_can_be_edited() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        let expected = with_calls(shape.script().reasoning(THOUGHT).text(TEXT.to_uppercase()), &[0, 1]);
        for (kind, mode) in everywhere() {
            let policy = hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
                if is_content(&chunk) {
                    let louder = chunk.text().unwrap_or_default().to_uppercase();
                    ctx.send(chunk.with_text(louder));
                } else {
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
async fn a_chunk_of_text_edited_to_nothing_leaves_the_rest() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0]);
        let kept: String = TEXT.chars().filter(|char| *char != 'e').collect();
        // A text of one chunk is emptied as a whole, and its block with it.
        for (kind, mode) in everywhere() {
            let policy = hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
                if is_content(&chunk) {
                    let shorter = chunk.text().unwrap_or_default().replace('e', "");
                    ctx.send(chunk.with_text(shorter));
                } else {
                    ctx.send(chunk);
                }
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            let expected = with_calls(shape.script().reasoning(THOUGHT).text(kept.clone()), &[0]);
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

/// The text of a block that was held is replaced as one piece when it is complete.
#[tokio::test]
async fn a_held_text_can_be_replaced() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        let expected = with_calls(shape.script().reasoning(THOUGHT).text("Nothing."), &[0, 1]);
        for (kind, mode) in everywhere() {
            let policy = hook(|chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
                let complete = state
                    .just_completed()
                    .filter(|block| block.channel() == Some(Channel::Content))
                    .map(stream_core::StreamBlock::key);
                if is_content(&chunk) {
                    ctx.buffer(chunk);
                } else {
                    ctx.send(chunk);
                }
                if let Some(key) = complete {
                    ctx.settle(key, Verdict::Replace(Replacement::text("Nothing.")))?;
                }
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

/// Fragments of arguments can be edited one by one, as they are sent.
#[tokio::test]
async fn fragments_of_arguments_can_be_edited() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0, 1]);
        let expected = shape.turn(&[]).call("call_1", "read_file", r#"{"path":"z.txt"}"#).call(
            "call_2",
            "delete_file",
            CALLS[1].2,
        );
        for (kind, mode) in everywhere() {
            let policy = hook(|chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
                let call = state.current_block().and_then(|block| block.as_tool_call());
                let so_far = call.filter(|call| call.id() == Some("call_1")).map(ToolCall::arguments);
                match (chunk.arguments().map(str::to_owned), so_far) {
                    // The letter is a fragment of its own in one shape, and within one in the others.
                    (Some(a), Some("{\"path\":\"a")) if a == "a" => ctx.send(chunk.with_arguments("z")),
                    (Some(all), Some(_)) => ctx.send(chunk.with_arguments(all.replace("a.txt", "z.txt"))),
                    _ => ctx.send(chunk),
                }
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

#[tokio::test]
async fn text_behind_calls_can_be_edited() {
    let input = Shape::Plain.turn(&[0]).text(AFTER);
    let expected = Shape::Plain.turn(&[0]).text("No.");
    for (kind, mode) in everywhere().filter(|(kind, _)| has_text_after_calls(*kind)) {
        if (kind, mode) == (WireKind::OpenAiChat, Mode::Whole) {
            // There it is one string with the text before.
            continue;
        }
        let policy = hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
            if chunk.text() == Some(AFTER) {
                ctx.send(chunk.with_text("No."));
            } else {
                ctx.send(chunk);
            }
            Ok(())
        });
        let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
        assert_says("behind", kind, mode, &input, &out.bytes, &expected);
    }
}

/// Rule 22: signed reasoning is never edited; its text goes, its signature stays.
#[tokio::test]
async fn edited_reasoning_is_emptied_where_it_is_signed() {
    for shape in Shape::ALL {
        let input = shape.turn(&[0]);
        for (kind, mode) in everywhere() {
            let policy = hook(|chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>| -> Did {
                if chunk.kind() == ChunkKind::Text(Channel::Reasoning) {
                    let other = format!("~{}", chunk.text().unwrap_or_default());
                    ctx.send(chunk.with_text(other));
                } else {
                    ctx.send(chunk);
                }
                Ok(())
            });
            let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
            let signed = kind == WireKind::AnthropicMessages || kind == WireKind::OpenAiResponses;
            let in_chars = shape == Shape::Chars && mode == Mode::Streamed;
            let thought: String = if in_chars {
                THOUGHT.chars().flat_map(|char| ['~', char]).collect()
            } else {
                format!("~{THOUGHT}")
            };
            let script = if signed { shape.script() } else { shape.script().reasoning(thought) };
            let expected = with_calls(script.text(TEXT), &[0]);
            assert_says(&format!("{shape:?}"), kind, mode, &input, &out.bytes, &expected);
        }
    }
}

/// Rule 25, and the errors that [`Context::settle`] documents.
#[tokio::test]
async fn replacements_that_cannot_be_are_errors() {
    let input = Shape::Chars.turn(&[0]);
    for (kind, mode) in everywhere() {
        let needs_object = stream_core::wire::named(kind.name()).unwrap().traits().arguments_are_json;
        let policy = at_calls(move |call, ctx| {
            let with = || Replacement::arguments("no JSON");
            if needs_object {
                assert_eq!(ctx.settle(call.key(), Verdict::Replace(with())), Err(EffectError::NotAnObject));
            }
            ctx.settle(call.key(), Verdict::Release)?;
            assert_eq!(ctx.settle(call.key(), Verdict::Replace(with())), Err(EffectError::AlreadyLeft));
            Ok(())
        });
        let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
        assert_eq!(out.bytes, body(kind, mode, &input));
    }
}
