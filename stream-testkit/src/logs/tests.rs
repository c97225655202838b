use super::*;
use crate::conformance::{Ended, Format, check};
use crate::models::{self, Call};

fn format(kind: WireKind) -> Format {
    kind.name().parse().unwrap()
}

/// Issue 15: logs of our own, at least 60 and 15 of each API.
#[test]
fn there_are_enough_logs_of_every_api() {
    let own = own().unwrap();
    assert!(own.len() >= 60);
    for kind in WireKind::ALL {
        assert!(own.iter().filter(|log| log.kind() == kind).count() >= 15, "{kind}");
    }
}

/// What is written beside a log is what a strict client ends up with.
#[test]
fn a_strict_client_ends_up_with_what_is_written_beside_each_log() {
    let mut wrong = String::new();
    for own in own().unwrap() {
        let view = check(format(own.kind()), own.log().bytes()).view().clone();
        let first = view.choices.first().cloned().unwrap_or_default();
        let expected = own.expected();
        let calls: Vec<Call> =
            first.calls.iter().map(|call| Call::function(&call.name, &call.arguments)).collect();
        let others = view.choices.iter().skip(1).map(|choice| ExpectedChoice {
            index: choice.index,
            content: choice.content.clone(),
            finish: choice.finish.clone(),
        });
        let found = Expected {
            content: first.content,
            reasoning: first.reasoning,
            refusal: first.refusal,
            calls: if same(&calls, &expected.calls) { expected.calls.clone() } else { written(&calls) },
            finish: first.finish,
            error: view.ended == Ended::Error,
            server: expected.server.clone(),
            spoken: expected.spoken.clone(),
            choices: others.collect(),
        };
        if found != *expected {
            wrong.push_str(&format!("{}/{}: {found:?}\n  expected {expected:?}\n", own.kind(), own.name()));
        }
    }
    assert_eq!(wrong, "");
}

fn written(calls: &[Call]) -> Vec<ExpectedCall> {
    calls
        .iter()
        .map(|call| ExpectedCall { name: call.name.clone(), arguments: call.arguments.clone() })
        .collect()
}

/// Rule 28: the shapes of real providers are plain, so every client reads the same from them.
#[test]
fn every_model_reads_what_is_written_beside_each_log() {
    let mut wrong = String::new();
    for own in own().unwrap() {
        let expected = own.expected();
        let one = expected.choices.is_empty();
        for model in models::of(own.kind()).filter(|model| one || !model.asks_for_one()) {
            let reading = model.read(own.log().bytes());
            if LACKING.contains(&(own.name(), model.name())) {
                continue;
            }
            let calls = reading.calls.iter().filter(|call| !expected.server.contains(&call.name));
            let calls: Vec<Call> = calls.cloned().collect();
            let texts = [&expected.content, &expected.reasoning, &expected.refusal, &expected.spoken];
            let is_right = reading.raised.is_some() == expected.error
                && (expected.error || same(&calls, &expected.calls))
                && texts.iter().all(|text| text.is_empty() || reading.says(text));
            if !is_right {
                wrong.push_str(&format!("{}/{}, {}: {reading:?}\n", own.kind(), own.name(), model.name()));
            }
        }
    }
    assert_eq!(wrong, "");
}

/// Logs that a client does not read all of: what it lacks is nothing that was not released.
const LACKING: [(&str, &str); 7] = [
    ("codex-completed-without-output", "openai-python .stream() (responses)"),
    ("codex-completed-without-output", "a script over iter_lines (responses)"),
    ("openai-legacy-function-call", "ai (chat)"),
    ("openai-legacy-function-call", "ai, earlier (chat)"),
    ("openai-legacy-function-call", "langchain"),
    ("openai-legacy-function-call", "an id opens a call"),
    ("openai-legacy-function-call", "a script over split"),
];

fn same(found: &[Call], expected: &[ExpectedCall]) -> bool {
    let alike = |(found, expected): (&Call, &ExpectedCall)| {
        Call { kind: found.kind.clone(), ..Call::function(&expected.name, &expected.arguments) }
            .is_same(found)
    };
    found.len() == expected.len() && found.iter().zip(expected).all(alike)
}
