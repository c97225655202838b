//! A client can go on from every recorded answer that ended well, but for those listed here.
//!
//! Where the streams lie is found by `stream_testkit::logs`; the tests that need them are ignored by name.

#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use stream_testkit::WireKind;
use stream_testkit::second_turn::{NoTurn, Rule, check, check_against};

/// The recordings from which no client can go on as they are, and the rules that the next request would break:
/// exactly these.
#[rustfmt::skip]
const DEVIATIONS: &[(&str, &str)] = &[
    // White space alone between cited texts.
    ("anthropic-messages/anthropic-core-src-tools-provider-tools-e2e-2.sse", "empty-text"),
    // A server tool behind a client's.
    ("anthropic-messages/anthropic-core-src-tools-provider-tools-ordering-e2e.sse", "tool-use-last"),
    // Goes on with a paused turn, whose last use it answers.
    ("anthropic-messages/anthropic-pause-turn-web-search-streaming-vcr-2.sse", "call-answered empty-text"),
    ("anthropic-messages/anthropic-scoreboard-claude-sonnet-5-thinking-genstream-citations-text-markdown.sse", "empty-text"),
    ("openai-chat/huggingface-qwen-qwen3-4b-thinking-genstream-tools-squareroot-1.sse", "identity"),
    // The limit of tokens was reached before anything was said.
    ("anthropic-messages/anthropic-scoreboard-claude-opus-5-thinking-genstream-maxtokens.sse", "thinking-order"),
    ("openai-chat/baseten-zai-org-glm-5-2-thinking-genstream-maxtokens.sse", "empty-turn"),
    ("openai-chat/cerebras-scoreboard-gpt-oss-120b-thinking-genstream-maxtokens.sse", "empty-turn"),
    ("openai-chat/groq-openai-gpt-oss-safeguard-20b-thinking-genstream-maxtokens.sse", "empty-turn"),
    ("openai-chat/huggingface-deepseek-ai-deepseek-v4-pro-0813-genstream-maxtokens.sse", "empty-turn"),
    ("openai-chat/openai-chat-streaming-detailed-usage.sse", "empty-turn"),
    ("openai-chat/together-deepseek-ai-deepseek-v4-pro-thinking-genstream-maxtokens.sse", "empty-turn"),
    ("openai-chat/xiaomi-scoreboard-mimo-v2-5-pro-thinking-genstream-maxtokens.sse", "empty-turn"),
    ("openai-responses/openai-scoreboard-gpt-5-6-luna-thinking-genstream-maxtokens.sse", "reasoning-followed"),
];

/// How many recordings of fidelity A have a second turn, and why the others have none.
const COUNTS: [(&str, usize); 3] = [("error", 5), ("open", 2), ("turn", 224)];

struct Recording {
    file: String,
    format: WireKind,
    bytes: Vec<u8>,
}

/// The recordings whose bytes are those of the wire.
fn recordings() -> Vec<Recording> {
    let root = stream_testkit::logs::root().expect("recorded streams: STREAM_CORPUS names their folder");
    let manifest = std::fs::read_to_string(root.join("MANIFEST.tsv")).unwrap();
    let lines = manifest.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let recorded = lines.filter(|columns| columns[9] == "A").map(|columns| columns[0].to_owned());
    recorded
        .map(|file| Recording {
            format: file.split('/').next().unwrap().parse().unwrap(),
            bytes: fs::read(root.join(&file)).unwrap(),
            file,
        })
        .collect()
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn a_client_can_go_on_from_every_recording_that_is_not_listed() {
    let mut wrong = String::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for recording in recordings() {
        let listed =
            DEVIATIONS.iter().find(|(file, _)| *file == recording.file).map_or("", |(_, rules)| rules);
        let listed: BTreeSet<Rule> = listed.split_whitespace().map(|name| name.parse().unwrap()).collect();
        let report = check(recording.format, &recording.bytes);
        let outcome = match &report {
            Ok(_) => "turn",
            Err(NoTurn::Error) => "error",
            Err(NoTurn::Open) => "open",
            Err(_) => "other",
        };
        *counts.entry(outcome).or_default() += 1;
        let report = report.unwrap_or_default();
        let broken: BTreeSet<Rule> = report.violations().iter().map(|violation| violation.rule).collect();
        if broken != listed {
            let listed: Vec<&str> = listed.into_iter().map(Rule::name).collect();
            wrong += &format!("{}: listed {listed:?}, found\n{report}", recording.file);
        }
    }
    assert!(wrong.is_empty(), "correct the checker, or list the rule in DEVIATIONS:\n{wrong}");
    assert_eq!(counts, BTreeMap::from(COUNTS));
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn a_recording_keeps_its_own_signatures() {
    for recording in recordings() {
        let alone = check(recording.format, &recording.bytes);
        assert_eq!(
            check_against(recording.format, &recording.bytes, &recording.bytes),
            alone,
            "{}",
            recording.file
        );
    }
}

#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn a_signature_that_is_lost_is_noticed_in_every_recording_that_has_one() {
    let mut noticed = BTreeMap::new();
    for recording in recordings() {
        let text = String::from_utf8(recording.bytes.clone()).unwrap();
        let lost = match recording.format {
            WireKind::AnthropicMessages => text.replace("\"signature\"", "\"other\""),
            WireKind::Gemini => text.replace("\"thoughtSignature\"", "\"other\""),
            WireKind::OpenAiResponses => text.replace("\"encrypted_content\":\"", "\"other\":\""),
            WireKind::OpenAiChat => continue,
        };
        let Ok(report) = check_against(recording.format, text.as_bytes(), lost.as_bytes()) else { continue };
        let found = report.violations().iter().any(|violation| violation.rule == Rule::SignatureLost);
        assert_eq!(found, lost != text, "{}", recording.file);
        *noticed.entry(recording.format.name()).or_insert(0) += usize::from(found);
    }
    assert_eq!(noticed, BTreeMap::from(SIGNED));
}

/// How many recordings of fidelity A have signatures.
const SIGNED: [(&str, usize); 3] = [("anthropic-messages", 11), ("gemini", 16), ("openai-responses", 10)];
