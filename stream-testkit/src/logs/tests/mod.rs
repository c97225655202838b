mod anthropic;
mod chat;
mod gemini;
mod quirks;
mod responses;
mod seen;

use bytes::Bytes;
use stream_core::{Config, Request, policy_fn};

use super::*;
use crate::Replay;
use crate::conformance::{CallView, Ended, check};
use crate::models::{self, Call, CallKind, Reading, Said};

#[test]
fn there_are_enough_logs_of_every_api() {
    let own = own().unwrap();
    assert!(own.len() >= 60);
    for kind in WireKind::ALL {
        assert!(own.iter().filter(|log| log.kind() == kind).count() >= 15, "{kind}");
    }
}

/// What reaches a client: a stream that is not plain is written anew under a policy.
fn sent(own: &OwnLog) -> Bytes {
    if !own.expected().normalised {
        return own.log().bytes().clone();
    }
    let choices = u32::try_from(own.expected().choices.len() + 1).unwrap();
    let config = Config::default().request(Request::new().choices(choices));
    let send = || {
        policy_fn(|chunk, _, ctx| {
            ctx.send(chunk);
            Ok(())
        })
    };
    Replay::new(own.log()).config(config).policy(send).run().bytes()
}

/// What is written beside a log is what a strict client ends up with.
#[test]
fn a_strict_client_ends_up_with_what_is_written_beside_each_log() {
    let mut wrong = String::new();
    for own in own().unwrap() {
        let view = check(own.kind(), &sent(&own)).view().clone();
        let first = view.choices.first().cloned().unwrap_or_default();
        let expected = own.expected();
        let others = view.choices.iter().skip(1).enumerate().map(|(at, choice)| ExpectedChoice {
            index: choice.index,
            content: choice.content.clone(),
            calls: calls(&choice.calls, expected.choices.get(at).map_or(&[], |choice| &choice.calls)),
            finish: choice.finish.clone(),
        });
        let found = Expected {
            content: first.content,
            reasoning: first.reasoning,
            refusal: first.refusal,
            calls: calls(&first.calls, &expected.calls),
            finish: first.finish,
            error: view.ended == Ended::Error,
            server: expected.server.clone(),
            spoken: first.spoken,
            choices: others.collect(),
            normalised: expected.normalised,
        };
        if found != *expected {
            wrong.push_str(&format!("{}/{}: {found:?}\n  expected {expected:?}\n", own.kind(), own.name()));
        }
    }
    assert_eq!(wrong, "");
}

/// The calls as they are written, where they are the same: arguments that are JSON may be spaced otherwise.
fn calls(found: &[CallView], written: &[ExpectedCall]) -> Vec<ExpectedCall> {
    let alike = |(found, written): (&CallView, &ExpectedCall)| {
        found.id == written.id
            && Call::function(&found.name, &found.arguments)
                .is_same(&Call::function(&written.name, &written.arguments))
    };
    if found.len() == written.len() && found.iter().zip(written).all(alike) {
        return written.to_vec();
    }
    let call = |call: &CallView| ExpectedCall {
        id: call.id.clone(),
        name: call.name.clone(),
        arguments: call.arguments.clone(),
    };
    found.iter().map(call).collect()
}

/// Rule 28: every client reads the same from what reaches it. A client that does not read all of a log lacks something, and
/// reads nothing else.
#[test]
fn every_model_reads_what_is_written_beside_each_log() {
    let mut wrong = String::new();
    for own in own().unwrap() {
        let expected = own.expected();
        let one = expected.choices.is_empty();
        let bytes = sent(&own);
        for model in models::of(own.kind()).filter(|model| one || !model.asks_for_one()) {
            let reading = model.read(&bytes);
            let lacks = LACKING.contains(&(own.name(), model.name()));
            if reads_all(&reading, expected) == lacks || !reads_only(&reading, expected) {
                wrong.push_str(&format!("{}/{}, {}: {reading:?}\n", own.kind(), own.name(), model.name()));
            }
        }
    }
    assert_eq!(wrong, "");
}

/// The calls of all choices that a client would run.
fn expected_calls(expected: &Expected) -> Vec<Call> {
    let others = expected.choices.iter().flat_map(|choice| &choice.calls);
    expected.calls.iter().chain(others).map(|call| Call::function(&call.name, &call.arguments)).collect()
}

/// The calls of a client, but for those of tools that the provider ran.
fn calls_of(reading: &Reading, expected: &Expected) -> Vec<Call> {
    let calls = reading.calls.iter().filter(|call| !expected.server.contains(&call.name));
    calls.map(|call| Call { kind: CallKind::Function, ..call.clone() }).collect()
}

fn reads_all(reading: &Reading, expected: &Expected) -> bool {
    let (found, written) = (calls_of(reading, expected), expected_calls(expected));
    let same =
        found.len() == written.len() && found.iter().zip(&written).all(|(found, call)| found.is_same(call));
    let texts = [&expected.content, &expected.reasoning, &expected.refusal, &expected.spoken];
    reading.raised.is_some() == expected.error
        && (expected.error || same)
        && texts.iter().all(|text| text.is_empty() || reading.says(text))
}

/// Whether no call, and no text where there is one choice, is another than what is written. Some clients join choices.
fn reads_only(reading: &Reading, expected: &Expected) -> bool {
    let written = expected_calls(expected);
    let texts = [&expected.content, &expected.reasoning, &expected.refusal, &expected.spoken];
    let is_written = |said: &Said| match said {
        Said::Content(text) | Said::Reasoning(text) | Said::Refusal(text) => {
            !expected.choices.is_empty() || texts.iter().any(|written| written.contains(text.as_str()))
        }
        _ => true,
    };
    calls_of(reading, expected).iter().all(|found| written.iter().any(|call| found.is_same(call)))
        && reading.texts.iter().all(is_written)
}

/// Logs that a client does not read all of.
const LACKING: [(&str, &str); 20] = [
    // The texts of all choices are one text.
    ("openai-two-choices", "litellm stream_chunk_builder (chat)"),
    // No `output` in the terminal event, and nothing else is read.
    ("codex-completed-without-output", "openai-python .stream() (responses)"),
    ("codex-completed-without-output", "a script over iter_lines (responses)"),
    ("openai-legacy-function-call", "ai (chat)"),
    ("openai-legacy-function-call", "ai, earlier (chat)"),
    ("openai-legacy-function-call", "langchain"),
    ("openai-legacy-function-call", "an id opens a call"),
    ("openai-legacy-function-call", "a script over split"),
    // An event without a blank line behind it is not read.
    ("unterminated-tail", "openai-python .stream()"),
    ("unterminated-tail", "openai-python"),
    ("unterminated-tail", "openai-node .stream()"),
    ("unterminated-tail", "openai-node"),
    ("unterminated-tail", "ai (chat)"),
    ("unterminated-tail", "ai, earlier (chat)"),
    ("unterminated-tail", "langchain"),
    ("unterminated-tail", "an id opens a call"),
    ("no-blank-line-at-the-end", "ai (gemini)"),
    ("copilot-an-id-for-every-event", "by item id"),
    // A call is run when its block stops, and where a block starts.
    ("block-never-stopped", "ai (messages)"),
    ("programmatic-call-in-message-start", "litellm (messages)"),
];
