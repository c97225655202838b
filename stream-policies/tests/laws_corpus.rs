//! Every bundled policy keeps every law over the testkit's own logs, and over recorded streams where there are some.
//!
//! # What is sampled of the recordings
//!
//! A law runs a stream some dozen times, and all laws over all recordings through all policies would take an hour. So the
//! recordings are put into groups, one for each API and provider, and each policy takes two recordings out of every
//! group: the next ones of the group for the next policy, so that the policies together go through far more recordings
//! than any of them does. Recordings of more than [`LONG`] bytes are left out: what is special about them is their
//! length, which the benchmarks look at. Each policy also takes one in [`EVERY`] of them as a stream that breaks off in its
//! middle, behind an event.

#![cfg(feature = "patterns")]
#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use std::collections::BTreeMap;
use std::time::Duration;

use stream_core::text_calls::{DialectSet, known};
use stream_core::{Config, Policy, Replacement, Stage, Verdict};
use stream_policies::finish_gate::Release;
use stream_policies::stop_on::Ends;
use stream_policies::tool_gate::OnDeny;
use stream_policies::{
    BufferedJudge, CompletedCall, Condition, DemoteCalls, FinishGate, FinishGateSettings, HideReasoning,
    HideReasoningSettings, Inject, InjectSettings, Passthrough, Pattern, Preset, PromoteTextCalls, Quota,
    QuotaSettings, Redact, RedactSettings, StopOn, StopOnSettings, ToolGate, ToolGateSettings,
    ValidateParameters, ValidateParametersSettings, When,
};
use stream_testkit::laws::{Law, Laws, Tally};
use stream_testkit::logs::Recorded;
use stream_testkit::{ChunkLog, Cut};

/// Recordings of more bytes are left out.
const LONG: usize = 12_000;
/// One in this many is also broken off in its middle.
const EVERY: usize = 8;

/// What is known to break a law, and why.
const LIMITS: [(&[&str], Law, &str); 2] = [
    (
        &[
            "openai-chat/openrouter-testopenroutercommon-gemini-multi-tool-streaming.sse",
            "openai-chat/openrouter-encrypted-thought-of-a-call",
        ],
        Law::NoLeak,
        "an encrypted thought leaves by itself (rule 22), before the call that it belongs to, and holds the id of that call",
    ),
    (
        &["openai-chat/openai-one-id-in-two-choices"],
        Law::NoLeak,
        "the calls of two choices have one id: it leaves with the call that was not dropped",
    ),
];

macro_rules! keeps_every_law {
    ($($name:ident: $number:literal, $factory:expr, vacuous: $vacuous:expr;)*) => {$(
        mod $name {
            use super::*;

            #[test]
            fn over_streams_in_the_shapes_of_providers() {
                let (broken, tally) = checked(&own($number), &Config::default(), $factory);
                assert_eq!(broken, "");
                tally.assert_held_but(&$vacuous);
            }

            #[test]
            #[ignore = "needs recorded streams: STREAM_CORPUS"]
            fn over_recorded_streams() {
                assert_eq!(checked(&sample($number), &Config::default(), $factory).0, "");
            }
        }
    )*};
}

keeps_every_law! {
    passthrough: 0, || Passthrough, vacuous: [Law::NoLeak];
    a_buffered_judge_that_allows: 1, || BufferedJudge::new(allow), vacuous: [];
    a_buffered_judge_that_denies: 2, || BufferedJudge::new(deny), vacuous: [];
    a_tool_gate_that_allows: 3, || ToolGate::new(allow), vacuous: [];
    a_tool_gate_that_denies_with_a_notice: 4, || ToolGate::new(deny).settings(ToolGateSettings::default().notice("[no]")), vacuous: [];
    a_tool_gate_that_ends_the_stream: 5, || ToolGate::new(deny).settings(ToolGateSettings::default().on_deny(OnDeny::End)), vacuous: [];
    a_tool_gate_that_replaces: 6, || ToolGate::new(replace), vacuous: [];
    a_finish_gate: 7, FinishGate::new, vacuous: [];
    a_finish_gate_with_partial_execution: 8, cloned(partial_execution()), vacuous: [];
    validated_parameters: 9, cloned(validate()), vacuous: [];
    redacted_words: 10, cloned(redact_words()), vacuous: [];
    redacted_secrets: 11, cloned(redact_secrets()), vacuous: [];
    a_stop_at_a_word: 12, cloned(stop_on(Ends::Refuse)), vacuous: [Law::NoLeak];
    a_silent_stop_at_a_word: 13, cloned(stop_on(Ends::Silently)), vacuous: [Law::NoLeak];
    a_quota_of_bytes: 14, cloned(quota(QuotaSettings::default().bytes(100))), vacuous: [];
    a_quota_of_blocks_and_calls: 15, cloned(quota(QuotaSettings::default().blocks(2).calls(1))), vacuous: [];
    hidden_reasoning: 16, HideReasoning::default, vacuous: [Law::NoLeak];
    a_placeholder_for_reasoning: 17, cloned(placeholder()), vacuous: [Law::NoLeak];
    injected_notices: 18, cloned(inject()), vacuous: [Law::Identity, Law::NoLeak];
    a_watched_redaction: 19, || Stage::new(redact_words()).monitor(), vacuous: [Law::NoLeak];
    a_wrapped_redaction: 20, wrapped, vacuous: [];
    demoted_calls: 21, cloned(DemoteCalls::to(known::hermes())), vacuous: [];
}

/// With calls looked for in the text, of which recordings hold few: prose is what they are about.
#[test]
#[ignore = "needs recorded streams: STREAM_CORPUS"]
fn text_calls_of_recorded_streams_promoted_under_a_gate_s_eyes() {
    assert_eq!(checked(&sample(22), &searching(), PromoteTextCalls::new).0, "");
    assert_eq!(checked(&sample(23), &searching(), || ToolGate::new(deny)).0, "");
}

fn searching() -> Config {
    let dialects = [known::hermes(), known::anthropic(), known::qwen_prompted(), known::deepseek_v3_1()];
    let set = dialects.into_iter().fold(DialectSet::new(), DialectSet::with);
    // Without reasoning tags: what is folded as reasoning leaves as content, and a law looks for it where it was folded.
    Config::default().text_calls(set)
}

/// Makes the same policy for each stream, compiled once.
fn cloned<P: Policy + Clone + Sync>(policy: P) -> impl Fn() -> P {
    move || policy.clone()
}

/// What breaks a law but agreement, as text, and how the laws stood.
fn checked<P: Into<Stage>>(
    logs: &[(String, ChunkLog)],
    config: &Config,
    factory: impl Fn() -> P + Send + Sync + 'static,
) -> (String, Tally) {
    let laws = Laws::of(factory).config(config.clone());
    let (mut broken, mut tally) = (String::new(), Tally::default());
    for (name, log) in logs {
        for law in Law::ALL.iter().copied().filter(|law| *law != Law::Agreement) {
            let is_known = LIMITS
                .iter()
                .any(|(files, known, _)| law == *known && files.iter().any(|file| name.ends_with(file)));
            match laws.clone().only(law).check(log) {
                Ok(stood) => tally.add(&stood),
                Err(_) if is_known => {}
                Err(found) => broken += &format!("{name}: {found}\n"),
            }
        }
    }
    (broken, tally)
}

/// The kit's own logs for a policy: one in eight, and the next ones for the next policy.
fn own(number: usize) -> Vec<(String, ChunkLog)> {
    let own = stream_testkit::logs::own().unwrap().into_iter().skip(number % 8).step_by(8);
    own.map(|own| (format!("{}/{}", own.kind(), own.name()), own.log().clone())).collect()
}

/// The recordings for a policy.
fn sample(number: usize) -> Vec<(String, ChunkLog)> {
    let corpus = stream_testkit::logs::corpus().expect("recorded streams: STREAM_CORPUS names their folder");
    let mut groups: BTreeMap<(&str, &str), Vec<&Recorded>> = BTreeMap::new();
    for recorded in corpus.iter().filter(|recorded| recorded.bytes <= LONG) {
        groups.entry((recorded.kind.name(), &recorded.provider)).or_default().push(recorded);
    }
    let mut sample = BTreeMap::new();
    for group in groups.values() {
        for shift in [0, group.len() / 2] {
            let recorded = group[(number + shift) % group.len()];
            sample.insert(recorded.file.clone(), recorded.load().unwrap());
        }
    }
    let mut logs: Vec<_> = sample.into_iter().collect();
    let halves: Vec<_> = logs.iter().skip(number % EVERY).step_by(EVERY).map(half).collect();
    logs.extend(halves);
    logs
}

/// The first half of a recording's events.
fn half((name, log): &(String, ChunkLog)) -> (String, ChunkLog) {
    let events = Cut::Event.apply(log);
    let half = events.len() / 2;
    let name = format!("half of {name}");
    (name.clone(), ChunkLog::from_chunks(name, events.into_iter().take(half)))
}

async fn allow(_: CompletedCall) -> Result<Verdict, stream_core::PolicyError> {
    Ok(Verdict::Release)
}

/// For a reason that no recording says: it leaves.
async fn deny(_: CompletedCall) -> Result<Verdict, stream_core::PolicyError> {
    Ok(Verdict::drop("vetoed"))
}

async fn replace(_: CompletedCall) -> Result<Verdict, stream_core::PolicyError> {
    Ok(Verdict::Replace(Replacement::arguments(r#"{"dry_run":true}"#)))
}

fn partial_execution() -> FinishGate {
    FinishGate::new().settings(FinishGateSettings::default().release(Release::Complete))
}

/// Requires of every call what few have, so that some are dropped, some rewritten, some released.
fn validate() -> ValidateParameters {
    let settings = ValidateParametersSettings::new().alias("place", ["location", "city"]);
    settings
        .tool("get_weather", stream_policies::validate_parameters::ToolSettings::new().required(["place"]))
        .build()
        .unwrap()
}

/// Words that are in nearly every answer.
fn redact_words() -> Redact {
    let words = Pattern::regex("words", "(?i:the|is|of|you|location|hello)");
    RedactSettings::default().pattern(words).replacement("<{name}>").build().unwrap()
}

fn redact_secrets() -> Redact {
    Preset::ALL.into_iter().fold(RedactSettings::default(), RedactSettings::preset).build().unwrap()
}

fn stop_on(ends: Ends) -> StopOn {
    let words = Pattern::regex("words", "(?i:for|you|that| it )");
    StopOnSettings::default().pattern(words).ends(ends).build().unwrap()
}

fn quota(settings: QuotaSettings) -> Quota {
    settings.build().unwrap()
}

fn placeholder() -> HideReasoning {
    HideReasoningSettings::default().placeholder("(a thought)").build()
}

fn inject() -> Inject {
    InjectSettings::default().before("[made by a model] ").after(" [check it]").build().unwrap()
}

fn wrapped() -> Stage {
    let redact = When::new(Condition::model("*").unwrap(), redact_words());
    Stage::new(redact).fail_open().within(Duration::from_secs(5))
}
