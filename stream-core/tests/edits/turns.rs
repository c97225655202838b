//! Deltas of several calls that take turns.

use std::sync::{Arc, Mutex};

use stream_core::{ErrorKind, StreamBlock};
use stream_testkit::conformance::Ended;
use stream_testkit::{WireKind, models};

use crate::kit::{Mode, assert_ended, assert_says, builder, run};
use crate::odd::{call, chat, chat_run, interleaved, more, without};
use crate::policies::{hook, send_all, text_only};

/// Rules 2 and 5: deltas of several calls may take turns, and nothing has to be allowed for it.
#[tokio::test]
async fn calls_that_take_turns_are_judged_one_by_one_in_every_format() {
    let input = interleaved(&[0, 1, 2]);
    for kind in WireKind::ALL {
        for (dropped, kept) in
            [("none", &[0, 1, 2][..]), ("read_file", &[1, 2]), ("delete_file", &[0, 2]), ("list", &[0, 1])]
        {
            let out = run(builder(kind).policy(without(dropped)), Mode::Streamed, input.bytes(kind)).await;
            assert_eq!(out.error(), None, "{kind}");
            assert_says(dropped, kind, Mode::Streamed, &input, &out.bytes, &interleaved(kept));
            // Chat calls leave one behind the other (rule 28).
            if dropped == "none" && kind != WireKind::OpenAiChat {
                assert_eq!(out.bytes, input.bytes(kind), "{kind}");
            }
        }
        let out =
            run(builder(kind).policy(stream_core::Passthrough), Mode::Streamed, input.bytes(kind)).await;
        assert_eq!((out.error(), &out.bytes[..]), (None, &input.bytes(kind)[..]), "{kind}");
    }
}

/// When each call completes, by the step of the stream: its name, and whether the finish had come by then.
async fn completions(frames: &[&str]) -> Vec<(String, String)> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (record, bytes) = (Arc::clone(&seen), chat(frames, "tool_calls"));
    let policy = hook(move |chunk, state, ctx| {
        let mut seen = record.lock().unwrap();
        if let Some(call) = state.just_completed().and_then(StreamBlock::as_tool_call) {
            seen.push((call.name().to_owned(), call.arguments().to_owned()));
        } else if let Some(text) = chunk.text() {
            seen.push(("text".to_owned(), text.to_owned()));
        } else if let (Some(arguments), Some(call)) =
            (chunk.arguments(), state.current_block().and_then(StreamBlock::as_tool_call))
        {
            seen.push((format!("more of {}", call.name()), arguments.to_owned()));
        }
        ctx.send(chunk);
        Ok(())
    });
    let out = chat_run(policy, &bytes).await;
    assert_eq!(out.error(), None);
    let seen = seen.lock().unwrap().clone();
    // Rule 28: calls leave one behind the other, so that every client reads the calls that were judged.
    let mut judged: Vec<_> = seen.iter().filter(|(name, _)| is_call(name)).cloned().collect();
    for model in models::of(WireKind::OpenAiChat) {
        let calls = model.read(&out.bytes).calls.into_iter().map(|call| (call.name, call.arguments));
        let mut calls: Vec<_> = calls.collect();
        calls.sort();
        judged.sort();
        assert_eq!(calls, judged, "{}", model.name());
    }
    seen
}

fn is_call(name: &str) -> bool {
    name != "text" && !name.starts_with("more of")
}

/// Rule 2: a call that is whole is judged while the next one streams; one that is not, at the finish.
#[tokio::test]
async fn a_chat_call_completes_when_another_block_starts_if_it_is_whole_by_then() {
    let pair = |name: &str, what: &str| (name.to_owned(), what.to_owned());
    assert_eq!(
        completions(&[&call(0, "a", "one", "{\"x\":1}"), &call(1, "b", "two", "{\"y\":"), &more(1, "2}")])
            .await,
        [
            pair("more of one", "{\"x\":1}"),
            pair("one", "{\"x\":1}"),
            pair("more of two", "{\"y\":"),
            pair("more of two", "2}"),
            pair("two", "{\"y\":2}"),
        ]
    );
    // Not whole when the second starts, whole when the third does.
    assert_eq!(
        completions(&[
            &call(0, "a", "one", "{"),
            &call(1, "b", "two", "{"),
            &more(0, "}"),
            &more(1, "\"y\":"),
            &call(2, "c", "three", "{}"),
            &more(1, "2}"),
        ])
        .await,
        [
            pair("more of one", "{"),
            pair("more of two", "{"),
            pair("more of one", "}"),
            pair("more of two", "\"y\":"),
            pair("one", "{}"),
            pair("more of three", "{}"),
            pair("more of two", "2}"),
            pair("two", "{\"y\":2}"),
            pair("three", "{}"),
        ]
    );
}

/// Rule 2: the input of a custom tool is free text, which is whole at any time.
#[tokio::test]
async fn a_call_of_a_custom_tool_completes_at_the_start_of_the_next_block() {
    let custom =
        r#"{"tool_calls":[{"index":0,"id":"a","type":"custom","custom":{"name":"patch","input":"{ half"}}]}"#;
    let seen = completions(&[custom, &call(1, "b", "two", "{}")]).await;
    let names: Vec<&str> = seen.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["more of patch", "patch", "more of two", "two"]);
}

/// Rule 5: a delta behind a completion closes the stream if a policy looked at the call; if nobody did, it passes.
#[tokio::test]
async fn a_late_delta_closes_the_stream_only_for_a_policy_that_looked_at_the_call() {
    let bytes = chat(
        &[&call(0, "a", "one", "{}"), &call(1, "b", "two", "{\"y\":"), &more(0, "{}"), &more(1, "2}")],
        "tool_calls",
    );
    for out in [chat_run(without("none"), &bytes).await, chat_run(send_all(), &bytes).await] {
        assert_eq!(out.error(), Some(ErrorKind::LateDelta));
        assert_ended("late", WireKind::OpenAiChat, Mode::Streamed, &bytes, &out.bytes, Ended::Error);
    }
    let out = chat_run(stream_core::Passthrough, &bytes).await;
    assert_eq!((out.error(), &out.bytes[..]), (None, &bytes[..]));
    let out = chat_run(text_only(), &bytes).await;
    assert_eq!((out.error(), &out.bytes[..]), (None, &bytes[..]));
}
