//! A frame that closes the stream: what was approved before it leaves, whatever else came in the same read.

use std::time::Duration;

use bytes::Bytes;
use stream_core::{Chain, ErrorKind};
use stream_testkit::{ChunkLog, Replay, WireKind};

use crate::kit::{Ran, anthropic, chat, data, gate, gemini, ran, responses};
use crate::secrets_text::redact;

/// A call that every policy approves, and text before it.
fn approved() -> [(WireKind, String); 4] {
    let call = r#"{"type":"function_call","id":"f","call_id":"c","name":"ls","arguments":"{}","status":"completed"}"#;
    [
        (
            WireKind::OpenAiChat,
            chat::text("hi") + &chat::call(0, "a", "ls", "{}") + &chat::finish("tool_calls"),
        ),
        (
            WireKind::AnthropicMessages,
            anthropic::start() + &anthropic::text(0, "hi") + &anthropic::call(1, "t", "ls", "{}"),
        ),
        (
            WireKind::OpenAiResponses,
            responses::created() + &responses::added(0, call) + &responses::done(0, call),
        ),
        (
            WireKind::Gemini,
            gemini::parts(r#"{"text":"hi"}"#) + &gemini::parts(r#"{"functionCall":{"name":"ls","args":{}}}"#),
        ),
    ]
}

/// Frames that close a stream: one that cannot be read, one that has two meanings, and one of another API.
fn closing(kind: WireKind) -> Vec<(String, ErrorKind)> {
    let odd = match kind {
        WireKind::OpenAiChat => data(r#"{"id":"c","choices":[],"choices":[]}"#),
        WireKind::AnthropicMessages => anthropic::delta(1, r#"{"type":"x","text":"a"}"#),
        WireKind::OpenAiResponses => responses::added(0, r#"{"type":"message","id":"n","content":[]}"#),
        WireKind::Gemini => data(r#"{"candidates":[{"index":0,"content":{"parts":[]}}],"candidates":[]}"#),
    };
    let kind_of_odd = match kind {
        WireKind::AnthropicMessages | WireKind::OpenAiResponses => ErrorKind::Ambiguous,
        _ => ErrorKind::Malformed,
    };
    vec![(data(r#"{"id":"#), ErrorKind::Malformed), (odd, kind_of_odd)]
}

type Policies = (&'static str, fn() -> Chain);

const POLICIES: [Policies; 4] = [
    ("gate", || gate().into()),
    ("redact", || redact().into()),
    ("redact, gate", || Chain::new().then(redact()).then(gate())),
    ("gate, redact", || Chain::new().then(gate()).then(redact())),
];

/// What leaves of a body that comes in these reads.
fn run(policies: fn() -> Chain, reads: &[&str]) -> Ran {
    let reads = reads.iter().map(|read| (Duration::ZERO, Bytes::from((*read).to_owned())));
    ran(&Replay::new(ChunkLog::from_chunks("body", reads)).policy(policies).run())
}

/// Rule 12: what was decided without waiting does not depend on the cut.
#[test]
fn an_approved_call_leaves_before_a_frame_that_closes_the_stream_wherever_the_reads_are_cut() {
    for (kind, before) in approved() {
        for (last, error) in closing(kind) {
            for (name, policies) in POLICIES {
                let body = before.clone() + &last;
                let expected = run(policies, &[&before, &last]);
                assert_eq!(expected.error, Some(error), "{kind}, {name}");
                assert_eq!(expected.out.find(&before), Some(0), "{kind}, {name}: {}", expected.out);
                for at in 0..body.len() {
                    let found = run(policies, &[&body[..at], &body[at..]]);
                    assert_eq!(
                        (found.out, found.error),
                        (expected.out.clone(), Some(error)),
                        "{kind}, {name}, {at}"
                    );
                }
            }
        }
    }
}
