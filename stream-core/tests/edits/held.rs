//! Chunks that are held leave one by one, as they came or edited, in their own places.

use std::collections::VecDeque;

use stream_core::{Action, Chunk, Context, Ending, Policy, Release, StreamState};
use stream_testkit::conformance::Ended;
use stream_testkit::{Finish, Fragments, Replay, Script, WireKind};

use crate::kit::{Mode, assert_ended, assert_says, body, builder, everywhere, run};
use crate::policies::{Did, hook, is_content};

/// Holds content until the next chunk of it has come, and hides the digits in it.
fn one_behind() -> impl Policy {
    let mut held = VecDeque::new();
    hook(move |chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
        let Some(key) = chunk.block().filter(|_| is_content(&chunk)) else {
            ctx.send(chunk);
            if state.just_completed().is_some() || state.is_terminal() {
                held.drain(..)
                    .for_each(|(key, text)| ctx.release(key, Release::first([text]).because("digits")));
            }
            return Ok(());
        };
        let text = chunk.text().unwrap_or_default();
        let hidden = text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        held.push_back((key, (hidden != text).then_some(hidden)));
        ctx.buffer(chunk);
        let keep = usize::from(state.just_completed().is_none());
        while held.len() > keep {
            let (key, text) = held.pop_front().unwrap();
            ctx.release(key, Release::first([text]).because("digits"));
        }
        Ok(())
    })
}

fn said(text: &str) -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(1))
        .reasoning("Hm.")
        .text(text)
        .call("call_1", "read_file", "{}")
        .usage(1, 2)
}

#[tokio::test]
async fn held_chunks_leave_edited_in_their_places_and_in_every_copy() {
    let input = said("a1b22cé3");
    for (kind, mode) in everywhere() {
        let out = run(builder(kind).policy(one_behind()), mode, body(kind, mode, &input)).await;
        assert_says("digits", kind, mode, &input, &out.bytes, &said("abcé"));
    }
}

#[tokio::test]
async fn held_chunks_that_leave_as_they_came_are_the_upstreams_bytes() {
    let input = said("abc");
    for (kind, mode) in everywhere() {
        let out = run(builder(kind).policy(one_behind()), mode, body(kind, mode, &input)).await;
        assert_eq!(out.bytes, body(kind, mode, &input), "{kind}, {mode:?}");
    }
}

#[test]
fn only_edits_of_held_chunks_are_recorded_with_their_reason() {
    let log = said("ab1c").to_log(WireKind::OpenAiChat);
    let replayed = Replay::new(&log).policy(one_behind).run();
    let told: Vec<_> = replayed.decisions.iter().map(|d| (d.action, d.reason.as_deref())).collect();
    assert_eq!(told, [(Action::Edited, Some("digits"))]);
}

#[tokio::test]
async fn a_text_can_be_cut_with_what_was_sent_behind_it() {
    let input = Script::new().text("keep drop").call("call_1", "read_file", "{}").usage(1, 2);
    for (kind, mode) in everywhere() {
        let mut text = None;
        let policy = hook(move |chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
            match (chunk.block(), text) {
                (Some(key), None) if is_content(&chunk) => {
                    text = Some(key);
                    ctx.buffer(chunk);
                }
                _ => ctx.send(chunk),
            }
            if let Some(key) = text.filter(|_| state.is_terminal() || state.finish_reason().is_some()) {
                ctx.release(key, Release::first([Some("keep".to_owned())]));
                ctx.release(key, Release::first([]).and_cut());
            }
            Ok(())
        });
        let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
        let expected = Script::new().text("keep").finish(Finish::Stop).usage(1, 2);
        assert_says("cut", kind, mode, &input, &out.bytes, &expected);
    }
}

#[tokio::test]
async fn an_ending_takes_the_place_of_the_upstreams_that_waited_behind_held_text() {
    let input = Script::new().text("keep drop");
    for kind in WireKind::ALL {
        let mut text = None;
        let policy = hook(move |chunk: Chunk, state: &StreamState, ctx: &mut Context<'_>| -> Did {
            match chunk.block() {
                Some(key) if is_content(&chunk) => {
                    text = Some(key);
                    ctx.buffer(chunk);
                }
                _ => ctx.send(chunk),
            }
            if let Some(key) = text.filter(|_| state.is_terminal() || state.finish_reason().is_some()) {
                ctx.release(key, Release::first([Some("keep".to_owned())]));
                ctx.terminate(Ending::refuse("no"));
            }
            Ok(())
        });
        let mode = Mode::Streamed;
        let out = run(builder(kind).policy(policy), mode, body(kind, mode, &input)).await;
        let seen = assert_ended("refused", kind, mode, &body(kind, mode, &input), &out.bytes, Ended::Refused);
        assert_eq!(seen.choices[0].content, "keep", "{kind}");
    }
}
