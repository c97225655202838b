//! What each policy makes of one story, in every format, streamed and whole.
//!
//! The story in `logs/`: a thought, an answer in which a key is split over three chunks, a call that carries the key, a
//! call with its parameter under another name, usage.

#![cfg(feature = "patterns")]
#![allow(clippy::unwrap_used, reason = "a test, helpers included")]

use stream_core::text_calls::{DialectSet, known};
use stream_core::{Chain, Config, Stage, Verdict};
use stream_policies::validate_parameters::ToolSettings;
use stream_policies::{
    CompletedCall, DemoteCalls, FinishGate, HideReasoning, HideReasoningSettings, Inject, InjectSettings,
    Passthrough, Pattern, PromoteTextCalls, Quota, QuotaSettings, Redact, RedactSettings, RewriteTags,
    RewriteTagsSettings, StopOn, StopOnSettings, ToolGate, ValidateParameters, ValidateParametersSettings,
};
use stream_testkit::conformance::Allow;
use stream_testkit::{ChunkLog, Fragments, Replay, Script, WireKind, assert_replay};

fn log(name: &str) -> ChunkLog {
    ChunkLog::load(format!("{}/tests/logs/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn validate() -> ValidateParameters {
    ValidateParametersSettings::new()
        .tool("rotate_key", ToolSettings::new().required(["key", "reason"]))
        .tool("shell", ToolSettings::new().required(["command"]))
        .alias("command", ["cmd", "bash"])
        .build()
        .unwrap()
}

fn redact() -> Redact {
    RedactSettings::default().pattern(Pattern::regex("key", "sk-live-[0-9]{10}")).build().unwrap()
}

fn stop_on() -> StopOn {
    StopOnSettings::default().pattern(Pattern::literal("rotation", "Rotating it")).build().unwrap()
}

fn one_call() -> Quota {
    QuotaSettings::default().calls(1).build().unwrap()
}

fn fifty_bytes() -> Quota {
    QuotaSettings::default().bytes(50).build().unwrap()
}

fn placeholder() -> HideReasoning {
    HideReasoningSettings::default().placeholder("(a thought)").build()
}

fn inject() -> Inject {
    InjectSettings::default().before("[made by a model] ").after(" [check it]").build().unwrap()
}

/// A chain has no policy of its own for a replay: its policies are added one by one.
fn chain(log: ChunkLog) -> Replay {
    let count = story_chain().len();
    let nth = |nth: usize| move || story_chain().into_iter().nth(nth).unwrap();
    (0..count).fold(Replay::new(log), |replay, at| replay.policy(nth(at)))
}

fn story_chain() -> Chain {
    Chain::new().then(validate()).then(FinishGate::new()).then(redact()).then(inject())
}

/// The replay leaves a valid response, and is as it was accepted.
macro_rules! snapshots {
    ($($policy:ident: $replay:expr;)*) => {$(
        mod $policy {
            use super::*;

            snapshots! { @each $replay;
                openai_chat: "openai-chat.sse", openai_chat_whole: "openai-chat.json",
                openai_responses: "openai-responses.sse", openai_responses_whole: "openai-responses.json",
                anthropic_messages: "anthropic-messages.sse", anthropic_messages_whole: "anthropic-messages.json",
                gemini: "gemini.sse", gemini_whole: "gemini.json",
            }
        }
    )*};
    (@each $replay:expr; $($name:ident: $log:literal,)*) => {$(
        #[test]
        fn $name() {
            let replay: Replay = $replay(log($log));
            let replayed = replay.run();
            let report = replayed.check(&Allow::none());
            assert!(report.is_clean(), "{report}\n{}", String::from_utf8_lossy(&replayed.bytes()));
            assert_replay!(replay);
        }
    )*};
}

snapshots! {
    a_passthrough: |log: ChunkLog| Replay::new(log).policy(|| Passthrough);
    parameters_validated: |log: ChunkLog| Replay::new(log).policy(validate);
    a_key_redacted: |log: ChunkLog| Replay::new(log).policy(redact);
    a_stop_at_a_phrase: |log: ChunkLog| Replay::new(log).policy(stop_on);
    a_quota_of_one_call: |log: ChunkLog| Replay::new(log).policy(one_call);
    a_quota_of_fifty_bytes: |log: ChunkLog| Replay::new(log).policy(fifty_bytes);
    reasoning_hidden: |log: ChunkLog| Replay::new(log).policy(HideReasoning::default);
    a_placeholder_for_reasoning: |log: ChunkLog| Replay::new(log).policy(placeholder);
    notices_injected: |log: ChunkLog| Replay::new(log).policy(inject);
    a_chain: chain;
    a_monitor: |log: ChunkLog| Replay::new(log).policy(|| Stage::new(redact()).monitor());
    calls_demoted: |log: ChunkLog| Replay::new(log).policy(|| DemoteCalls::to(known::hermes()));
}

/// A story of its own: the model writes its calls into the text.
fn written(kind: WireKind, whole: bool) -> Replay {
    let text = r#"I look.<tool_call>{"name":"look","arguments":{"at":"it"}}</tool_call> Then I go."#;
    let script = Script::new().text(text).text_fragments(Fragments::Chars(16)).usage(3, 9);
    let log = match whole {
        true => ChunkLog::from_whole(format!("written.{kind}"), script.whole(kind)),
        false => script.to_log(kind),
    };
    let dialects = DialectSet::new().with(known::hermes());
    Replay::new(log).config(Config::default().text_calls(dialects))
}

fn rewrite_tags() -> RewriteTags {
    RewriteTagsSettings::tags("ojlk,dfsd").build().unwrap()
}

macro_rules! written_snapshots {
    ($($policy:ident: $factory:expr;)*) => {$(
        mod $policy {
            use super::*;

            written_snapshots! { @each $factory;
                openai_chat: OpenAiChat, false; openai_chat_whole: OpenAiChat, true;
                openai_responses: OpenAiResponses, false; openai_responses_whole: OpenAiResponses, true;
                anthropic_messages: AnthropicMessages, false; anthropic_messages_whole: AnthropicMessages, true;
                gemini: Gemini, false; gemini_whole: Gemini, true;
            }
        }
    )*};
    (@each $factory:expr; $($name:ident: $kind:ident, $whole:literal;)*) => {$(
        #[test]
        fn $name() {
            let replay = written(WireKind::$kind, $whole).policy($factory);
            let replayed = replay.run();
            let report = replayed.check(&Allow::none());
            assert!(report.is_clean(), "{report}\n{}", String::from_utf8_lossy(&replayed.bytes()));
            assert_replay!(replay);
        }
    )*};
}

written_snapshots! {
    tags_rewritten: rewrite_tags;
    text_calls_promoted: PromoteTextCalls::new;
    text_calls_gated: || ToolGate::new(async |_: CompletedCall| Ok(Verdict::drop("no")));
}
