use std::time::Duration;

use stream_testkit::laws::Law;
use stream_testkit::{ChunkLog, Fragments, Script, WireKind};

use super::{HideReasoning, HideReasoningSettings};
use crate::testing::{assert_lawful, everywhere, run, seen};

fn script() -> Script {
    Script::new()
        .text_fragments(Fragments::Chars(4))
        .reasoning("They want a greeting.")
        .text("Hello.")
        .call("call_1", "look", "{}")
}

#[test]
fn no_reasoning_leaves_and_everything_else_does() {
    for (kind, log) in everywhere(&script()) {
        let replayed = run(&HideReasoning::default(), &log);
        let view = seen(&format!("{kind}, {}", log.name()), &replayed);
        let choice = &view.choices[0];
        assert_eq!((choice.reasoning.as_str(), choice.content.as_str()), ("", "Hello."), "{kind}");
        assert_eq!(choice.calls.len(), 1, "{kind}");
        let out = String::from_utf8(replayed.bytes().to_vec()).unwrap();
        assert!(!out.contains("greet"), "{out}");
        // Rule 22: what stands for signed reasoning stays.
        let signature = match kind {
            WireKind::AnthropicMessages => "\"signature\"",
            WireKind::OpenAiResponses => "\"reasoning\"",
            WireKind::OpenAiChat | WireKind::Gemini => continue,
        };
        assert!(out.contains(signature), "{kind}: {out}");
    }
}

#[test]
fn a_placeholder_stands_for_reasoning_that_is_not_signed() {
    let policy = HideReasoningSettings::default().placeholder("(thinking)").build();
    for (kind, log) in everywhere(&script()) {
        let signed = matches!(kind, WireKind::AnthropicMessages | WireKind::OpenAiResponses);
        let view = seen("placeholder", &run(&policy, &log));
        assert_eq!(view.choices[0].reasoning, if signed { "" } else { "(thinking)" }, "{kind}");
    }
}

#[test]
fn a_stream_without_reasoning_leaves_as_it_came() {
    for (kind, log) in everywhere(&Script::new().text("Hello.")) {
        assert_eq!(run(&HideReasoning::default(), &log).bytes(), *log.bytes(), "{kind}");
    }
}

#[test]
fn all_laws_hold() {
    assert_lawful(&HideReasoning::default(), &script(), &[Law::NoLeak, Law::Agreement]);
}

#[test]
fn the_placeholder_stands_once_for_each_block_of_choices_that_interleave() {
    let policy = HideReasoningSettings::default().placeholder("(thinking)").build();
    let says = |choice: u32, delta: &str, finish: &str| {
        format!(
            "data: {{\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{{\"index\":{choice},\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let mut body = String::new();
    for delta in [
        r#"{"role":"assistant","reasoning_content":"They"}"#,
        r#"{"reasoning_content":" want"}"#,
        r#"{"content":"Hello."}"#,
    ] {
        body += &(says(0, delta, "null") + &says(1, delta, "null"));
    }
    body += &(says(0, "{}", "\"stop\"") + &says(1, "{}", "\"stop\"") + "data: [DONE]\n\n");
    let log = ChunkLog::from_chunks("interleaved", [(Duration::ZERO, body.into())]);
    let view = seen("interleaved", &run(&policy, &log));
    let reasoning: Vec<&str> = view.choices.iter().map(|choice| choice.reasoning.as_str()).collect();
    assert_eq!(reasoning, ["(thinking)", "(thinking)"]);
}
